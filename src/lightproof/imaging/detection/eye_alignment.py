"""Photo and eyes -> upright crop of one size; crop -> the same crop as if its eyes had been found a little off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from lightproof.errors import BadImage, BadParameter
from lightproof.types import Floats, is_whole

Pixel = TypeVar("Pixel", bound=np.generic)

FACE_SIZE: Final = (192, 168)  # height and width, as in Extended Yale B
EYE_ROW: Final = 0.24  # as a fraction of the height
EYE_COLUMN: Final = 0.21  # of the eye on the left of the picture, as a fraction of the width; the other one mirrors it
MIN_ALIGNABLE_PIXELS: Final = 4.0  # smallest legal eye distance; nearer eyes are a mistake, or of too small a face
MAX_JITTER: Final = 0.15  # standard deviation, as a share of the eye distance; beyond it eyes could change sides


def align_by_eyes(
    image: NDArray[np.uint8],
    right_eye: Sequence[float],
    left_eye: Sequence[float],
    size: tuple[int, int] = FACE_SIZE,
) -> NDArray[np.uint8]:
    """Turn, scale and move a photo so that the eyes lie level at fixed places.

    The eyes go to 0.24 of the height, and to 0.21 and 0.79 of the width. This is where they lie in Extended Yale B:
    in the mean of its 38 frontally lit faces the eyes are at row 46 of 192, columns 34 and 131 of 168. Where the crop
    reaches beyond the photo, the photo is reflected. A photo that shrinks is smoothed first, so that fine detail does
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
    from scipy.ndimage import gaussian_filter  # loaded when it is needed: not for faces that are cut out already

    height, width = check_size("align_by_eyes", size)
    check_photo("align_by_eyes", image)
    right, left = (_point(name, eye, image) for name, eye in (("right_eye", right_eye), ("left_eye", left_eye)))
    if left.real - right.real <= 0 or abs(left - right) < MIN_ALIGNABLE_PIXELS:
        legal = f"right of the right eye in the picture, at least {MIN_ALIGNABLE_PIXELS:g} pixels from it"
        raise BadParameter("align_by_eyes", "left_eye", f"{legal} at {_pair(right)}", _pair(left))
    turn, move = _similarity(right, left, height, width)
    blur = max(0.0, (abs(turn) - 1) / 2)
    corner, part = _needed(image, turn, move, (height, width), margin=int(4 * blur) + 2)
    smooth = gaussian_filter(part.astype(np.float64), blur, mode="reflect")
    return _of_kind(_cut(smooth, turn, move - corner, (height, width)), image.dtype)


def jitter_by_eyes(images: NDArray[Pixel], share: float = 0.04, seed: int = 0) -> NDArray[Pixel]:
    """Cut crops again as if a detector had found their eyes, each a little beside its place.

    Both eyes start where :func:`align_by_eyes` puts them; independent Gaussians move each in each direction. The crop
    is then turned, scaled and moved so that the moved eyes lie where eyes belong. Beyond the old crop, it is reflected.

    Parameters
    ----------
    images : ndarray of shape (n, h, w), uint8 or float
        Crops of at least 16 x 16 pixels.
    share : float
        Standard deviation of the Gaussian as a share of the eye distance, 0 to 0.15.
    seed : int
        The moves of image i depend on the seed and on i alone.

    Returns
    -------
    ndarray of the same shape and dtype

    Examples
    --------
    >>> crops = np.tile(np.arange(64, dtype=np.uint8), (2, 64, 1))
    >>> jitter_by_eyes(crops)[0, 0, ::16].tolist()
    [0, 16, 33, 49]
    """
    _check_crops(images)
    number = isinstance(share, int | float | np.integer | np.floating) and not isinstance(share, bool)
    if not number or not 0 <= share <= MAX_JITTER:
        raise BadParameter("jitter_by_eyes", "share", f"a number from 0 to {MAX_JITTER:g}", share)
    if not is_whole(seed, 0):
        raise BadParameter("jitter_by_eyes", "seed", "a whole number of at least 0", seed)
    height, width = images.shape[1:]
    right, left = eye_places(height, width)
    # One stream of numbers for all: the first images get the same ones however many follow.
    moves = np.random.default_rng(seed).normal(0.0, share * abs(left - right), (len(images), 2, 2))
    out = np.empty_like(images)
    for i, (right_off, left_off) in enumerate(moves @ [1, 1j]):
        turn, move = _similarity(right + right_off, left + left_off, height, width)
        out[i] = _of_kind(_cut(images[i].astype(np.float64), turn, move, (height, width)), images.dtype)
    return out


def check_photo(owner: str, image: object) -> None:
    """Refuse what is not a grey photo."""
    if not isinstance(image, np.ndarray) or image.ndim != 2 or image.dtype != np.uint8:
        kind = f"{image.dtype} of shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise BadImage(f"`image` of {owner}", "a grey photo of shape (h, w), uint8", kind)


def check_size(owner: str, size: object) -> tuple[int, int]:
    """Refuse a size of a face that is not (height, width) of at least 16 each."""
    if isinstance(size, tuple | list) and len(size) == 2 and all(is_whole(side, 16) for side in size):
        return int(size[0]), int(size[1])
    raise BadParameter(owner, "size", "(height, width), two whole numbers of at least 16", size)


def _check_crops(images: object) -> None:
    legal = "crops of shape (n, h, w), uint8 or float, of at least 16 x 16 pixels"
    if not isinstance(images, np.ndarray):
        raise BadImage("`images` of jitter_by_eyes", legal, type(images).__name__)
    legal_dtype = images.dtype == np.uint8 or np.issubdtype(images.dtype, np.floating)
    if not legal_dtype or images.ndim != 3 or min(images.shape[1:]) < 16:
        raise BadImage("`images` of jitter_by_eyes", legal, f"{images.dtype} of shape {images.shape}")


def _similarity(right: complex, left: complex, height: int, width: int) -> tuple[complex, complex]:
    """Return the similarity from the eyes of a crop to the eyes in a photo: z -> turn * z + move."""
    to_right, to_left = eye_places(height, width)
    # A similarity of the plane is linear in complex numbers; two points decide it.
    turn = (left - right) / (to_left - to_right)
    return turn, right - turn * to_right


def _needed(
    image: NDArray[np.uint8], turn: complex, move: complex, size: tuple[int, int], margin: int
) -> tuple[complex, NDArray[np.uint8]]:
    """Return the part of a photo that a crop is read from, and its corner.

    Otherwise a photo of many million pixels would be blurred as a whole for the sake of one face.
    """
    height, width = size
    corners = turn * np.array([0, width - 1, (height - 1) * 1j, width - 1 + (height - 1) * 1j]) + move
    (left, top), part = needed_part(image, corners.real, corners.imag, margin)
    return complex(left, top), part


def needed_part(
    image: NDArray[np.uint8], columns: Floats, rows: Floats, margin: int
) -> tuple[tuple[int, int], NDArray[np.uint8]]:
    """Return the part of a photo that holds some places, as far as the photo reaches, and its left and top."""
    top, bottom = _reach(rows, margin, image.shape[0])
    left, right = _reach(columns, margin, image.shape[1])
    return (left, top), image[top:bottom, left:right]


def _reach(places: Floats, margin: int, length: int) -> tuple[int, int]:
    """Return the first and last pixel needed along a side, and what is reflected beyond its ends."""
    first, last = int(np.floor(places.min())) - margin, int(np.ceil(places.max())) + margin + 1
    before, after = max(0, -first), max(0, last - length)
    return max(0, min(first, length - after - 1)), min(length, max(last, before + 1))


def _cut(image: Floats, turn: complex, move: complex, size: tuple[int, int]) -> Floats:
    """Interpolate the photo, reflected beyond its ends, bilinearly at turn * z + move for every pixel z of the crop."""
    from skimage.transform import SimilarityTransform, warp

    back = SimilarityTransform(  # type: ignore[no-untyped-call]
        matrix=np.array([[turn.real, -turn.imag, move.real], [turn.imag, turn.real, move.imag], [0, 0, 1]])
    )
    face: Floats = warp(image, back, output_shape=size, order=1, mode="reflect")  # type: ignore[no-untyped-call]
    return face


def _of_kind(face: Floats, dtype: np.dtype[Pixel]) -> NDArray[Pixel]:
    return (np.clip(np.rint(face), 0, 255) if dtype == np.uint8 else face).astype(dtype)


def eye_places(height: int, width: int) -> tuple[complex, complex]:
    """Return column + 1j * row of the right and the left eye in a crop of this size."""
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
