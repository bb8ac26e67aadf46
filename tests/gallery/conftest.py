"""The command line, for what it must say about a gallery."""

from tests.cli.conftest import call, command, types  # noqa: F401
