"""The help page of each command, and what the way in loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
