"""``lightproof doctor``."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from lightproof.cli.command import Output, command
from lightproof.cli.console import printable, show_narrow, show_remarks, stdout
from lightproof.cli.options import JsonFile
from lightproof.core.report_parts import TextTable
from lightproof.errors import UserError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

EXIT_CODES: Final = (
    "0 all that is installed works, though something optional may be missing; 1 something that is installed does not "
    "work"
)


class Extra(NamedTuple):
    """What an extra of pyproject.toml is for, and by package the module that shows whether it works."""

    purpose: str
    modules: dict[str, str]


EXTRAS: Final = {
    "photos": Extra("to find faces in photographs", {"ai-edge-litert": "ai_edge_litert.interpreter"}),
    "postgres": Extra("to keep a gallery in PostgreSQL", {"psycopg": "psycopg"}),
    "camera": Extra("to watch a camera", {"opencv-python-headless": "cv2"}),
    "web": Extra(
        "to serve a gallery",
        {
            name: name.replace("-", "_")
            for name in ("fastapi", "uvicorn", "httptools", "python-multipart", "prometheus-client")
        },
    ),
    "client": Extra("to ask a service from Python", {"httpx2": "httpx2"}),
    "cluster": Extra("to share the work on a Dask cluster", {"distributed": "distributed"}),
    "deep": Extra("to train networks, reproduce --deep", {"torch": "torch", "pytorchcv": "pytorchcv"}),
}
"""Extras for users, by name; ``photos`` needs a package with the weights of the networks besides."""

MAX_EYE_ERROR: Final = 0.1
"""The self test fails if the eyes are off by a larger share of their distance."""


@dataclass(frozen=True)
class Finding:
    """The state of one thing, and what mends it.

    Missing things are optional; broken things are there and do not work.
    """

    what: str
    state: Literal["ok", "missing", "broken"]
    says: str
    mend: str = ""


@command()
def doctor(json_file: JsonFile = None) -> Output:
    """Say what is installed, whether it works, and what mends it; find a rendered face as a test."""
    findings = list(_findings())
    broken = any(finding.state == "broken" for finding in findings)
    return Output([asdict(finding) for finding in findings], lambda: _show(findings), failed=broken)


def _show(findings: list[Finding]) -> None:
    lines = [[finding.what, finding.state, finding.says] for finding in findings]
    show_narrow(TextTable("", ["what", "state", "found"], lines), left=3, folding=2)
    for state, title in (("broken", "Wrong:"), ("missing", "Not there, and not needed for the rest:")):
        chosen = [(finding.what, finding.mend) for finding in findings if finding.state == state]
        if chosen:
            stdout.print(title)
            show_remarks(chosen)
    if all(finding.state != "broken" for finding in findings):
        stdout.print("All that is installed works.")


def _findings() -> Iterator[Finding]:
    yield Finding("Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("lightproof", "ok", metadata.version("lightproof"))
    for requirement in _requirements():
        # The requirements of an extra have a marker that says so.
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield _package(requirement)
    yield from map(_extra, EXTRAS)
    yield from _detector()
    yield _yale()


def _requirements() -> list[Requirement]:
    from packaging.requirements import Requirement

    return [Requirement(line) for line in metadata.requires("lightproof") or []]


def _package(requirement: Requirement) -> Finding:
    package, legal, version = requirement.name, requirement.specifier, _version(requirement.name)
    if version is not None and legal.contains(version, prereleases=True):
        return Finding(package, "ok", version)
    says = "not installed" if version is None else f"{version}, must be {legal}"
    return Finding(package, "broken", says, f"pip install '{package}{legal}'")


def _extra(extra: str) -> Finding:
    """Say whether an extra is complete."""
    name, parts = f"extra {extra}", _parts(extra)
    broken = [part for part in parts if part.state == "broken"]
    missing = [part.what for part in parts if part.state == "missing"]
    if broken:
        says = "; ".join(f"{part.what} {part.says}" for part in broken)
        return Finding(name, "broken", says, _again(*(part.what for part in broken)))
    if missing:
        line = f"pip install 'lightproof[{extra}]'"
        return Finding(name, "missing", f"without {', '.join(missing)}", f"{line}, {EXTRAS[extra].purpose}")
    return Finding(name, "ok", ", ".join(f"{part.what} {part.says}" for part in parts))


def _parts(extra: str) -> list[Finding]:
    parts = [_part(package, module) for package, module in EXTRAS[extra].modules.items()]
    return [*parts, _carrier()] if extra == "photos" else parts


def _carrier() -> Finding:
    """Find the package that brings the weights; any of several will do."""
    from lightproof.imaging.detection.face_networks import CARRIERS, find_weights

    installed = [package for package, _ in CARRIERS if _version(package)]
    if not installed:
        return Finding(CARRIERS[0][0], "missing", "not installed")
    used = installed[0]
    with suppress(UserError):
        weights = find_weights()
        files = {package: metadata.distribution(package).locate_file(dict(CARRIERS)[package]) for package in installed}
        used = next((package for package, file in files.items() if Path(str(file)) == weights), used)
    return Finding(used, "ok", _version(used) or "")


def _part(package: str, module: str) -> Finding:
    """Say whether a package of an extra is there; a package that cannot be imported is broken."""
    version = _version(package)
    try:
        import_module(module)
    except Exception as problem:  # a package in pieces raises anything
        if version is None:
            return Finding(package, "missing", "not installed")
        return Finding(package, "broken", f"{version}: {_first_line(problem) or type(problem).__name__}")
    return Finding(package, "ok", version or "under another name")


def _again(*packages: str) -> str:
    """Write the command that installs packages again, in their legal versions and without their dependencies."""
    legal = {requirement.name: str(requirement.specifier) for requirement in _requirements()}
    words = " ".join(f"'{package}{legal.get(package, '')}'" for package in packages)
    return f"pip install --force-reinstall --no-deps {words}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _first_line(problem: Exception) -> str:
    return printable(str(problem).partition("\n")[0])


def _detector() -> Iterator[Finding]:
    from lightproof.imaging.detection.face_networks import CARRIERS, DETECTOR, find_weights

    if any(part.state == "missing" for part in _parts("photos")):
        says = f"none; {DETECTOR} comes with the extra photos"
        yield Finding("detector", "missing", says, "pip install 'lightproof[photos]'")
        return
    carrier = _carrier()
    file = Path(dict(CARRIERS)[carrier.what]).name
    try:
        size = find_weights().stat().st_size
    except (UserError, OSError):
        says = f"{DETECTOR}, but {carrier.what} {carrier.says} is without its weights, {file}, or has other ones"
        yield Finding("detector", "broken", says, _again(carrier.what))
        return
    weights = f"weights {file} ({size / 1e6:.1f} MB) of {carrier.what} {carrier.says}"
    yield Finding("detector", "ok", f"{DETECTOR}, {weights}")
    yield _self_test(_again(*EXTRAS["photos"].modules, carrier.what))


def _self_test(mend: str) -> Finding:
    """Set a rendered face into a frame, and find it."""
    from lightproof.datasets import make_relit_faces
    from lightproof.experiments.end_to_end import set_into_frame
    from lightproof.imaging.detection import EYE_COLUMN, EYE_ROW, FACE_SIZE, find_faces

    photo, corner = set_into_frame(make_relit_faces(1, [(0, 0)]).images[0])
    try:
        find_faces(photo)  # the first time includes reading the weights
        start = time.perf_counter()
        faces = find_faces(photo)
        cost = time.perf_counter() - start
    except Exception as problem:  # a broken runtime raises almost any error
        return Finding("self test", "broken", _first_line(problem), mend)
    if not faces:
        return Finding("self test", "broken", "a rendered face was not found", mend)
    height, width = FACE_SIZE
    right = corner + complex(EYE_COLUMN * width - 0.5, EYE_ROW * height - 0.5)
    along = (1 - 2 * EYE_COLUMN) * width
    off = abs(complex(*faces[0].right_eye) - right) + abs(complex(*faces[0].left_eye) - right - along)
    share = off / 2 / along
    eyes = f"eyes off by {share:.1%} of their distance"
    says = f"rendered face found in {1000 * cost:.0f} ms (look {faces[0].look}), {eyes}"
    if share > MAX_EYE_ERROR:
        return Finding("self test", "broken", f"{says}, must be at most {MAX_EYE_ERROR:.0%}", mend)
    return Finding("self test", "ok", says)


def _yale() -> Finding:
    from lightproof.datasets.yale_b import PEOPLE, SUBSET_COUNTS

    name, given = "Extended Yale B", os.environ.get("LIGHTPROOF_DATA")
    wanted = "set LIGHTPROOF_DATA to the folder that holds CroppedYale"
    if not given:
        return Finding(name, "missing", "LIGHTPROOF_DATA is not set", f"{wanted}, for the tests on real photos")
    folder = Path(given) / "CroppedYale" if (Path(given) / "CroppedYale").is_dir() else Path(given)
    count = {person: len(list((folder / person).glob(f"{person}_P00A[+-]*.pgm"))) for person in PEOPLE}
    photos, people = sum(count.values()), sum(number > 0 for number in count.values())
    says = f"{photos} photos of {people} people through LIGHTPROOF_DATA"
    if photos != sum(SUBSET_COUNTS):
        return Finding(name, "broken", f"{says}, must be {sum(SUBSET_COUNTS)} of {len(PEOPLE)}", wanted)
    return Finding(name, "ok", says)
