"""``lightproof evaluate``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from lightproof.cli.command import Output, command, opened
from lightproof.cli.console import bar, check_folder, printable, remark_on_photos, say, show, stdout, write
from lightproof.cli.options import Cropped, JsonFile, Preset
from lightproof.cli.photo_loop import check_finding
from lightproof.errors import BadParameter

EXIT_CODES: Final = (
    "0 there are figures, and what photos were left out is told on stderr; 1 nothing could be done, with a sentence "
    "on stderr"
)

DEFAULTS: Final[dict[str, Any]] = {"preset": "robust", "photos": 1, "draws": 5}
"""How a folder is evaluated as a gallery of its own, if nothing is given."""

OUT: Final = Path("lightproof-evaluate")
"""Where the report goes if no folder is given."""


@command()
def evaluate(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            readable=False,
            help="A folder with a folder of photos for each person; a gallery alone is asked about its own photos.",
        ),
    ] = None,
    cropped: Cropped = False,
    preset: Annotated[Preset | None, typer.Option(help="How faces are compared; robust if not given.")] = None,
    photos: Annotated[
        int | None,
        typer.Option(min=1, help="Photos to enroll of each person; 1 if not given. The others are asked about."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="How often photos and strangers are drawn; 5 times if not given.")
    ] = None,
    gallery: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_URL",
            help="Ask this gallery instead: whose name it does not have is a stranger. LIGHTPROOF_GALLERY is not used.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Folder for the report; {OUT} if not given.")] = None,
    json_file: JsonFile = None,
) -> Output:
    """Find out how well your own photos are recognized, and told from strangers, in which light.

    The people of the folder are tried as a gallery of their own: some photos of everybody are enrolled at random, the
    others asked about; then again, half of the people strangers. This takes two people, one of them with two photos.

    With --gallery nothing is enrolled, and one photo is enough. Give other photos than it was made of, or all are
    recognized. What nobody was asked about is shown as a dash.

    A gallery without a folder is asked about its own photos: each is left out in turn, then its person altogether.

    Example: lightproof evaluate photos --photos 2

    Example: lightproof evaluate new-photos --gallery people.gallery

    Example: lightproof evaluate --gallery people.gallery
    """
    given: dict[str, Any] = {"preset": preset, "photos": photos, "draws": draws}
    for name, value in given.items():
        if gallery is not None and value is not None:
            raise BadParameter("evaluate", name, "given without --gallery", value)
    if folder is not None:
        chosen = {name: value for name, value in given.items() if value is not None}
        return _evaluate_folder(folder, cropped, DEFAULTS | chosen, gallery, out or OUT)
    if gallery is None:
        legal = "a folder with a folder of photos for each person, unless --gallery is given"
        raise BadParameter("evaluate", "DIR", legal, folder)
    if cropped or out is not None:
        name, got = ("cropped", cropped) if cropped else ("out", out)
        raise BadParameter("evaluate", name, "given with a folder of photos", got)
    return _evaluate_own_photos(gallery)


def _evaluate_folder(folder: Path, cropped: bool, settings: dict[str, Any], gallery: str | None, out: Path) -> Output:
    from lightproof.datasets import load_folder
    from lightproof.evaluation import FARS
    from lightproof.evaluation import evaluate as evaluate_faces
    from lightproof.evaluation.evaluation_report import evaluation_page, evaluation_tables, setting, summary

    check_finding(cropped)
    check_folder(out)
    page = out / "report.html"
    with nullcontext() if gallery is None else opened(gallery) as people:
        faces = load_folder(folder, progress=bar("reading photos"), cropped=cropped, few=people is not None)
        remark_on_photos("folder", len(faces), faces.skipped)
        if people is not None:
            # The rate of the gallery itself comes first.
            settings = settings | {"fars": tuple(dict.fromkeys((people.calibration().far, *FARS)))}
        evaluation = evaluate_faces(faces, **settings, progress=bar("comparing"), gallery=people)
    write(page, evaluation_page(evaluation, f"Evaluation of {folder.resolve().name}"))

    def show_all() -> None:
        say(printable(" ".join([setting(evaluation), *summary(evaluation)])))
        for table in evaluation_tables(evaluation):
            show(table)
        stdout.print(f"The report with curves and pictures: {printable(str(page))}")

    return Output(evaluation.rows(), show_all)


def _evaluate_own_photos(gallery: str) -> Output:
    """Ask a gallery about its own photos."""
    from lightproof.evaluation import evaluate_within
    from lightproof.evaluation.evaluation_report import own_photos_table

    with opened(gallery) as people:
        evaluation = evaluate_within(people, progress=bar("asking the gallery"))

    def show_all() -> None:
        say(evaluation.note)
        show(own_photos_table(evaluation))

    return Output(evaluation.rows(), show_all)
