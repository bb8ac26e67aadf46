"""``lightproof sync``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, stream_bar, talk, write_rows
from lightproof.cli.folders import end_of_report, row_of, show_report
from lightproof.cli.gallery import (
    DEFAULT,
    WAIT,
    Cropped,
    Jobs,
    OnCluster,
    Place,
    Rows,
    Wait,
    Yes,
    agreed,
    connected,
    counted_photos,
    opened,
    shown,
)
from lightproof.cli.photos import check_finding
from lightproof.cli.work import check_jobs, stoppable

if TYPE_CHECKING:
    from lightproof.gallery import FolderReport, Gallery

EXIT_CODES: Final = (
    "Exit codes: 0 the gallery follows the folder; 1 a photo was refused, or nothing was changed, each with a sentence "
    "on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

NAMED: Final = 20
"""Photos to be removed that are named one by one."""


def sync(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", readable=False, help="A folder with a folder of photos for each person.")
    ],
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try refused photos again.")] = False,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    jobs: Jobs = -1,
    cluster: OnCluster = None,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Make the gallery follow a folder: enroll what is new, remove what came from it and is no longer there.

    Who was enrolled in another way stays. A photo goes to somebody else only when its file is moved to their folder:
    who was renamed in the gallery keeps the photos of the old folder, and gets the new ones.

    Asks before photos or people are removed, unless --yes is given.

    The gallery must be there: enroll --folder makes one.

    Example: lightproof sync album --dry-run
    """
    check_rows_place(json_file)
    check_jobs("sync", jobs)
    left = "What is enrolled is whole; the same command goes on from there."
    told = "Nothing was changed." if dry_run else left
    with stoppable(lambda: told), connected(cluster) as workers, opened(gallery, wait=wait) as register:
        check_finding(cropped)
        how: dict[str, Any] = {"cropped": cropped, "retry": retry, "jobs": jobs, "cluster": workers}
        if not (dry_run or yes or _agreed(register, folder, how)):
            talk.print("Nothing was changed.")
            raise typer.Exit(1)
        report = register.sync(folder, dry_run=dry_run, progress=stream_bar("following the folder"), **how)
        leftover = None if dry_run else register.leftover()
        row = row_of(report, folder)
        write_rows(json_file, [row])
    if dry_run and json_file != STDOUT:
        _name_removed(report)
    show_report(row, quiet=json_file == STDOUT)
    if leftover:
        talk.print(printable(leftover), soft_wrap=True)
    end_of_report(row)


def _agreed(gallery: Gallery, folder: Path, how: dict[str, Any]) -> bool:
    """Ask if photos or people are to be removed; where no photo came from the folder, none can be."""
    from lightproof.gallery.store import storable

    here = storable(str(folder.resolve()))
    if not gallery.store.photos(folder=here):
        return True
    found = gallery.sync(folder, dry_run=True, progress=stream_bar("looking at photos"), **how)
    gone = ", ".join(map(shown, found.gone))
    if not found.removed:
        return not gone or agreed(f"Remove {gone}, whose photos are all in other people's folders now?", yes=False)
    _name_removed(found)
    return agreed(f"Remove {counted_photos(len(found.removed))}{f' and with them {gone}' if gone else ''}?", yes=False)


def _name_removed(report: FolderReport) -> None:
    for photo in sorted(report.removed)[:NAMED]:
        talk.print(f"no longer there: {printable(photo)}", soft_wrap=True)
    if len(report.removed) > NAMED:
        talk.print(f"... and {counted_photos(len(report.removed) - NAMED)} more")
