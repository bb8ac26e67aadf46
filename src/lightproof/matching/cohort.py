"""The cohort: rendered people whose scores every other score is compared with.

A closeness means little without the closeness to other people in the same light. The sixty people on the sheet
``cohort.png`` are these others, also for a gallery of one person; ``cohort_shaped.png`` shows them brought to the
common shape by their meshes. They are drawings: no photo of a person is shipped. :mod:`benchmarks.cohort` draws both
again.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.imaging.decode import read_grey
from lightproof.imaging.detection import AlignedFace

SHEET: Final = "cohort.png"
SHAPED_SHEET: Final = "cohort_shaped.png"

N_FACES: Final = 60

FACE_SHAPE: Final = (96, 84)
"""Rows and columns of a face on the sheet."""

FACES_PER_ROW: Final = 10
"""Faces in a row of the sheet."""

SEED: Final = 77
"""Seed of :func:`lightproof.datasets.make_relit_faces`, with the light in front."""


@cache
def cohort_faces() -> tuple[AlignedFace, ...]:
    """Return the rendered people, 60 faces of 96 x 84 pixels, with a mesh."""
    images, shaped = (_read_sheet(name) for name in (SHEET, SHAPED_SHEET))
    return tuple(map(AlignedFace.found, images, shaped))


def _read_sheet(name: str) -> NDArray[np.uint8]:
    sheet = read_grey(files(__package__).joinpath(name).read_bytes(), where="the sheet of rendered people")
    height, width = FACE_SHAPE
    rows = sheet.reshape(N_FACES // FACES_PER_ROW, height, FACES_PER_ROW, width)
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).reshape(N_FACES, height, width)
