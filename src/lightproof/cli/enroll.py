"""``lightproof enroll`` and ``lightproof sync``: a person, or a folder of people, into a gallery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.command import NOTHING_CHANGED, WHOLE, Output, check_jobs, command, confirmed, connected, opened
from lightproof.cli.console import (
    MAX_SKIPPED,
    STDOUT,
    bar,
    complain,
    harmless,
    n_people,
    n_photos,
    printable,
    remark,
    show_remarks,
    stdout,
    stream_bar,
)
from lightproof.cli.options import DEFAULT, WAIT, Cropped, Jobs, JsonFile, OnCluster, Place, Preset, Retry, Wait, Yes
from lightproof.cli.photo_loop import check_finding
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.gallery import FolderReport, Gallery

ENROLL_EXIT_CODES: Final = (
    "0 every photo was enrolled; 1 a photo was refused, each with a sentence on stderr: then no PHOTO is enrolled, "
    "but of a folder all others"
)
SYNC_EXIT_CODES: Final = (
    "0 the gallery follows the folder; 1 a photo was refused, or nothing was changed, each with a sentence on stderr"
)

MAX_REMOVED: Final = 20
"""Photos to be removed that are named one by one."""


def _left_by_folder(given: Any) -> str:
    goes_on = "What is enrolled is whole; the same command goes on from there."
    return NOTHING_CHANGED if given["dry_run"] else goes_on


@command(left=lambda given: WHOLE if given["folder"] is None else _left_by_folder(given), writes=("gallery",))
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --folder: look at everything, enroll nothing.")
    ] = False,
    retry: Retry = False,
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Enroll somebody, or add photos of somebody who is there: all of them, or none if one is refused.

    With --folder, enroll everybody in it: DIR/NAME/photo.jpg. After an interrupt the same command goes on.

    What is enrolled already is left out, what was refused is remembered and not tried again.

    Example: lightproof enroll Ada ada-1.jpg ada-2.jpg

    Example: lightproof enroll --folder album --dry-run

    Example: lightproof enroll --folder /shared/album --cluster tcp://head:8786
    """
    check_jobs("enroll", jobs)
    new = {"preset": preset, "keep_photos": keep_photos or None, "wait": wait, "create": True}
    if folder is not None:
        if name is not None or photos:
            raise BadParameter("enroll", "folder", "given without a name and photos", str(folder))
        settings = {"cropped": cropped, "dry_run": dry_run, "retry": retry, "jobs": jobs}
        return _enroll_folder(folder, gallery, cluster, settings, new)
    if name is None or not photos:
        raise typer.BadParameter("NAME and at least one PHOTO must be given, or --folder DIR.")
    for option, value in (("dry-run", dry_run), ("retry", retry), ("cluster", cluster is not None)):
        if value:
            raise BadParameter("enroll", option, "given together with --folder", name)
    return _enroll_person(name, photos, gallery, cropped, new)


def _enroll_person(name: str, photos: list[Path], place: str, cropped: bool, new: dict[str, Any]) -> Output:
    from lightproof.gallery import Gallery, extract_face
    from lightproof.gallery.store import check_name

    name = check_name(name)
    if Gallery.exists(place, timeout=new["wait"]):
        # Report a gallery that cannot be used before the photos are read.
        with opened(place, **new):
            pass
    check_finding(cropped)
    # A new gallery is not made for photos that are refused.
    faces = [extract_face(photo, cropped) for photo in bar("reading photos")(photos)]
    with opened(place, **new) as gallery:
        count = gallery.enroll_faces(name, faces)
        advice, person = gallery.advice(name), gallery.store.person(name)
        place = gallery.place
    row = {"name": person.name, "photos": person.photos, "has": advice.has, "lacks": advice.lacks}
    row |= {"advice": advice.next, "gain": advice.gain, "new": count}
    enrolled = f"{n_photos(count)} enrolled" if count else "nothing new"
    text = f"{harmless(person.name)}: {enrolled}, {n_photos(person.photos)} altogether in {printable(place)}."
    return Output([row], f"{text}\n{harmless(advice.next)}")


def _enroll_folder(
    folder: Path, place: str, cluster: str | None, settings: dict[str, Any], new: dict[str, Any]
) -> Output:
    from lightproof.gallery.folders.scan import scan_folder

    scan = scan_folder(folder)
    check_finding(settings["cropped"])
    dry_run = settings["dry_run"]
    with (
        connected(cluster) as workers,
        _existing_or_thrown_away(place, dry_run, new["wait"]) as existing,
        opened(existing, **new) as gallery,
    ):
        shown_bar = stream_bar("looking at photos" if dry_run else "enrolling")
        report = gallery.enroll_folder(scan, cluster=workers, progress=shown_bar, **settings)
    return _folder_output(report, folder)


@contextmanager
def _existing_or_thrown_away(place: str, dry_run: bool, wait: float) -> Iterator[str]:
    """Let a dry run that has no gallery yet look into one that is thrown away."""
    from lightproof.gallery import Gallery

    if dry_run and not Gallery.exists(place, timeout=wait):
        with TemporaryDirectory() as folder:
            yield str(Path(folder) / "dry.gallery")
    else:
        yield place


@command(left=_left_by_folder)
def sync(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", readable=False, help="A folder with a folder of photos for each person.")
    ],
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    retry: Retry = False,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Make the gallery follow a folder: enroll what is new, remove what came from it and is no longer there.

    People who were enrolled in another way stay. A photo goes to somebody else only when its file is moved to their
    folder: people who were renamed in the gallery keep the photos of the old folder, and get the new ones.

    Asks before photos or people are removed, unless --yes is given.

    The gallery must be there: enroll --folder makes one.

    Example: lightproof sync album --dry-run
    """
    check_jobs("sync", jobs)
    with connected(cluster) as workers, opened(gallery, wait=wait) as register:
        check_finding(cropped)
        settings: dict[str, Any] = {"cropped": cropped, "retry": retry, "jobs": jobs, "cluster": workers}
        if not (dry_run or yes or _removal_confirmed(register, folder, settings)):
            raise typer.Exit(1)
        report = register.sync(folder, dry_run=dry_run, progress=stream_bar("following the folder"), **settings)
        leftover = None if dry_run else register.leftover()
    if dry_run and json_file != STDOUT:
        _name_removed(report)
    return _folder_output(report, folder, leftover)


def _removal_confirmed(gallery: Gallery, folder: Path, settings: dict[str, Any]) -> bool:
    """Ask if photos or people are to be removed; if no photo came from the folder, none can be."""
    from lightproof.gallery.store import storable

    if not gallery.store.photos(folder=storable(str(folder.resolve()))):
        return True
    report = gallery.sync(folder, dry_run=True, progress=stream_bar("looking at photos"), **settings)
    gone = ", ".join(map(harmless, report.gone))
    if not report.removed:
        return not gone or confirmed(f"Remove {gone}, whose photos are all in other people's folders now?")
    _name_removed(report)
    return confirmed(f"Remove {n_photos(len(report.removed))}{f' and with them {gone}' if gone else ''}?")


def _name_removed(report: FolderReport) -> None:
    for photo in sorted(report.removed)[:MAX_REMOVED]:
        remark(f"no longer there: {photo}")
    if len(report.removed) > MAX_REMOVED:
        remark(f"... and {n_photos(len(report.removed) - MAX_REMOVED)} more")


def _folder_output(report: FolderReport, folder: Path, leftover: str | None = None) -> Output:
    """Report each refused photo on stderr, and the numbers on stdout; exit code 1 if a photo was refused now."""
    row: dict[str, Any] = {"folder": str(folder), "dry_run": report.dry_run, **vars(report)}
    row |= {key: [file._asdict() for file in row[key]] for key in ("refused", "refused_before", "ignored")}
    for file in row["refused"]:
        complain(file["reason"])
    return Output([row], lambda: _show_folder(row), leftover, failed=bool(row["refused"]))


def _show_folder(row: dict[str, Any]) -> None:
    for file in row["ignored"] if len(row["ignored"]) <= MAX_SKIPPED else []:
        remark(f"left out: {file['photo']}: {file['reason']}")
    show_remarks(_numbers(row))
    if row["dry_run"]:
        stdout.print("This was a dry run: nothing was changed.")


def _numbers(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    would = "would be " if row["dry_run"] else ""
    people = f" of {n_people(row['people'])}" if row["enrolled"] else ""
    yield f"{would}enrolled", f"{n_photos(row['enrolled'])}{people}"
    yield "enrolled before", n_photos(row["known"])
    if row["removed"]:
        yield f"{would}removed", n_photos(len(row["removed"]))
    if row["gone"]:
        gone = ", ".join(map(harmless, row["gone"]))
        yield "would leave" if row["dry_run"] else "left", f"{gone}, of whom no photo is left"
    if row["refused"]:
        yield "refused", f"{n_photos(len(row['refused']))}, see above"
    if row["refused_before"]:
        yield "refused before", f"{n_photos(len(row['refused_before']))}, not tried again (--retry does)"
    if row["ignored"]:
        reasons = Counter(file["reason"] for file in row["ignored"])
        yield "left out", ", ".join(f"{count} {printable(reason)}" for reason, count in reasons.items())
