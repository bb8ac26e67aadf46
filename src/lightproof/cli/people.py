"""``lightproof people`` and ``lightproof rename``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, show_narrow, talk, write_rows
from lightproof.cli.gallery import (
    DEFAULT,
    WAIT,
    WHOLE,
    Place,
    Rows,
    Wait,
    counted_people,
    counted_photos,
    in_words,
    opened,
    shown,
)
from lightproof.cli.work import stoppable
from lightproof.core.report_parts import TextTable

if TYPE_CHECKING:
    from lightproof.gallery import Gallery


def people(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Somebody: their photos, and advice.")] = None,
    gallery: Place = DEFAULT,
    json_file: Rows = None,
) -> None:
    """List who is enrolled; of one person the photos, the light of each, and which photo to add.

    Example: lightproof people

    Example: lightproof people Ada
    """
    check_rows_place(json_file)
    with stoppable(lambda: "Nothing was written."), opened(gallery) as register:
        rows = _everybody(register) if name is None else [_one(register, name)]
        write_rows(json_file, rows)
    if json_file == STDOUT:
        return
    if name is None:
        _show_everybody(rows, register.place)
    else:
        _show_one(rows[0])


def _everybody(gallery: Gallery) -> list[dict[str, Any]]:
    return [{"name": one.name, "photos": one.photos, "since": one.added} for one in gallery.people()]


def _one(gallery: Gallery, name: str) -> dict[str, Any]:
    from lightproof.gallery.advice import advise, light_names
    from lightproof.gallery.enrollment import light_of

    # One state of the gallery: others may be writing.
    with gallery.store.reading() as view:
        person = view.person(name)
        photos = view.photos(person.name)
    lights = [light_of(photo.light, gallery.place) or (None, None) for photo in photos]
    advice = advise(person.name, lights)
    pictures = [
        {
            "photo": photo.source,
            "folder": photo.folder,
            "light": called,
            "azimuth": light[0],
            "elevation": light[1],
            "since": photo.added,
            "hash": photo.hash,
            "kept": photo.has_face,
        }
        for photo, light, called in zip(photos, lights, light_names(lights), strict=True)
    ]
    row = {"name": person.name, "photos": person.photos, "since": person.added, "pictures": pictures}
    return row | {"has": advice.has, "lacks": advice.lacks, "advice": advice.next, "gain": advice.gain}


def _show_everybody(rows: list[dict[str, Any]], place: str) -> None:
    if not rows:
        in_words(f"Nobody is enrolled in {printable(place)}.")
        return
    lines = [[shown(row["name"]), f"{row['photos']:,}", row["since"][:10]] for row in rows]
    total = counted_photos(sum(row["photos"] for row in rows))
    note = f"{counted_people(len(rows))}, {total} in {printable(place)}."
    show_narrow(TextTable("", ["name", "photos", "since"], lines, note))


def _show_one(row: dict[str, Any]) -> None:
    lines = [
        [printable(Path(picture["photo"] or "").name) or "?", _light(picture), picture["since"][:10]]
        for picture in row["pictures"]
    ]
    note = f"{shown(row['name'])}: {counted_photos(row['photos'])}. Left and right are those of the person."
    show_narrow(TextTable("", ["photo", "light", "since"], lines, note), left=2)
    in_words(shown(row["advice"]))


def _light(picture: dict[str, Any]) -> str:
    if picture["light"] is None:
        return "cannot be read"
    return f"{picture['light']} ({round(picture['azimuth']):+d}° {round(picture['elevation']):+d}°)"


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Somebody who is enrolled.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A name that nobody has.")],
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Give somebody another name.

    Example: lightproof rename Ada "Ada Lovelace"
    """
    check_rows_place(json_file)
    with stoppable(lambda: WHOLE), opened(gallery, wait=wait) as register:
        register.rename(old, new)
        leftover = register.leftover()
        write_rows(json_file, [{"old": old, "new": new}])
    if json_file != STDOUT:
        in_words(f"{shown(old)} is now called {shown(new)}.")
    if leftover:
        talk.print(printable(leftover), soft_wrap=True)
