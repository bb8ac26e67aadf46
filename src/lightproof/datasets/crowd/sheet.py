"""What the people of a crowd are made of, read off one sheet of whole numbers.

The sheet ``people.png`` holds pages of four fields: the root of the albedo, the normals to the right and down, and the
relief of the head on a coarse grid that reaches beyond the picture. Two pages make up the mean over rendered people,
one tells how far they still differ from what the model can draw, one holds mean gloss and openness, and each of the
others is a direction in which people differ, as long as one standard deviation. It is made of drawings: nobody's photo
has a part in it. :mod:`benchmarks.crowd_sheet` draws it again.
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

COVER: Final = 4
"""Pixels in a cell of the relief, each way."""

RELIEF: Final = (32, 28)
"""Rows and columns of the relief: a sixth of the picture is added on each side."""

COLUMNS: Final = 3 * PIXELS + RELIEF[0] * RELIEF[1]
"""Numbers of a page."""

FIELDS: Final[Ints] = PIXELS * np.arange(1, 4)
"""Where one field of a page ends and the next begins."""

COMPONENTS: Final = 64

LANDMARK_ROWS: Final[tuple[float, ...]] = (0.0, 10.06, 22.66, 53.53, 74.74, 96.0)
"""Top, brows, eyes, base of the nose, mouth and bottom of a face on the sheet: everybody has them there."""

FINER: Final = 64
"""The mean is told in steps so much smaller."""

STEPS: Final[Floats] = np.repeat([0.002, 0.004, 0.004, 0.008], [PIXELS, PIXELS, PIXELS, RELIEF[0] * RELIEF[1]])
"""What a whole number on the sheet stands for, in each field."""


NODES: Final = (12, 11)
"""Rows and columns of the grid by which a face is bent."""

SPACING: Final = 8
"""Pixels from one of its nodes to the next."""


class Sheet(NamedTuple):
    """The model.

    Attributes
    ----------
    mean : ndarray of shape (COLUMNS,)
    components : ndarray of shape (COMPONENTS, COLUMNS)
        Whole numbers: with them sums are exact in whatever order they are taken.
    steps : ndarray of shape (COLUMNS,)
        Times these, and a random number with standard deviation `BELL`, components are how people differ.
    rest : ndarray of shape (3, HEIGHT, WIDTH)
        Standard deviation of what rendered people have beyond the components.
    gloss, openness : ndarray of shape (HEIGHT, WIDTH)
    tones : ndarray of shape (1 + COMPONENTS,)
        The first field over all pixels: its mean, and the sum of each component, a whole number.
    """

    mean: Floats
    components: Floats
    steps: Floats
    rest: Floats
    gloss: Floats
    openness: Floats
    tones: Floats


class Looks(NamedTuple):
    """How strong everything is: the few numbers that were chosen by measurements on photographs.

    Attributes
    ----------
    variety : float32
        Of the shape of people, 1 as the rendered ones.
    paint, bumps : float32
        Of the grain of skins, 1 as far as rendered people differ from what the components draw.
    ambient : float32
        Light from the walls, as a share of the lamp.
    penumbra : float32
        Softness of cast shadows.
    shape : float32
        Pixels by which a person's features lie elsewhere.
    wobble : float32
        The same from one photo to the next.
    noise : float32
        Of the sensor, 1 as in :mod:`lightproof.datasets.synthetic`.
    """

    variety: np.float32
    paint: np.float32
    bumps: np.float32
    ambient: np.float32
    penumbra: np.float32
    shape: np.float32
    wobble: np.float32
    noise: np.float32


@lru_cache(maxsize=1)
def read_sheet() -> Sheet:
    """Read the sheet that comes with the package."""
    picture = read_grey(files(__package__).joinpath("people.png").read_bytes(), where="the sheet of the crowd")
    pages = np.stack([read_record(page) for page in picture.reshape(-1, HEIGHT, picture.shape[1])]).astype(np.int64)
    mean, components = pages[0] * 256 + pages[1] - 2**15, pages[4:] - 128
    tone = mean[:PIXELS].sum() * STEPS[0] / FINER / PIXELS
    extras = pages[3][: 2 * PIXELS].reshape(2, HEIGHT, WIDTH) / 100
    return Sheet(
        mean=(mean * STEPS / FINER).astype(np.float32),
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
