"""``lightproof compact``."""

from __future__ import annotations

from lightproof.cli.console import STDOUT, check_rows_place, printable, talk, write_rows
from lightproof.cli.gallery import DEFAULT, WAIT, WHOLE, Place, Rows, Wait, in_words, opened
from lightproof.cli.work import stoppable


def compact(gallery: Place = DEFAULT, wait: Wait = WAIT, json_file: Rows = None) -> None:
    """Overwrite what may be left in a large file of people who were forgotten.

    A small gallery does so whenever somebody is forgotten. A large one is packed anew here, which takes minutes and as
    much room again on the disk.

    Example: lightproof compact --gallery city.gallery
    """
    check_rows_place(json_file, gallery)
    with stoppable(lambda: WHOLE), opened(gallery, wait=wait) as register:
        leftover = register.compact()
        write_rows(json_file, [{"gallery": register.place, "overwritten": leftover is None}])
    if json_file != STDOUT:
        in_words("Nothing is left of what was forgotten." if leftover is None else "Packed.")
    if leftover:
        talk.print(printable(leftover), soft_wrap=True)
