"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

DEFAULT: Final = "people.gallery"
"""The place of the gallery if none is given."""

WAIT: Final = 30.0
"""Seconds to wait for other writers."""

Place = Annotated[
    str,
    typer.Option(
        "--gallery",
        metavar="FILE_OR_URL",
        envvar="LIGHTPROOF_GALLERY",
        show_envvar=False,
        help="The gallery, a file or postgresql://USER@HOST/DATABASE; LIGHTPROOF_GALLERY if not given.",
    ),
]
Photos = Annotated[
    list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photographs, of any size and format.")
]
Cropped = Annotated[bool, typer.Option("--cropped", help="The pictures are faces already: nothing is looked for.")]
Several = Annotated[
    Literal["largest", "refuse"], typer.Option(help="Of several faces take the largest, or refuse the photo.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that are there already.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write rows to this file; - is stdout, and no table.")
]
Far = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Strangers that may be accepted; what calibrate set, or 0.001, if not given."),
]
Preset = Literal["robust", "fast"]
Wait = Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for other writers.")]
Retry = Annotated[bool, typer.Option("--retry", help="Try refused photos of the folder again.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1 is one for each core.")]
OnCluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
