"""``lightproof enroll``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from lightproof.cli.console import STDOUT, bar, check_rows_place, printable, stream_bar, write_rows
from lightproof.cli.folders import end_of_report, row_of, show_report
from lightproof.cli.gallery import (
    DEFAULT,
    WAIT,
    WHOLE,
    Cropped,
    Jobs,
    OnCluster,
    Place,
    Rows,
    Wait,
    connected,
    counted_photos,
    in_words,
    opened,
    shown,
)
from lightproof.cli.photos import check_finding
from lightproof.cli.work import check_jobs, stoppable
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.gallery import Face, Gallery

EXIT_CODES: Final = (
    "Exit codes: 0 every photo was enrolled; 1 a photo was refused, each with a sentence on stderr: then no PHOTO is "
    "enrolled, but of a folder all others; 2 a wrong call; 130 stopped by Ctrl-C."
)

Preset = Literal["robust", "fast"]


def enroll(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Who it is.")] = None,
    photos: Annotated[
        list[Path] | None, typer.Argument(metavar="PHOTO", readable=False, help="Photos of that person alone.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="A folder with a folder of photos for each person."),
    ] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    preset: Annotated[
        Preset | None, typer.Option(help="For a new gallery: how faces are compared; robust if not given.")
    ] = None,
    keep_photos: Annotated[
        bool, typer.Option("--keep-photos", help="For a new gallery: keep the faces, so that it can be rebuilt.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --folder: look at everything, enroll nothing.")] = (
        False
    ),
    retry: Annotated[bool, typer.Option("--retry", help="With --folder: try refused photos again.")] = False,
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Enroll somebody, or add photos of somebody who is there: all of them, or none if one is refused.

    With --folder, enroll everybody in it: DIR/NAME/photo.jpg. After an interrupt the same command goes on.

    What is enrolled already is left out, what was refused is remembered and not tried again.

    Example: lightproof enroll Ada ada-1.jpg ada-2.jpg

    Example: lightproof enroll --folder album --dry-run

    Example: lightproof enroll --folder /shared/album --cluster tcp://head:8786
    """
    check_rows_place(json_file, gallery)
    check_jobs("enroll", jobs)
    new = {"preset": preset, "keep_photos": keep_photos or None, "wait": wait, "create": True}
    if folder is not None:
        if name is not None or photos:
            raise BadParameter("enroll", "folder", "given without a name and photos", str(folder))
        how = {"cropped": cropped, "dry_run": dry_run, "retry": retry, "jobs": jobs}
        row = _enroll_folder(folder, gallery, cluster, how, json_file, new)
        end_of_report(row)
    elif name is None or not photos:
        raise typer.BadParameter("NAME and at least one PHOTO must be given, or --folder DIR.")
    elif dry_run or retry or cluster is not None:
        option = "dry-run" if dry_run else "retry" if retry else "cluster"
        raise BadParameter("enroll", option, "given together with --folder", name)
    else:
        _enroll(name, photos, gallery, cropped, json_file, new)


def _enroll(name: str, photos: list[Path], place: str, cropped: bool, json_file: Path | None, new: Any) -> None:
    from lightproof.gallery import Gallery
    from lightproof.gallery.store import check_name

    name = check_name(name)
    if Gallery.exists(place, timeout=new["wait"]):
        # A gallery that cannot be used is told before the photos are looked at.
        with opened(place, **new):
            pass
    check_finding(cropped)
    with stoppable(lambda: WHOLE):
        # A new gallery is not made for photos that are refused.
        faces = _taken(photos, cropped)
        with opened(place, **new) as gallery:
            count = gallery.enroll_faces(name, faces)
            row = _person(gallery, name) | {"new": count}
        write_rows(json_file, [row])
    if json_file != STDOUT:
        _show(row, gallery.place)


def _taken(photos: list[Path], cropped: bool) -> list[Face]:
    from lightproof.gallery import extract_face

    return [extract_face(photo, cropped) for photo in bar("reading photos")(photos)]


def _person(gallery: Gallery, name: str) -> dict[str, Any]:
    advice = gallery.advice(name)
    known = gallery.store.person(name)
    row = {"name": known.name, "photos": known.photos, "has": advice.has, "lacks": advice.lacks}
    return row | {"advice": advice.next, "gain": advice.gain}


def _show(row: dict[str, Any], place: str) -> None:
    came = f"{counted_photos(row['new'])} enrolled" if row["new"] else "nothing new"
    whole = f"{shown(row['name'])}: {came}, {counted_photos(row['photos'])} altogether in {printable(place)}."
    in_words(whole)
    in_words(shown(row["advice"]))


def _enroll_folder(
    folder: Path, place: str, cluster: str | None, how: dict[str, Any], json_file: Path | None, new: Any
) -> dict[str, Any]:
    from lightproof.gallery.folders.scan import scan_folder

    scan = scan_folder(folder)
    check_finding(how["cropped"])
    dry_run = how["dry_run"]
    left = "What is enrolled is whole; the same command goes on from there."
    with stoppable(lambda: "Nothing was changed." if dry_run else left):
        made = _not_made(place, dry_run, new["wait"])
        with connected(cluster) as workers, made as where, opened(where, **new) as gallery:
            shown_bar = stream_bar("enrolling" if not dry_run else "looking at photos")
            report = gallery.enroll_folder(scan, cluster=workers, progress=shown_bar, **how)
        row = row_of(report, folder)
        write_rows(json_file, [row])
    show_report(row, quiet=json_file == STDOUT)
    return row


@contextmanager
def _not_made(place: str, dry_run: bool, wait: float) -> Iterator[str]:
    """Let a dry run that has no gallery yet look into one that is thrown away."""
    from lightproof.gallery import Gallery

    if dry_run and not Gallery.exists(place, timeout=wait):
        with TemporaryDirectory() as folder:
            yield str(Path(folder) / "dry.gallery")
    else:
        yield place
