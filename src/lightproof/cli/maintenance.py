"""``lightproof calibrate``, ``rebuild``, ``compact``, ``export`` and ``import``: one call on a whole gallery each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from lightproof.cli.command import WHOLE, Output, command, opened, place_name
from lightproof.cli.console import n_people, printable, stream_bar
from lightproof.cli.options import DEFAULT, WAIT, JsonFile, Place, Preset, Wait


@command(left=WHOLE)
def calibrate(
    far: Annotated[float, typer.Option(metavar="SHARE", help="Strangers that may be taken for somebody.")] = 0.001,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Find out how well strangers do in this gallery, and set how many of them may be taken for somebody.

    Each person in turn is taken for a stranger and compared with all others.

    If the faces are kept, so are copies of them under other lights. Do it again when many people were added.

    Example: lightproof calibrate --far 0.01
    """
    import numpy as np

    from lightproof.gallery.decision import counted
    from lightproof.matching.calibration import check_far, score_of

    far = check_far("calibrate", far)
    with opened(gallery, wait=wait) as register:
        result = register.calibrate(far, progress=stream_bar("asking the gallery"))
    threshold = float(score_of(np.asarray(far)))
    if result.strangers:
        copies = f" and {result.relit:,} relit copies" if result.relit else ""
        text = f"{result.strangers:,} photos{copies} were taken for strangers among {result.people:,} people. "
        text += f"They lead by {abs(result.shift):.2f} {'less' if result.shift < 0 else 'more'} than is usual."
    else:
        text = "With fewer than two people there is nobody to ask: using default values."
    text += f"\nFrom now on 1 in {counted(1 / far)} strangers may be taken for somebody: a score of {threshold:.2f}."
    return Output([{**asdict(result), "threshold": threshold}], text)


@command(left=WHOLE)
def rebuild(
    preset: Annotated[Preset | None, typer.Option(help="How faces are compared; as before if not given.")] = None,
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Make every template anew from the kept faces, with another preset or by a newer version.

    Only a gallery that keeps photos can be rebuilt (enroll --keep-photos). What calibrate found is dropped.

    Example: lightproof rebuild --preset fast
    """
    from lightproof.gallery import Gallery

    count = Gallery.rebuild(gallery, preset, progress=stream_bar("making templates"), timeout=wait)
    return Output([{"templates": count}], f"{count:,} templates were made anew in {printable(place_name(gallery))}.")


@command(left=WHOLE, writes=("gallery",))
def compact(gallery: Place = DEFAULT, wait: Wait = WAIT, json_file: JsonFile = None) -> Output:
    """Overwrite what may be left in a large file of people who were forgotten.

    A small gallery does so whenever somebody is forgotten. A large one is packed anew here, which takes minutes and as
    much room again on the disk.

    Example: lightproof compact --gallery city.gallery
    """
    with opened(gallery, wait=wait) as register:
        leftover = register.compact()
        row = {"gallery": register.place, "overwritten": leftover is None}
    return Output([row], "Nothing is left of what was forgotten." if leftover is None else "Packed.", leftover)


@command(left="Nothing was copied.", writes=("other",))
def export(
    other: Annotated[str, typer.Argument(metavar="FILE_OR_URL", help="A place where no gallery is yet.")],
    gallery: Place = DEFAULT,
    json_file: JsonFile = None,
) -> Output:
    """Copy the whole gallery to a new place, such as a file to carry away.

    Example: lightproof export backup.gallery
    """
    with opened(gallery) as register:
        count = register.export(other, progress=stream_bar("copying"))
        row = {"from": register.place, "to": place_name(other), "people": count}
    return Output([row], f"Copied {n_people(count)} to {printable(place_name(other))}.")


@command(left=WHOLE, writes=("gallery",))
def import_(
    other: Annotated[str, typer.Argument(metavar="FILE_OR_URL", help="The other gallery.")],
    gallery: Place = DEFAULT,
    wait: Wait = WAIT,
    json_file: JsonFile = None,
) -> Output:
    """Add everybody of another gallery, made with the same preset: all of them, or nobody.

    If the gallery is not there yet, it becomes a copy of the other one.

    Example: lightproof import backup.gallery
    """
    from lightproof.gallery import Gallery

    if not Gallery.exists(gallery, timeout=wait):
        with opened(other) as source:
            count = source.export(gallery, progress=stream_bar("copying"))
    else:
        with opened(gallery, wait=wait) as target:
            count = target.import_(other, progress=stream_bar("copying"))
    source_name, target_name = place_name(other), place_name(gallery)
    return Output(
        [{"from": source_name, "to": target_name, "people": count}],
        f"Copied {n_people(count)} from {printable(source_name)} to {printable(target_name)}.",
    )
