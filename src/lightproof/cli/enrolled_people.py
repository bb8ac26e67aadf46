"""``lightproof people``, ``lightproof rename`` and ``lightproof forget``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.command import WHOLE, Output, command, confirmed, opened
from lightproof.cli.console import harmless, n_people, n_photos, printable, say, show_narrow
from lightproof.cli.options import DEFAULT, WAIT, JsonFile, Place, Wait, Yes
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadGallery

if TYPE_CHECKING:
    from lightproof.gallery import Gallery

FORGET_EXIT_CODES: Final = (
    "0 they are forgotten, and if bytes of them could not be overwritten, that is said; 1 nothing was changed, with a "
    "sentence on stderr"
)

MAX_NAMES: Final = 5
"""People who are named in the question."""


@command()
def people(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Somebody: their photos, and advice.")] = None,
    gallery: Place = DEFAULT,
    json_file: JsonFile = None,
) -> Output:
    """List who is enrolled; of one person the photos, the light of each, and which photo to add.

    Example: lightproof people

    Example: lightproof people Ada
    """
    with opened(gallery) as register:
        place = register.place
        if name is not None:
            row = _person(register, name)
            return Output([row], show=lambda: _show_person(row))
        rows = [{"name": each.name, "photos": each.photos, "since": each.added} for each in register.people()]
        return Output(rows, show=lambda: _show_people(rows, place))


def _person(gallery: Gallery, name: str) -> dict[str, Any]:
    from lightproof.gallery.advice import advise, light_names
    from lightproof.gallery.enrollment import read_light

    # One state of the gallery: others may be writing.
    with gallery.store.reading() as view:
        person = view.person(name)
        photos = view.photos(person.name)
    lights = [read_light(photo.light, gallery.place) or (None, None) for photo in photos]
    advice = advise(person.name, lights)
    pictures = [
        {
            "photo": photo.source,
            "folder": photo.folder,
            "light": light_name,
            "azimuth": light[0],
            "elevation": light[1],
            "since": photo.added,
            "hash": photo.hash,
            "kept": photo.has_face,
        }
        for photo, light, light_name in zip(photos, lights, light_names(lights), strict=True)
    ]
    row = {"name": person.name, "photos": person.photos, "since": person.added, "pictures": pictures}
    return row | {"has": advice.has, "lacks": advice.lacks, "advice": advice.next, "gain": advice.gain}


def _show_people(rows: list[dict[str, Any]], place: str) -> None:
    if not rows:
        say(f"Nobody is enrolled in {printable(place)}.")
        return
    lines = [[harmless(row["name"]), f"{row['photos']:,}", row["since"][:10]] for row in rows]
    total = n_photos(sum(row["photos"] for row in rows))
    note = f"{n_people(len(rows))}, {total} in {printable(place)}."
    show_narrow(TextTable("", ["name", "photos", "since"], lines, note))


def _show_person(row: dict[str, Any]) -> None:
    lines = [
        [printable(Path(picture["photo"] or "").name) or "?", _light(picture), picture["since"][:10]]
        for picture in row["pictures"]
    ]
    note = f"{harmless(row['name'])}: {n_photos(row['photos'])}. Left and right are those of the person."
    show_narrow(TextTable("", ["photo", "light", "since"], lines, note), left=2)
    say(harmless(row["advice"]))


def _light(picture: dict[str, Any]) -> str:
    if picture["light"] is None:
        return "cannot be read"
    return f"{picture['light']} ({round(picture['azimuth']):+d}° {round(picture['elevation']):+d}°)"


@command(left=WHOLE)
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Somebody who is enrolled.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A name that nobody has.")],
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Give somebody another name.

    Example: lightproof rename Ada "Ada Lovelace"
    """
    with opened(gallery, wait=wait) as register:
        register.rename(old, new)
        leftover = register.leftover()
    return Output([{"old": old, "new": new}], f"{harmless(old)} is now called {harmless(new)}.", leftover)


@command(left=WHOLE)
def forget(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Who is to be forgotten; all of them, or none.")],
    yes: Yes = False,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Forget people: nothing of them is left, and nobody else's template changes.

    People whose photos were all refused are forgotten too. Asks first, unless --yes is given.

    If somebody else is reading the gallery, or if it is on a server, bytes of them may stay for a while: that is said.

    Example: lightproof forget Ada --yes
    """
    from lightproof.gallery.store import check_name

    with opened(gallery, wait=wait) as register:
        with register.store.reading() as view:
            kept = {check_name(name): view.counts_of(name) for name in names}
        photos, refusals = (sum(numbers) for numbers in zip(*kept.values(), strict=True))
        amount = f"{n_photos(photos)} and {refusals:,} refused" if refusals else n_photos(photos)
        listed = _listed(list(kept))
        if not confirmed(f"Forget {listed}, {amount}?", yes):
            raise typer.Exit(1)
        calibrated = _is_calibrated(register)
        n_forgotten = register.forget(*kept)
        leftover = register.leftover()
    text = f"Forgotten: {listed}."
    if calibrated and n_forgotten:
        text += "\nWhat calibration found out with their help is forgotten too: calibrate again."
    rows = [{"name": name, **counts._asdict(), "overwritten": leftover is None} for name, counts in kept.items()]
    return Output(rows, text, leftover)


def _is_calibrated(gallery: Gallery) -> bool:
    try:
        return gallery.calibration().strangers > 0
    except BadGallery:
        # A calibration that cannot be read is forgotten, too.
        return True


def _listed(names: list[str]) -> str:
    more = f" and {n_people(len(names) - MAX_NAMES)} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(harmless, names[:MAX_NAMES])) + more
