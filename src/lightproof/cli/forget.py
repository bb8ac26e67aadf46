"""``lightproof forget``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, talk, write_rows
from lightproof.cli.gallery import (
    DEFAULT,
    WAIT,
    WHOLE,
    Place,
    Rows,
    Wait,
    Yes,
    agreed,
    counted_people,
    counted_photos,
    in_words,
    opened,
    shown,
)
from lightproof.cli.work import stoppable
from lightproof.errors import BadGallery

if TYPE_CHECKING:
    from lightproof.gallery import Gallery
    from lightproof.gallery.store import Forgotten

EXIT_CODES: Final = (
    "Exit codes: 0 they are forgotten, and if bytes of them could not be overwritten, that is said; 1 nothing was "
    "changed, with a sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

NAMED: Final = 5
"""People who are named in the question."""


def forget(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Who is to be forgotten; all of them, or none.")],
    yes: Yes = False,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Forget people: nothing of them is left, and nobody else's template changes.

    Whose photos were all refused are forgotten too. Asks first, unless --yes is given.

    If somebody else is reading the gallery, or if it is on a server, bytes of them may stay for a while: that is said.

    Example: lightproof forget Ada --yes
    """
    check_rows_place(json_file)
    with stoppable(lambda: WHOLE), opened(gallery, wait=wait) as register:
        known = _known(register, names)
        if not agreed(f"Forget {_named(list(known))}, {_counted(known.values())}?", yes):
            talk.print("Nothing was changed.")
            raise typer.Exit(1)
        calibrated = _is_calibrated(register)
        photos = register.forget(*known)
        leftover = register.leftover()
        rows = [{"name": name, **kept._asdict(), "overwritten": leftover is None} for name, kept in known.items()]
        write_rows(json_file, rows)
    if json_file != STDOUT:
        in_words(f"Forgotten: {_named(list(known))}.")
        if calibrated and photos:
            in_words("What calibration found out with their help is forgotten too: calibrate again.")
    if leftover:
        talk.print(printable(leftover), soft_wrap=True)


def _known(gallery: Gallery, names: list[str]) -> dict[str, Forgotten]:
    """How much there is of each, by the name as it is kept."""
    from lightproof.gallery.store import check_name

    with gallery.store.reading() as view:
        return {check_name(name): view.kept_of(name) for name in names}


def _is_calibrated(gallery: Gallery) -> bool:
    try:
        return gallery.calibration().strangers > 0
    except BadGallery:
        # It goes with them, whatever it says.
        return True


def _counted(kept: Iterable[Forgotten]) -> str:
    photos, refusals = (sum(numbers) for numbers in zip(*kept, strict=True))
    return f"{counted_photos(photos)} and {refusals:,} refused" if refusals else counted_photos(photos)


def _named(names: list[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(map(shown, names[:NAMED]))} and {counted_people(len(names) - NAMED)} more"
    return ", ".join(map(shown, names))
