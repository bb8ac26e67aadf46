"""The plan of the rooms in docs/design.md, held by the imports themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lightproof"

# A room may import the rooms of the floors below it, and from its own folder.
FLOORS = [
    {"errors", "types", "processes", "compiled", "wire"},
    {"unfitted", "crew", "powers", "worker"},
    {"cluster"},
    {"transform", "gradients", "patches", "resampling", "subspaces", "eigen", "aggregate", "labels", "frames", "files"},
    {"images"},
    {"stack", "light", "deformations", "alignment", "sorting", "compact", "closeness"},
    {"pixels"},
    {"cohort", "faces", "diagnosis"},
    {"settings"},
    {"describing", "placing", "nearest", "modelfile"},
    {"features"},
    {"people"},
    {"search", "enrolled"},
    {"evidence", "coding"},
    {"agreement", "index"},
    {"recognizer", "baselines", "matcher", "strangers"},
    {"metrics"},
    {"datasets"},
    {"plots"},
    {"store", "explain", "advice"},
    {"gallery"},
    {"experiments"},
    {"evaluation"},
    {"client"},
    {"__init__"},
    {"web"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}

# The one door for each thing; nobody else may open it.
DOORS = {
    "PIL": {"pixels", "plots"},
    "ai_edge_litert": {"faces"},
    "matplotlib": {"plots"},
    "typer": {"cli"},
    "rich": {"cli"},
    "sqlalchemy": {"store"},
    "psycopg": {"store"},
    "sqlite3": {"store"},
    "cv2": {"cli"},
    "numba": {"compiled"},
    "fastapi": {"web"},
    "starlette": {"web"},
    "pydantic": {"web"},
    "uvicorn": {"web"},
    "prometheus_client": {"web"},
    "httpx2": {"client"},
    "distributed": {"cluster", "worker"},
    "dask": {"cluster"},
}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            # "from lightproof import modelfile" means the room, "from lightproof import __version__" the front door.
            rooms = [name.name for name in node.names if module == "lightproof" and name.name in HEIGHT]
            found += [f"lightproof.{room}" for room in rooms] or [module]
    return found


MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_down(path):
    here = room_of(path)
    for name in imports(path):
        if name.split(".")[0] != "lightproof":
            continue
        there = name.split(".")[1] if "." in name else "__init__"
        inside = there == here and path.parent != SOURCE
        assert inside or HEIGHT[there] < HEIGHT[here], f"{here} may not import {there}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_each_outside_thing_has_one_door(path):
    for name in imports(path):
        allowed = DOORS.get(name.split(".")[0])
        assert allowed is None or room_of(path) in allowed, f"{name} is not for {room_of(path)}"


def test_plots_are_never_imported_at_module_level_on_the_way_in():
    """Importing the package must not load matplotlib."""
    import subprocess
    import sys

    code = "import sys, lightproof, lightproof.datasets; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_the_command_line_prints():
    for path in MODULES:
        calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
        prints = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"]
        assert not prints or room_of(path) == "cli", path


def test_every_room_stands_in_the_plan():
    plan = (SOURCE.parents[1] / "docs" / "design.md").read_text()
    for room in {room_of(path) for path in MODULES}:
        named = f"{room}/" if (SOURCE / room).is_dir() else f"{room}.py"
        assert f"  {named} " in plan, f"{named} is missing from the plan of the rooms"
