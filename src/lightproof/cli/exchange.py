"""``lightproof export`` and ``lightproof import``."""

from __future__ import annotations

from typing import Annotated

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, stream_bar, write_rows
from lightproof.cli.gallery import DEFAULT, WAIT, WHOLE, Place, Rows, Wait, counted_people, in_words, named, opened
from lightproof.cli.work import stoppable

Other = Annotated[str, typer.Argument(metavar="FILE_OR_URL", help="The other gallery.")]


def export(
    other: Annotated[str, typer.Argument(metavar="FILE_OR_URL", help="A place where no gallery is yet.")],
    gallery: Place = DEFAULT,
    json_file: Rows = None,
) -> None:
    """Copy the whole gallery to a new place, such as a file to carry away.

    Example: lightproof export backup.gallery
    """
    check_rows_place(json_file, other)
    with stoppable(lambda: "Nothing was copied."), opened(gallery) as register:
        count = register.export(other, progress=stream_bar("copying"))
        row = {"from": register.place, "to": named(other), "people": count}
        write_rows(json_file, [row])
    if json_file != STDOUT:
        in_words(f"Copied {counted_people(count)} to {printable(named(other))}.")


def import_(
    other: Other,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Add everybody of another gallery, made with the same preset: all of them, or nobody.

    Where the gallery is not there yet, it becomes a copy of the other one.

    Example: lightproof import backup.gallery
    """
    from lightproof.gallery import Gallery

    check_rows_place(json_file, gallery)
    with stoppable(lambda: WHOLE):
        if not Gallery.exists(gallery, timeout=wait):
            with opened(other) as source:
                count = source.export(gallery, progress=stream_bar("copying"))
        else:
            with opened(gallery, wait=wait) as target:
                count = target.import_(other, progress=stream_bar("copying"))
        write_rows(json_file, [{"from": named(other), "to": named(gallery), "people": count}])
    if json_file != STDOUT:
        in_words(f"Copied {counted_people(count)} from {printable(named(other))} to {printable(named(gallery))}.")
