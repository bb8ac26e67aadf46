"""The linear model of the people of a crowd, read from one sheet of whole numbers.

The sheet ``people.png`` holds pages of four fields: the root of the albedo, the normals to the right and down, and the
relief of the head on a coarse grid that reaches beyond the picture. Two pages are the mean over rendered people, one is
the standard deviation that the model cannot draw, one holds mean gloss and openness, and each of the others is a
principal component, as long as one standard deviation. All people of the sheet were rendered, none photographed.
:mod:`benchmarks.crowd_sheet` draws it again.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.crowd.random_fields import BELL
from lightproof.imaging.decode import read_grey
from lightproof.types import Floats, Ints

HEIGHT: Final = 96
WIDTH: Final = 84
PIXELS: Final = HEIGHT * WIDTH

CELL_SIDE: Final = 4  # pixels of a cell of the relief, each way
RELIEF: Final = (32, 28)  # rows and columns of the relief, which is a sixth of the picture wider on each side
COLUMNS: Final = 3 * PIXELS + RELIEF[0] * RELIEF[1]  # numbers on a page
FIELDS: Final[Ints] = PIXELS * np.arange(1, 4)  # where one field of a page ends and the next begins
COMPONENTS: Final = 64

LANDMARK_ROWS: Final[tuple[float, ...]] = (0.0, 10.06, 22.66, 53.53, 74.74, 96.0)
"""Rows of top, brows, eyes, base of the nose, mouth and bottom, the same for all faces of the sheet."""

MEAN_STEPS: Final = 64  # the mean is written in steps smaller by this factor

STEPS: Final[Floats] = np.repeat([0.002, 0.004, 0.004, 0.008], [PIXELS, PIXELS, PIXELS, RELIEF[0] * RELIEF[1]])
"""The unit of the whole numbers of each field."""

NODES: Final = (12, 11)  # rows and columns of the grid that bends a face
SPACING: Final = 8  # pixels from one of its nodes to the next


class Sheet(NamedTuple):
    """The model: a person is the mean plus each component times ``steps`` and a random number of deviation `BELL`.

    ``components`` are whole numbers, so that sums are exact in any order; ``rest``, shape (3, HEIGHT, WIDTH), is the
    standard deviation of what rendered people have beyond them. ``tones`` sum up the first field over all pixels: its
    mean, then the sum of each component, a whole number.
    """

    mean: Floats
    components: Floats
    steps: Floats
    rest: Floats
    gloss: Floats
    openness: Floats
    tones: Floats


class Looks(NamedTuple):
    """The few strengths that were chosen by measurements on photographs."""

    variety: np.float32  # of the differences in shape, 1 as among rendered people
    paint: np.float32  # of the grain of skins, 1 as what the components leave out of rendered people
    bumps: np.float32  # the same of the relief
    ambient: np.float32  # light from the walls, as a share of the lamp
    penumbra: np.float32  # softness of cast shadows
    shape: np.float32  # pixels by which a person's features are moved
    wobble: np.float32  # the same from one photo to the next
    noise: np.float32  # of the sensor, 1 as in :mod:`lightproof.datasets.synthetic`


@lru_cache(maxsize=1)
def read_sheet() -> Sheet:
    """Read the sheet that comes with the package."""
    picture = read_grey(files(__package__).joinpath("people.png").read_bytes(), where="the sheet of the crowd")
    pages = np.stack([read_record(page) for page in picture.reshape(-1, HEIGHT, picture.shape[1])]).astype(np.int64)
    mean, components = pages[0] * 256 + pages[1] - 2**15, pages[4:] - 128
    tone = mean[:PIXELS].sum() * STEPS[0] / MEAN_STEPS / PIXELS
    extras = pages[3][: 2 * PIXELS].reshape(2, HEIGHT, WIDTH) / 100
    return Sheet(
        mean=(mean * STEPS / MEAN_STEPS).astype(np.float32),
        components=components.astype(np.float32),
        steps=(STEPS / BELL).astype(np.float32),
        rest=(pages[2] * STEPS)[: 3 * PIXELS].reshape(3, HEIGHT, WIDTH).astype(np.float32),
        gloss=extras[0].astype(np.float32),
        openness=extras[1].astype(np.float32),
        tones=np.array([tone, *components[:, :PIXELS].sum(axis=1)], np.float64),
    )


def read_record(page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Read the numbers of a page off its picture, shape (COLUMNS,)."""
    fields = page[:, : 3 * WIDTH].reshape(HEIGHT, 3, WIDTH).transpose(1, 0, 2)
    return np.concatenate([fields.ravel(), page[: RELIEF[0], 3 * WIDTH :].ravel()])
