"""The help page of each command, and what the way in loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing

import pytest

from lightproof import cli

COMMANDS = [
    "enroll", "identify", "verify", "people", "rename", "forget", "sync", "calibrate", "explain", "watch", "rebuild",
    "compact", "export", "import", "evaluate",
]  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_page_has_an_example_and_the_exit_codes(call, name):
    code, out, _ = call(name, "--help")
    assert code == 0
    said = " ".join(out.split())
    assert f"Example: lightproof {name}" in said
    for words in ("Exit codes: 0 ", "; 1 ", "; 2 a wrong call"):
        assert words in said
    assert ("130 stopped by Ctrl-C." in said) == (name != "watch")
    assert "--gallery" in said
    assert "--json" in said


@pytest.mark.slow
@pytest.mark.parametrize("entry", cli.app.registered_commands, ids=lambda entry: entry.callback.__name__)
def test_help_is_printed_as_it_was_written(call, monkeypatch, entry):
    """Nothing in brackets is taken for markup."""
    monkeypatch.setenv("COLUMNS", "2000")
    name = entry.name or entry.callback.__name__
    _, out, _ = call(name, "--help")
    hints = typing.get_type_hints(entry.callback, include_extras=True).values()
    options = [part for hint in hints for part in getattr(hint, "__metadata__", ())]
    texts = [inspect.getdoc(entry.callback), entry.epilog, *(option.help for option in options)]
    assert len(texts) > 2
    for text in texts:
        assert " ".join(text.split()) in " ".join(out.split())
    if name == "watch":
        assert "pip install 'lightproof[camera]'" in out


def test_the_first_page_names_them_all(call):
    _, out, _ = call("--help")
    first = [line.strip("│ ").split()[0] for line in out.splitlines() if line.startswith("│ ") and line[2].isalpha()]
    assert set(COMMANDS) < set(first)


def test_the_way_in_loads_nothing_that_only_some_commands_need():
    code = """
import sys, lightproof.cli
heavy = {"sqlalchemy", "numba", "cv2", "matplotlib", "sklearn", "skimage", "scipy", "joblib"}
heavy |= {"lightproof.gallery", "lightproof.imaging.lighting", "lightproof.datasets"}
sys.exit(", ".join(heavy & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""
