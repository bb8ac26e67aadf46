"""``lightproof verify``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, write_rows
from lightproof.cli.gallery import DEFAULT, Cropped, Far, Place, Rows, check_share, in_words, is_new, opened, shown
from lightproof.cli.photos import check_finding
from lightproof.cli.work import stoppable

if TYPE_CHECKING:
    from lightproof.gallery import Gallery

EXIT_CODES: Final = (
    "Exit codes: 0 there is an answer, the same person or not; 1 a photo was refused, or nothing could be done, "
    "with a sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)


def verify(
    photo: Annotated[Path, typer.Argument(metavar="PHOTO", readable=False, help="A photo.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", readable=False, help="Another photo, of the same person?")
    ] = None,
    person: Annotated[str | None, typer.Option(metavar="NAME", help="In place of OTHER: somebody enrolled.")] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    far: Far = None,
    json_file: Rows = None,
) -> None:
    """Tell whether two photos show the same person, or whether a photo shows somebody who is enrolled.

    Two photos are compared alone, whoever is enrolled; this needs no gallery.

    Example: lightproof verify passport.jpg door.jpg

    Example: lightproof verify door.jpg --person Ada
    """
    if (other is None) == (person is None):
        raise typer.BadParameter("OTHER or --person NAME must be given, one of the two.")
    check_rows_place(json_file)
    check_share("verify", far)
    with stoppable(lambda: "Nothing was written."), _any(gallery, needed=person is not None) as register:
        check_finding(cropped)
        found = register.verify(photo, other, person=person, cropped=cropped, far=far)
        against = {"person": person} if other is None else {"other": str(other)}
        write_rows(json_file, [{"photo": str(photo), **against, **asdict(found), "sentence": found.sentence}])
    if json_file != STDOUT:
        with_whom = shown(person) if other is None else printable(other.name)
        scores = f"Score {found.score:.2f}; from {found.threshold:.2f} on it is taken for the same person."
        in_words(f"{printable(photo.name)} and {with_whom}\n{found.sentence}\n{scores}")


@contextmanager
def _any(place: str, needed: bool) -> Iterator[Gallery]:
    """Open the gallery; where none is needed and nobody named one, an empty one does."""
    if needed or place != DEFAULT or not is_new(place):
        with opened(place) as gallery:
            yield gallery
    else:
        with TemporaryDirectory() as folder, opened(f"{folder}/empty.gallery", create=True) as gallery:
            yield gallery
