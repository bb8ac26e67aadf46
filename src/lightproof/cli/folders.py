"""What came of a folder, for people and for machines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from lightproof.cli.console import complain, printable, say, show_remarks, talk
from lightproof.cli.gallery import counted_people, counted_photos, shown

if TYPE_CHECKING:
    from lightproof.gallery import FolderReport, Refused

NAMED: Final = 10
"""Files that are named one by one; of more, only the reasons are counted."""


def row_of(report: FolderReport, folder: Path) -> dict[str, Any]:
    """What is known about a folder, for machines."""
    return {
        "folder": str(folder),
        "dry_run": report.dry_run,
        "enrolled": report.enrolled,
        "people": report.people,
        "known": report.known,
        "refused": _listed(report.refused),
        "refused_before": _listed(report.refused_before),
        "removed": report.removed,
        "gone": report.gone,
        "ignored": _listed(report.ignored),
    }


def _listed(files: list[Refused]) -> list[dict[str, str]]:
    return [{"photo": file.photo, "reason": file.reason} for file in files]


def show_report(row: dict[str, Any], quiet: bool = False) -> None:
    """Say what came of a folder: each refused photo on stderr, the numbers on stdout unless quiet."""
    for file in row["refused"]:
        complain(file["reason"])
    if quiet:
        return
    for file in row["ignored"] if len(row["ignored"]) <= NAMED else []:
        talk.print(f"left out: {printable(file['photo'])}: {printable(file['reason'])}", soft_wrap=True)
    show_remarks(_numbers(row))
    if row["dry_run"]:
        say.print("This was a dry run: nothing was changed.")


def _numbers(row: dict[str, Any]) -> list[tuple[str, str]]:
    of = f" of {counted_people(row['people'])}" if row["enrolled"] else ""
    lines = [("would be enrolled" if row["dry_run"] else "enrolled", f"{counted_photos(row['enrolled'])}{of}")]
    lines.append(("enrolled before", counted_photos(row["known"])))
    if row["removed"]:
        lines.append(("would be removed" if row["dry_run"] else "removed", counted_photos(len(row["removed"]))))
    if row["gone"]:
        gone = f"{', '.join(map(shown, row['gone']))}, of whom no photo is left"
        lines.append(("would leave" if row["dry_run"] else "left", gone))
    if row["refused"]:
        lines.append(("refused", f"{counted_photos(len(row['refused']))}, see above"))
    if row["refused_before"]:
        before = counted_photos(len(row["refused_before"]))
        lines.append(("refused before", f"{before}, not tried again (--retry does)"))
    if row["ignored"]:
        reasons = Counter(file["reason"] for file in row["ignored"])
        lines.append(("left out", ", ".join(f"{count} {printable(reason)}" for reason, count in reasons.items())))
    return lines


def end_of_report(row: dict[str, Any]) -> None:
    """Leave with exit code 1 if a photo was refused now."""
    if row["refused"]:
        raise typer.Exit(1)
