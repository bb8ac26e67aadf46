"""Any arrays of the caller -> a stack of grey floats of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from lightproof.core.resampling import gaussian, reach_of, resizing
from lightproof.errors import BadImage
from lightproof.types import Array, Floats

Images: TypeAlias = Array | Sequence[Array]
"""A stack of shape (n, h, w), or a sequence of images of shape (h, w) whose sizes may differ."""

WHITE: Final[dict[str, float]] = {"uint8": 255.0, "uint16": 65535.0}  # by dtype; floats are taken as they are
SMOOTHINGS: Final = ("float", "8-bit")
BRIGHTEST: Final = 10.0  # of floats, whose white is 1; light may exceed it, but a picture in 0..255 is a mistake
ROUNDING: Final = 1e-6  # how far resizing may carry a pixel out of [0, 1]

_LEGAL_DTYPES = "uint8, uint16 or float with white = 1"
_LEGAL_IMAGE = "a grey image of shape (h, w)"
_LEGAL_SHAPE = "a stack of grey images of shape (n, h, w) or a list of grey images of shape (h, w)"


def check_images(X: Any, cell: int = 2, unit: bool = False) -> Images:
    """Refuse what is not a non-empty set of grey images with usable pixels; return the others as arrays.

    An image must hold a patch of side ``cell``. With ``unit``, floats must lie in [0, 1].
    """
    if isinstance(X, np.ndarray) and X.dtype != object:
        _check_stack(X)
        _check_one(X[0], "X[0]", cell)
        for i in _suspects(X, unit):
            _check_pixels(X[i], f"X[{i}]", unit)
        return X
    if isinstance(X, str | bytes) or not hasattr(X, "__len__") or not hasattr(X, "__getitem__"):
        raise BadImage("X", _LEGAL_SHAPE, f"a {type(X).__name__}")
    if len(X) == 0:
        raise BadImage("X", "at least one image", "none")
    images: list[Array] = []
    for i in range(len(X)):
        if isinstance(X[i], np.ma.MaskedArray):
            raise BadImage(f"X[{i}]", _LEGAL_IMAGE, "a masked array; fill it first")
        try:
            images.append(np.asarray(X[i]))
        except ValueError:
            raise BadImage(f"X[{i}]", _LEGAL_IMAGE, f"a ragged {type(X[i]).__name__}") from None
    for i, image in enumerate(images):
        _check_one(image, f"X[{i}]", cell)
        if image.dtype.kind == "f":
            _check_pixels(image, f"X[{i}]", unit)
    return images


def stacked(images: Images) -> Images:
    """Make one array of images of one size and dtype, so that later steps need no copies; return others as they are."""
    if isinstance(images, np.ndarray) or len({(image.shape, image.dtype) for image in images}) != 1:
        return images
    return np.stack(list(images))


def refuse_blank(images: Images) -> None:
    """Refuse an image of one even grey: its distance to everybody is 0."""
    for i, image in enumerate(images):
        # Most often these two pixels differ, and the others need not be read.
        if image[0, 0] == image[image.shape[0] // 2, image.shape[1] // 2] and image.min() == image.max():
            raise BadImage(f"X[{i}]", "a picture of something", f"one even grey, every pixel {image.flat[0]}")


def bring_to_size(images: Images, size: tuple[int, int] | None, dtype: Any, smoothing: str = "float") -> Floats:
    """Scale to white = 1 and resize, smoothing first where the picture shrinks.

    The same linear map as scikit-image's ``resize(image, size, anti_aliasing=True)``, applied to lines, then columns.
    Size None keeps the images as they are; then all must have one size.

    Smoothing ``"8-bit"`` rounds the smoothed picture down to whole grey values before it is sampled, as the image
    library did behind the published figures. It needs uint8 images.
    """
    if isinstance(images, np.ndarray):
        return _resize_stack(images, size or images.shape[1:], dtype, smoothing)
    shapes = [image.shape for image in images]
    if size is None:
        for i, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise BadImage(f"X[{i}]", f"of the size of X[0], {_by(shapes[0])}, when size=None", _by(shape))
        size = shapes[0]
    out = np.empty((len(images), *size), dtype)
    for kind in {(image.shape, image.dtype.str) for image in images}:
        where = [i for i, image in enumerate(images) if (image.shape, image.dtype.str) == kind]
        out[where] = _resize_stack(np.stack([images[i] for i in where]), size, dtype, smoothing)
    return out


def to_bytes(images: Images, size: tuple[int, int]) -> Array:
    """Bring images to one size, as uint8, shape (n, *size); a stack that has both already is returned itself."""
    if isinstance(images, np.ndarray) and images.dtype == np.uint8 and images.shape[1:] == size:
        return images
    if all(image.dtype == np.uint8 and image.shape == size for image in images):
        return np.stack(list(images)) if len(images) else np.zeros((0, *size), np.uint8)
    small = bring_to_size(images, size, np.float32)
    return np.clip(np.rint(255 * small), 0, 255).astype(np.uint8)


def _check_stack(X: Array) -> None:
    if isinstance(X, np.ma.MaskedArray):
        raise BadImage("X", _LEGAL_SHAPE, "a masked array; fill it first")
    if X.ndim == 2:
        advice = "one image is X[None], flattened images need their shape again"
        raise BadImage("X", _LEGAL_SHAPE, f"an array of shape {X.shape}; {advice}")
    if X.ndim == 4 and X.shape[3] == 1:
        raise BadImage("X", _LEGAL_SHAPE, f"shape {X.shape}; drop the last axis with X[..., 0]")
    if X.ndim == 4 or (X.ndim == 3 and X.shape[2] in (3, 4) and min(X.shape[:2]) > 4):
        raise BadImage("X", _LEGAL_SHAPE, f"colour of shape {X.shape}; convert it to grey first")
    if X.ndim != 3:
        raise BadImage("X", _LEGAL_SHAPE, f"an array of shape {X.shape}")
    if len(X) == 0:
        raise BadImage("X", "at least one image", "none")


def _check_one(image: Array, where: str, cell: int) -> None:
    if image.dtype.name not in WHITE and image.dtype.kind != "f":
        hint = "; 0..255 is .astype('uint8')" if image.dtype.kind in "iu" else ""
        raise BadImage(f"Pixels of {where}", _LEGAL_DTYPES, f"{_kind_of(image)}{hint}")
    if image.ndim == 3 and image.shape[2] in (3, 4):
        raise BadImage(where, _LEGAL_IMAGE, f"colour of shape {image.shape}; convert it to grey first")
    if image.ndim != 2:
        raise BadImage(where, _LEGAL_IMAGE, f"an array of shape {image.shape}")
    if min(image.shape) < max(cell, 2):  # a single row has no differences
        why = f" for cell={cell}" if cell > 2 else ""
        raise BadImage(where, f"at least {max(cell, 2)} x {max(cell, 2)} pixels{why}", _by(image.shape))


def _kind_of(image: Array) -> str:
    if image.dtype.kind == "O":
        return type(image.flat[0]).__name__ if image.size else "object"
    return "str" if image.dtype.kind == "U" else image.dtype.name


def _suspects(X: Array, unit: bool) -> Sequence[int]:
    """Return the first image whose pixels may be illegal, or none."""
    if X.dtype.kind != "f":
        return ()
    low, high = (-ROUNDING, 1 + ROUNDING) if unit else (-BRIGHTEST, BRIGHTEST)
    fine = (X.min(axis=(1, 2)) >= low) & (X.max(axis=(1, 2)) <= high)  # not so for nan
    return [int(i) for i in np.flatnonzero(~fine)[:1]]


def _check_pixels(image: Array, where: str, unit: bool) -> None:
    not_finite = np.argwhere(~np.isfinite(image))
    if len(not_finite):
        row, column = (int(i) for i in not_finite[0])
        raise BadImage(f"Pixels of {where}", "finite numbers", f"{image[row, column]} at row {row}, column {column}")
    low, high = float(image.min()), float(image.max())
    if unit and (low < -ROUNDING or high > 1 + ROUNDING):
        raise BadImage(f"Pixels of {where}", "within [0, 1] for this light", f"{low:.6g} to {high:.6g}")
    if max(-low, high) > BRIGHTEST:
        advice = "; divide by 255 first" if low >= 0 and high <= 255 else ""
        raise BadImage(f"Pixels of {where}", _LEGAL_DTYPES, f"floats from {low:.6g} to {high:.6g}{advice}")


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _resize_stack(images: Array, size: tuple[int, ...], dtype: Any, smoothing: str) -> Floats:
    white = WHITE.get(images.dtype.name, 1.0)
    if images.shape[1:] == tuple(size):
        pixels: Floats = images.astype(dtype, copy=False)
        return pixels if white == 1 else pixels / np.dtype(dtype).type(white)
    if smoothing == "8-bit":
        if images.dtype != np.uint8:
            raise BadImage("Pixels for smoothing='8-bit'", "uint8", images.dtype.name)
        images = _smoothed_in_8_bits(images, size)
    down, across = (
        resizing(old, new, smoothing == "float", np.dtype(dtype))
        for old, new in zip(images.shape[1:], size, strict=True)
    )
    # Divided last: grey values up to 255 are exact in float32, their 255th parts are not.
    resized: Floats = across.across(down.down(images)) / np.dtype(dtype).type(white)
    return resized


def _smoothed_in_8_bits(images: Array, size: tuple[int, ...]) -> Array:
    """Smooth before shrinking, each direction rounded down to whole grey values."""
    from scipy import ndimage

    for axis, new in enumerate(size, 1):
        sigma = (images.shape[axis] / new - 1) / 2
        if sigma > 0:
            # The last bit of a weight decides whether an even grey is rounded down to the next one.
            images = ndimage.correlate1d(images, gaussian(sigma, reach_of(sigma)), axis, mode="mirror")
    return images
