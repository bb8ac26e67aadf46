"""``lightproof forget``."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from lightproof.cli.console import STDOUT, check_rows_place, talk, write_rows
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

EXIT_CODES: Final = (
    "Exit codes: 0 nothing is left of them; 1 nothing was changed, with a sentence on stderr; 2 a wrong call; "
    "130 stopped by Ctrl-C."
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

    Asks first, unless --yes is given.

    Example: lightproof forget Ada --yes
    """
    check_rows_place(json_file)
    with stoppable(lambda: WHOLE), opened(gallery, wait=wait) as register:
        known = [register.store.person(name) for name in dict.fromkeys(names)]
        photos = counted_photos(sum(person.photos for person in known))
        if not agreed(f"Forget {_named([person.name for person in known])}, {photos}?", yes):
            talk.print("Nothing was changed.")
            raise typer.Exit(1)
        calibrated = register.calibration().strangers > 0
        register.forget(*(person.name for person in known))
        rows = [{"name": person.name, "photos": person.photos} for person in known]
        write_rows(json_file, rows)
    if json_file != STDOUT:
        in_words(f"Forgotten: {_named([str(row['name']) for row in rows])}.")
        if calibrated:
            in_words("What calibration found out with their help is forgotten too: calibrate again.")


def _named(names: list[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(map(shown, names[:NAMED]))} and {counted_people(len(names) - NAMED)} more"
    return ", ".join(map(shown, names))
