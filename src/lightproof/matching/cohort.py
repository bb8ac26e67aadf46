"""Made-up people to compare with: what a face has in common with anybody's.

A closeness says little until one knows how close just anybody comes in this light. The sixty rendered people on the
sheet ``cohort.png`` are that anybody, also for a gallery of one person. They are drawings: nobody's photo is shipped.
:mod:`benchmarks.cohort` draws the sheet again.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.imaging.decode import read_grey

COUNT: Final = 60

SIZE: Final = (96, 84)
"""Rows and columns of a face on the sheet."""

ACROSS: Final = 10
"""Faces in a row of the sheet."""

SEED: Final = 77
"""Of :func:`lightproof.datasets.make_relit_faces`, with the light in front."""


@cache
def cohort_faces() -> NDArray[np.uint8]:
    """Return the rendered people, shape (60, 96, 84)."""
    sheet = read_grey(files(__package__).joinpath("cohort.png").read_bytes(), where="the sheet of rendered people")
    height, width = SIZE
    rows = sheet.reshape(COUNT // ACROSS, height, ACROSS, width)
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).reshape(COUNT, height, width)
