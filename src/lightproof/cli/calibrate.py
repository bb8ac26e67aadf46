"""``lightproof calibrate`` and ``lightproof rebuild``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, stream_bar, write_rows
from lightproof.cli.gallery import DEFAULT, WAIT, WHOLE, Place, Rows, Wait, in_words, named, opened
from lightproof.cli.work import stoppable


def calibrate(
    far: Annotated[float, typer.Option(metavar="SHARE", help="Strangers that may be taken for somebody.")] = 0.001,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Find out how well strangers do in this gallery, and set how many of them may be taken for somebody.

    Each person in turn is taken for a stranger and compared with all others.

    Where the faces are kept, so are copies of them under other lights. Do it again when many people were added.

    Example: lightproof calibrate --far 0.01
    """
    import numpy as np

    from lightproof.gallery.results import counted
    from lightproof.matching.calibration import check_far, score_of

    check_rows_place(json_file)
    far = check_far("calibrate", far)
    with stoppable(lambda: WHOLE), opened(gallery, wait=wait) as register:
        found = register.calibrate(far, progress=stream_bar("asking the gallery"))
        threshold = float(score_of(np.asarray(far)))
        row = {**asdict(found), "threshold": threshold}
        write_rows(json_file, [row])
    if json_file == STDOUT:
        return
    if found.strangers:
        copies = f" and {found.relit:,} relit copies" if found.relit else ""
        asked = f"{found.strangers:,} photos{copies} were taken for strangers among {found.people:,} people."
        moved = f"They lead by {abs(found.shift):.2f} {'less' if found.shift < 0 else 'more'} than is usual."
        in_words(f"{asked} {moved}")
    else:
        in_words("With fewer than two people there is nobody to ask: what is usual stands in.")
    in_words(f"From now on 1 in {counted(1 / far)} strangers may be taken for somebody: a score of {threshold:.2f}.")


def rebuild(
    preset: Annotated[
        Literal["robust", "fast"] | None, typer.Option(help="How faces are compared; as before if not given.")
    ] = None,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: Rows = None,
) -> None:
    """Make every template anew from the kept faces, with another preset or by a newer version.

    Only a gallery that keeps photos can be rebuilt (enroll --keep-photos). What calibrate found is dropped.

    Example: lightproof rebuild --preset fast
    """
    from lightproof.gallery import Gallery

    check_rows_place(json_file)
    with stoppable(lambda: WHOLE):
        count = Gallery.rebuild(gallery, preset, progress=stream_bar("making templates"), timeout=wait)
        write_rows(json_file, [{"templates": count}])
    if json_file != STDOUT:
        in_words(f"{count:,} templates were made anew in {printable(named(gallery))}.")
