"""The command line: parse, call, print, map errors to exit codes."""

from lightproof.cli.main import app, main

__all__ = ["app", "main"]
