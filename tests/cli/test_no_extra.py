"""The command line as ``pip install .`` gives it, in an environment with no extra at all."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import lightproof
from lightproof.cli.doctor import EXTRAS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

EVERY_HELP = """
import sys
from lightproof import cli
from typer.main import get_command
for name in ["", *get_command(cli.app).commands]:
    sys.argv = ["lightproof", *name.split(), "--help"]
    try:
        cli.main()
    except SystemExit as left:
        assert not left.code, name
    print("END OF", name)
"""


def distributions_of(requirements: list[str], extra: str = "") -> dict[str, metadata.Distribution]:
    """What pip would install for these requirements, by name, from what is installed here."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(Requirement(line), extra) for line in requirements]
    while waiting:
        wanted, own_extra = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": own_extra})):
            continue
        found[name] = metadata.distribution(wanted.name)
        for line in found[name].requires or []:
            waiting += [(Requirement(line), each) for each in wanted.extras or {""}]
    return found


@pytest.fixture(scope="module")
def plain_python(tmp_path_factory) -> Path:
    """Python with lightproof and its dependencies alone: links to the packages that are installed here."""
    folder = tmp_path_factory.mktemp("plain")
    venv.create(folder, symlinks=True, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    for distribution in distributions_of(PROJECT["dependencies"]).values():
        for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(distribution.locate_file(top))))
    (packages / "lightproof").symlink_to(Path(lightproof.__file__).parent)
    own = metadata.distribution("lightproof")
    described = next(file.parts[0] for file in own.files or [] if file.parts[0].endswith(".dist-info"))
    (packages / described).symlink_to(Path(str(own.locate_file(described))))
    return folder / "bin" / "python"


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # What leads to packages elsewhere would bring the extras back.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LIGHTPROOF"))}
    return subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=clean, timeout=120
    )


def test_the_environment_has_no_extra(plain_python, tmp_path):
    modules = [module for extra in EXTRAS.values() for module in extra.modules.values()]
    code = f"""
import importlib
for module in {modules}:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        continue
    print(module)
"""
    result = run(plain_python, "-c", code, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.slow
def test_the_doctor_names_every_extra_with_its_purpose(plain_python, tmp_path):
    result = run(plain_python, "-m", "lightproof", "doctor", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    shown = " ".join(result.stdout.split())
    for name, extra in EXTRAS.items():
        assert f"extra {name} missing without " in shown
        assert f"pip install 'lightproof[{name}]', {extra.purpose}" in shown
    assert "All that is installed works." in shown


@pytest.mark.slow
def test_every_command_shows_its_help(plain_python, tmp_path):
    result = run(plain_python, "-c", EVERY_HELP, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    pages = re.split(r"END OF .*\n", result.stdout)
    assert len(pages) > 20
    assert all("Usage: " in page for page in pages[:-1])


def test_the_doctor_knows_every_extra_for_users():
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"test", "lint", "dev"}
    assert all(extra.purpose.startswith("to ") and extra.modules for extra in EXTRAS.values())
