"""The rooms and floors of docs/architecture.md, held by the imports themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "lightproof"
PLAN = SOURCE.parents[1] / "docs" / "architecture.md"

# A room may import the rooms of the floors below it, and from itself. The roof, __init__ and __main__, may import all.
FLOORS = [
    {"errors", "types"},
    {"core"},
    {"method"},
    {"imaging"},
    {"matching"},
    {"estimators"},
    {"datasets", "metrics", "plots"},
    {"gallery"},
    {"evaluation", "experiments"},
    {"service"},
    {"cli"},
]
ROOF = {"__init__", "__main__"}
HEIGHT = {room: height for height, rooms in enumerate([*FLOORS, ROOF]) for room in rooms}

# The one door for each thing; nobody else may open it.
DOORS = {
    "PIL": {"imaging/decode", "plots"},
    "ai_edge_litert": {"imaging/detection"},
    "matplotlib": {"plots"},
    "typer": {"cli"},
    "rich": {"cli"},
    "sqlalchemy": {"gallery/store"},
    "psycopg": {"gallery/store"},
    "sqlite3": {"gallery/store"},
    "cv2": {"cli"},
    "numba": {"core/jit"},
    "fastapi": {"service"},
    "starlette": {"service"},
    "pydantic": {"service"},
    "uvicorn": {"service"},
    "prometheus_client": {"service"},
    "httpx2": {"service/client"},
    "distributed": {"core/dask_cluster"},
    "dask": {"core/dask_cluster"},
    "joblib": {"core/executors"},
}

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    """The place of a module, such as ``gallery/store/view``."""
    return path.relative_to(SOURCE).with_suffix("").as_posix().removesuffix("/__init__")


def room_of(path: Path) -> str:
    return name_of(path).partition("/")[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{name.name}" for name in node.names]
    return found


def test_imports_point_down():
    for path in MODULES:
        here = room_of(path)
        for name in imports(path):
            package, _, rest = name.partition(".")
            if package == "lightproof":
                there = rest.partition(".")[0]
                assert there in HEIGHT, f"{path}: {name} is no room"
                assert there == here or HEIGHT[there] < HEIGHT[here], f"{path}: {here} may not import {there}"


def test_no_two_modules_import_each_other():
    """Not even by way of others; what is imported inside a function counts too."""
    names = {f"lightproof.{name_of(path).replace('/', '.')}": path for path in MODULES}
    below: dict[Path, set[Path]] = defaultdict(set)
    for path in MODULES:
        if room_of(path) not in ROOF:
            for name in imports(path):
                there = names.get(name) or names.get(name.rpartition(".")[0])
                below[path] |= {there} - {None, path}
    done: set[Path] = set()

    def walk(path: Path, way: tuple[Path, ...]) -> None:
        assert path not in way, " -> ".join(map(name_of, (*way[way.index(path) :], path)))
        if path not in done:
            for there in below[path]:
                walk(there, (*way, path))
            done.add(path)

    for path in MODULES:
        walk(path, ())


def test_each_outside_thing_has_one_door():
    for path in MODULES:
        for name in imports(path):
            doors = DOORS.get(name.partition(".")[0])
            inside = doors is None or any(f"{name_of(path)}/".startswith(f"{door}/") for door in doors)
            assert inside, f"{name} is not for {name_of(path)}"


def test_no_name_of_a_module_or_class_means_two_things():
    """A module may be called as the package it is in."""
    modules: dict[str, set[str]] = defaultdict(set)
    classes: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        name = name_of(path)
        if room_of(path) not in ROOF:
            modules[name.rpartition("/")[2]].add(name)
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                classes[node.name.lstrip("_")].add(name)
    for own in modules.values():
        top = min(own, key=len)
        assert own <= {top, f"{top}/{top.rpartition('/')[2]}"}, own
    assert {name: own for name, own in classes.items() if len(own) > 1} == {}


def test_plots_are_never_imported_at_module_level_on_the_way_in():
    """Importing the package must not load matplotlib."""
    code = "import sys, lightproof, lightproof.datasets; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_the_command_line_prints():
    for path in MODULES:
        calls = [n for n in ast.walk(tree_of(path)) if isinstance(n, ast.Call)]
        prints = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"]
        assert not prints or room_of(path) == "cli", path


def test_every_module_stands_in_the_plan():
    plan = PLAN.read_text()
    for path in MODULES:
        if path.name != "__init__.py":
            assert re.search(rf"\b{path.stem}\b", plan), f"{name_of(path)} is missing from docs/architecture.md"


def test_the_plan_has_the_same_floors():
    found = re.search(r"<!-- floors -->\n```\n(.*?)```", PLAN.read_text(), re.DOTALL)
    assert found
    floors = [set(line.partition("  ")[0].split(", ")) for line in found[1].splitlines()]
    assert floors == FLOORS[::-1]


def test_the_root_shows_the_floors():
    """A newcomer who lists it sees rooms, not files."""
    inside = [path for path in SOURCE.iterdir() if path.name != "__pycache__"]
    assert sum(path.is_file() for path in inside) <= 6
    assert sum(path.is_dir() for path in inside) <= 14
