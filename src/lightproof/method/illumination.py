"""Image -> image with less of the light in it, or under another light.

To add a normalizer, enter a function from images in [0, 1] to images in :data:`LIGHTS`; every estimator and command
then offers it by that name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from lightproof.core.images import ROUNDING
from lightproof.core.jit import compiled
from lightproof.core.resampling import blurring
from lightproof.errors import BadImage
from lightproof.types import Array, Floats


def none(images: Floats) -> Floats:
    """Return the images as they are."""
    return images


def log(images: Floats) -> Floats:
    r"""Logarithm of the pixels: :math:`\log(1 + 255 I) / \log 256`, from [0, 1] to [0, 1].

    The authors' released code uses the same curve, scaled to 0..255.
    """
    return np.log1p(255 * _in_unit_range(images, "log")) / images.dtype.type(np.log(256))


ROWS_PER_PIXEL_OF_BLUR: Final = 96
"""Height of a picture whose narrow blur is 1 pixel; the blur grows with the height."""


def tan_triggs(images: Floats, blur: float = 1.0) -> Floats:
    r"""Tan and Triggs' chain: gamma, difference of Gaussians, equal contrast, soft limit.

    .. math::
        D &= I^{0.2} * G_\sigma - I^{0.2} * G_{2 \sigma}, \\
        D &\leftarrow D / \operatorname{mean}(|D|^{0.1})^{10}, \\
        D &\leftarrow D / \operatorname{mean}(\min(10, |D|)^{0.1})^{10}, \\
        T &= 10 \tanh(D / 10).

    X. Tan, B. Triggs, "Enhanced Local Texture Feature Sets for Face Recognition Under Difficult Lighting Conditions",
    IEEE Transactions on Image Processing 19(6), 2010, with its values. Where the article
    leaves a choice, the kernels here have the half width ceil(3 sigma), 3 and 6 pixels for a blur of 1, the outermost
    pixels are repeated beyond the border, and the wider Gaussian is subtracted from the narrower one. An even image
    becomes 0.

    Parameters
    ----------
    images : ndarray of shape (..., h, w)
        Pixels in [0, 1].
    blur : float
        Standard deviation of the narrow Gaussian in pixels; the article has 1.

    Returns
    -------
    ndarray of shape (..., h, w)
        Within (-10, 10).
    """
    curved, sides, smooth = power(_in_unit_range(images, "tan-triggs"), 0.2), images.shape[-2:], []
    for sigma in (blur, 2 * blur):
        down, across = (blurring(side, sigma, math.ceil(3 * sigma), images.dtype) for side in sides)
        smooth.append(down.down(across.across(curved.reshape(-1, *sides))).ravel())
    bands, sizes = np.empty_like(curved), np.empty_like(curved)
    # Contrast that is only rounding must not be raised to full contrast.
    least = images.dtype.type(8 * np.finfo(images.dtype).eps)
    _put_bands(smooth[0], smooth[1], least, bands.ravel(), sizes.ravel())
    # The tenth root of D / c ** 10 is the root of D over c: no root has to be taken twice.
    roots = power(sizes, 0.1)
    roots /= (first := _mean_or_1(roots))
    contrast = first * _mean_or_1(np.minimum(roots, images.dtype.type(10**0.1), out=roots))
    # The power of a tiny contrast may underflow to 0; every pixel is then beyond the limit of 10.
    bands /= np.maximum(10 * contrast**10, np.finfo(images.dtype).tiny)
    limited: Floats = np.tanh(bands, out=bands)
    limited *= 10
    return limited


def tan_triggs_by_height(images: Floats) -> Floats:
    """Apply :func:`tan_triggs` with a blur of one pixel in 96 rows, so that the size of the picture does not matter."""
    return tan_triggs(images, images.shape[-2] / ROWS_PER_PIXEL_OF_BLUR)


LIGHTS: Final[dict[str, Callable[[Floats], Floats]]] = {"none": none, "log": log, "tan-triggs": tan_triggs_by_height}


def relight(images: Floats, alpha: Floats, beta: Floats, b: Floats) -> Floats:
    r"""Put each image under another light by the paper's model: :math:`\alpha I + \beta + b \cdot x`, not clipped.

    Parameters
    ----------
    images : ndarray of shape (n, h, w)
        Grey values 0..255.
    alpha, beta : ndarray of shape (n,)
        Contrast and brightness.
    b : ndarray of shape (n, 2)
        Grey values added from the first row to the last, and from the first column to the last.

    Returns
    -------
    ndarray of shape (n, h, w)
    """
    rows, columns = np.linspace(0, 1, images.shape[1])[:, None], np.linspace(0, 1, images.shape[2])
    alpha, beta, down, across = (part[:, None, None] for part in (alpha, beta, b[:, 0], b[:, 1]))
    relit: Floats = alpha * images + beta + down * rows + across * columns
    return relit


def _in_unit_range(images: Floats, name: str) -> Floats:
    low, high = float(images.min()), float(images.max())
    # Resizing may leave [0, 1] by rounding; a picture in 0..255 leaves it by far and would be bent wrongly.
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise BadImage(f"Pixels for light={name!r}", "within [0, 1]", f"{low:.6g} to {high:.6g}")
    return np.clip(images, 0, 1)


def _mean_or_1(images: Floats) -> Floats:
    """Return the mean of each picture, shape (..., 1, 1); 1 where there is nothing."""
    mean = np.mean(images, axis=(-2, -1), keepdims=True)
    return np.where(mean > 0, mean, images.dtype.type(1))


@compiled
def _put_bands(narrow: Floats, wide: Floats, least: np.floating[Any], bands: Floats, sizes: Floats) -> None:
    """Put narrow - wide into ``bands`` and its absolute value into ``sizes``; below ``least`` both are 0."""
    for k in range(len(bands)):
        band = narrow[k] - wide[k]
        size = abs(band)
        bands[k] = bands.dtype.type(0) if size < least else band
        sizes[k] = sizes.dtype.type(0) if size < least else size


NUMBERS_PER_BLOCK: Final = 512
"""Numbers raised to a power at a time: they stay in the processor's first cache."""

MAX_POWER_ERROR: Final = 2.0**-29
"""Largest relative error of the powers computed here."""

SQRT_HALF_BITS: Final = 0x3F3504F3
"""The bits of the square root of 1/2 as a float32."""


def power(numbers: Floats, exponent: float) -> Floats:
    """Raise numbers to a power between 0 and 1, each rounded as the C library rounds it; the result is contiguous.

    The C library computes one power at a time. Here many are computed together, in float64, by polynomials for the
    logarithm and the exponential that are good to about ten digits. That decides how nearly all of them are rounded to
    float32; only powers next to the middle between two float32 numbers are left to the library.
    """
    if numbers.dtype != np.float32:
        return np.ascontiguousarray(numbers**exponent)
    flat = np.ascontiguousarray(numbers).ravel()
    out = np.empty_like(flat)
    _put_powers(flat, flat.view(np.int32), np.float32(exponent), LOGARITHM_COEFFICIENTS, EXPONENTIAL_COEFFICIENTS, out)
    return out.reshape(numbers.shape)


def _interpolated(function: Callable[[Floats], Floats], degree: int, low: float, high: float) -> Floats:
    fit = Chebyshev.interpolate(function, degree, [low, high])
    return np.asarray(fit.convert(kind=Polynomial).coef)


def _logarithm(square: Floats) -> Floats:
    """Return log2((1 + s) / (1 - s)) / s of the square of s."""
    s = np.sqrt(np.maximum(square, 1e-12))
    return np.asarray(2 * np.arctanh(s) / (s * math.log(2)))


LOGARITHM_COEFFICIENTS: Final = _interpolated(_logarithm, 4, 0.0, (math.sqrt(2) - 1) ** 4)
EXPONENTIAL_COEFFICIENTS: Final = _interpolated(np.exp2, 7, -0.5, 0.5)
"""Of polynomials: of the logarithm, in the square of s = (x - 1) / (x + 1), and of 2 ** x."""


@compiled
def _put_powers(
    numbers: Floats, bits: Array, exponent: np.floating[Any], logarithm: Floats, exponential: Floats, out: Floats
) -> None:
    exponents, mantissas = np.empty(NUMBERS_PER_BLOCK, np.int32), np.empty(NUMBERS_PER_BLOCK, np.int32)
    scale, left = np.empty(NUMBERS_PER_BLOCK, np.int64), np.empty(NUMBERS_PER_BLOCK, np.float64)
    unsure = np.empty(NUMBERS_PER_BLOCK, np.float32)
    for start in range(0, len(numbers), NUMBERS_PER_BLOCK):
        block = slice(start, start + NUMBERS_PER_BLOCK)
        _split_floats(bits[block], exponents, mantissas)
        _put_logarithms(exponents, mantissas.view(np.float32), np.float64(exponent), logarithm, left)
        _split_nearest(left, scale)
        _put_exponentials(left, scale.view(np.float64), exponential, unsure, out[block])
        _recompute_unsure(numbers[block], bits[block], unsure, exponent, out[block])


@compiled
def _split_floats(bits: Array, exponents: Array, mantissas: Array) -> None:
    """Write numbers as ``2 ** exponent * mantissa``, with a mantissa from sqrt(1/2) to sqrt(2)."""
    half = np.int32(SQRT_HALF_BITS)
    for k in range(len(bits)):
        above = bits[k] - half
        exponents[k] = above >> np.int32(23)
        mantissas[k] = (above & np.int32(0x7FFFFF)) + half


@compiled
def _put_logarithms(exponents: Array, mantissas: Floats, factor: float, logarithm: Floats, out: Floats) -> None:
    """Put the binary logarithm of each number, times a factor, into ``out``."""
    a, b, c, d, e = logarithm[0], logarithm[1], logarithm[2], logarithm[3], logarithm[4]
    for k in range(len(out)):
        x = np.float64(mantissas[k])
        s = (x - 1) / (x + 1)
        square = s * s
        out[k] = factor * (exponents[k] + s * (a + square * (b + square * (c + square * (d + square * e)))))


@compiled
def _split_nearest(numbers: Floats, scale: Array) -> None:
    """Subtract from each number the nearest whole one; put the bits of 2 to that power into ``scale``."""
    for k in range(len(numbers)):
        nearest = np.rint(numbers[k])
        numbers[k] -= nearest
        scale[k] = (np.int64(np.int32(nearest)) + np.int64(1023)) << np.int64(52)


@compiled
def _put_exponentials(left: Floats, scale: Floats, exponential: Floats, unsure: Floats, out: Floats) -> None:
    """Put the powers of 2 into ``out``, rounded; ``unsure`` is 0 where no error could round them otherwise."""
    a, b, c, d = exponential[0], exponential[1], exponential[2], exponential[3]
    e, f, g, h = exponential[4], exponential[5], exponential[6], exponential[7]
    for k in range(len(out)):
        x = left[k]
        power = scale[k] * (a + x * (b + x * (c + x * (d + x * (e + x * (f + x * (g + x * h)))))))
        lowest, highest = np.float32(power * (1 - MAX_POWER_ERROR)), np.float32(power * (1 + MAX_POWER_ERROR))
        out[k] = lowest
        unsure[k] = highest - lowest


@compiled
def _recompute_unsure(numbers: Floats, bits: Array, unsure: Floats, exponent: np.floating[Any], out: Floats) -> None:
    """Let the library compute the powers whose rounding is not sure, and those of numbers without a logarithm."""
    where, count = np.empty(NUMBERS_PER_BLOCK, np.intp), 0
    least, beyond = np.int32(0x800000), np.int32(0x7F800000)
    # First find them all, then compute: no computation waits for the next test.
    for k in range(len(out)):
        where[count] = k
        count += (unsure[k] != 0) | (bits[k] < least) | (bits[k] >= beyond)
    for i in range(count):
        out[where[i]] = numbers[where[i]] ** exponent
