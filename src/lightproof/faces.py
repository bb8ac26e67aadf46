"""Photo and eyes -> the face, upright, cropped and of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from skimage.transform import SimilarityTransform, warp

from lightproof.errors import BadImage, BadParameter
from lightproof.types import Floats, is_whole

FACE_SIZE: Final = (192, 168)
"""Height and width of a face, as in Extended Yale B."""

EYE_ROW: Final = 0.24
"""Where the eyes go, as a fraction of the height."""

EYE_COLUMN: Final = 0.21
"""Where the eye on the left of the picture goes, as a fraction of the width; the other one mirrors it."""

NEAREST_EYES: Final = 4.0
"""Eyes that are fewer pixels apart are a mistake, or too few pixels for a face."""


def align_by_eyes(
    image: NDArray[np.uint8],
    right_eye: Sequence[float],
    left_eye: Sequence[float],
    size: tuple[int, int] = FACE_SIZE,
) -> NDArray[np.uint8]:
    """Turn, scale and move a photo so that the eyes lie level at fixed places.

    The eyes go to 0.24 of the height, and to 0.21 and 0.79 of the width. This is where they lie in Extended Yale B:
    in the mean of its 38 frontally lit faces the eyes are at row 46 of 192, columns 34 and 131 of 168. Where the crop
    reaches beyond the photo, its edge is repeated. A photo that shrinks is smoothed first, so that fine detail does
    not turn into false coarse detail.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
        A grey photo.
    right_eye, left_eye : (x, y)
        Column and row of the subject's eyes, from 0; the right one is on the left of the picture.
    size : tuple of int
        Height and width of the result, at least 16 each.

    Returns
    -------
    ndarray of shape ``size``, uint8

    Examples
    --------
    >>> photo = np.tile(np.arange(100, dtype=np.uint8), (80, 1))
    >>> face = align_by_eyes(photo, (40, 30), (60, 30), size=(40, 34))
    >>> face.shape, int(face[0, 0])
    ((40, 34), 33)
    """
    height, width = check_size("align_by_eyes", size)
    if not isinstance(image, np.ndarray) or image.ndim != 2 or image.dtype != np.uint8:
        kind = f"{image.dtype} of shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise BadImage("`image` of align_by_eyes", "a grey photo of shape (h, w), uint8", kind)
    right, left = (_point(name, eye, image) for name, eye in (("right_eye", right_eye), ("left_eye", left_eye)))
    if left.real - right.real <= 0 or abs(left - right) < NEAREST_EYES:
        legal = f"right of the right eye in the picture, at least {NEAREST_EYES:g} pixels from it"
        raise BadParameter("align_by_eyes", "left_eye", f"{legal} at {_pair(right)}", _pair(left))
    to_right, to_left = _eye_places(height, width)
    # A similarity of the plane is z -> turn * z + move in complex numbers; two points decide it.
    turn = (left - right) / (to_left - to_right)
    move = right - turn * to_right
    back = SimilarityTransform(  # type: ignore[no-untyped-call]
        matrix=np.array([[turn.real, -turn.imag, move.real], [turn.imag, turn.real, move.imag], [0, 0, 1]])
    )
    smooth = gaussian_filter(image.astype(np.float64), max(0.0, (abs(turn) - 1) / 2), mode="nearest")
    face: Floats = warp(smooth, back, output_shape=(height, width), order=1, mode="edge")  # type: ignore[no-untyped-call]
    return np.clip(np.rint(face), 0, 255).astype(np.uint8)


def check_size(owner: str, size: object) -> tuple[int, int]:
    """Refuse a size of a face that is not (height, width) of at least 16 each."""
    if isinstance(size, tuple | list) and len(size) == 2 and all(is_whole(side, 16) for side in size):
        return int(size[0]), int(size[1])
    raise BadParameter(owner, "size", "(height, width), two whole numbers of at least 16", size)


def _eye_places(height: int, width: int) -> tuple[complex, complex]:
    # Half a pixel off, because a fraction counts from the edge of the picture and an index from the first middle.
    row = EYE_ROW * height - 0.5
    return complex(EYE_COLUMN * width - 0.5, row), complex((1 - EYE_COLUMN) * width - 0.5, row)


def _point(name: str, eye: Sequence[float], image: NDArray[np.uint8]) -> complex:
    height, width = image.shape
    try:
        x, y = (float(number) for number in eye)
    except (TypeError, ValueError):
        x = y = np.nan
    if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
        legal = f"(x, y) inside the photo of {height} x {width} pixels"
        raise BadParameter("align_by_eyes", name, legal, tuple(eye) if isinstance(eye, np.ndarray) else eye)
    return complex(x, y)


def _pair(point: complex) -> tuple[float, float]:
    return point.real, point.imag
