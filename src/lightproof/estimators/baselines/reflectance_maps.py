"""Picture -> picture in which the light counts less, by the rivals of the paper.

Every function takes ``images`` of shape (n, h, w) with pixels in [0, 1] and returns the same shape and dtype. Beyond
the border the outermost pixels are repeated, unless said otherwise.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy import fft, ndimage

from lightproof.types import Array, Floats

DARKEST: Final = 0.01 / 255
"""Added to the denominator of WeberFace: a hundredth of a grey value."""

MIDDLE_GREY: Final = 128
"""Mean grey value that Log + DCT gives to every picture."""


def weber_face(images: Floats, sigma: float = 1, alpha: float = 2) -> Floats:
    r"""WeberFace: how much a pixel differs from its neighbors, against its own brightness; in (-pi / 2, pi / 2).

    .. math:: \mathrm{WF}(x) = \arctan\Bigl(\alpha \sum_{i \in N(x)} \frac{F(x) - F(x_i)}{F(x) + 0.01/255}\Bigr),
        \qquad F = I * G_\sigma,

    with the 3 x 3 neighborhood N. More light multiplies F and leaves the quotient as it is.

    B. Wang, W. Li, W. Yang, Q. Liao, "Illumination Normalization Based on Weber's Law With Application to Face
    Recognition", IEEE Signal Processing Letters 18(8), 2011. The hundredth of a grey value in the denominator, which
    keeps black pixels finite, the kernel of half width ceil(3 sigma), the neighborhood mirrored at the border (edge
    pixels repeated) and the default values are those of the INface toolbox, whose min-max scaling to 0..255 is left
    out.

    Parameters
    ----------
    sigma : float
        Of the smoothing, in pixels.
    alpha : float
        Stretches the quotient.
    """
    smooth = ndimage.gaussian_filter(images, (0, sigma, sigma), mode="nearest", radius=(0, *[math.ceil(3 * sigma)] * 2))
    around = ndimage.uniform_filter(smooth, (1, 3, 3), mode="reflect")
    angles: Floats = np.arctan(alpha * 9 * (smooth - around) / (smooth + images.dtype.type(DARKEST)))
    return angles


def gradient_face(images: Floats, sigma: float = 0.75) -> Floats:
    r"""GradientFace: the direction of the gradient, which more light does not turn.

    .. math:: \mathrm{GF} = \arctan\frac{I * \partial_y G_\sigma}{I * \partial_x G_\sigma} \in [0, 2 \pi),

    taken in the right quadrant, x to the right, y downward. Where there is no gradient the angle is 0. Angles wrap: 0.1
    and 6.2 are neighbors.

    T. Zhang, Y. Tang, B. Fang, Z. Shang, X. Liu, "Face Recognition Under Varying Illumination Using Gradientfaces",
    IEEE Transactions on Image Processing 18(11), 2009. The half width of the kernels, floor(3.5 sigma), and sigma are
    those of the INface toolbox, which gives the same angles in [-pi, pi].

    Parameters
    ----------
    sigma : float
        Of the smoothing, in pixels.
    """
    reach = (0, *[max(1, math.floor(3.5 * sigma))] * 2)
    across, down = (
        ndimage.gaussian_filter(images, (0, sigma, sigma), order=order, mode="nearest", radius=reach)
        for order in ((0, 0, 1), (0, 1, 0))
    )
    # A negative zero would point the other way.
    angles: Floats = np.mod(np.arctan2(down + 0.0, across + 0.0), images.dtype.type(2 * np.pi))
    angles[angles >= 2 * np.pi] = 0  # a hair below 0 is rounded up to a full turn
    return angles


def multiscale_log_differences(images: Floats, scales: int = 6) -> Floats:
    r"""MSLDE, multiscale logarithm difference edgemaps: pixels against rings around them, in the logarithm.

    .. math:: \mathrm{MSLDE}(x) = \sum_{k=1}^{K} \frac{1}{k}\, \frac{1}{|R_k|} \sum_{y \in R_k(x)} (L(x) - L(y)),
        \qquad L = \log(1 + 255 I),

    with :math:`R_k(x)` the square ring of the 8 k pixels at Chebyshev distance k. More light adds to L nearly a
    constant, which the differences lose.

    Z.-R. Lai, D.-Q. Dai, C.-X. Ren, K.-K. Huang, "Multiscale Logarithm Difference Edgemaps for Face Recognition
    Against Varying Lighting Conditions", IEEE Transactions on Image Processing 24(6), 2015. **No public parameters
    exist**: the article's sub-regions, their number and their weights, which it learns on other pictures, are nowhere
    to be had. The rings, K = 6, the mean over a ring and the weights 1 / k are ours, so this is in the style of MSLDE,
    not a copy of it.

    Parameters
    ----------
    scales : int
        Number of rings K.
    """
    logs = _logs(images)
    out = np.zeros_like(logs)
    inner = logs
    for k in range(1, scales + 1):
        side = 2 * k + 1
        square = ndimage.uniform_filter(logs, (1, side, side), mode="nearest") * side**2
        out += (logs - (square - inner) / (8 * k)) / k
        inner = square
    return out


def log_dct(images: Floats, discard: int = 50) -> Floats:
    r"""Log + DCT: the logarithm of the picture without its slowest waves, which the light makes.

    The coefficients of the orthonormal two-dimensional discrete cosine transform of :math:`\log(1 + 255 I)` are put in
    zig-zag order. The first becomes :math:`\log(128) \sqrt{h w}`, the same mean for every picture; the next ``discard``
    become 0; the rest is transformed back. The result is still a logarithm.

    W. Chen, M. J. Er, S. Wu, "Illumination Compensation and Normalization for Robust Face Recognition Using Discrete
    Cosine Transform in Logarithm Domain", IEEE Transactions on Systems, Man, and Cybernetics B 36(2), 2006. ``discard``
    is that of the INface toolbox, whose min-max scaling before and after the logarithm is left out. A coefficient
    counts waves per picture, not per pixel, so the same number fits every picture size.

    Parameters
    ----------
    discard : int
        Coefficients set to 0, besides the first.
    """
    waves = fft.dctn(_logs(images), axes=(1, 2), norm="ortho")
    height, width = images.shape[1:]
    rows, columns = zig_zag(height, width)[: discard + 1].T
    waves[:, rows, columns] = 0
    waves[:, 0, 0] = math.log(MIDDLE_GREY) * math.sqrt(height * width)
    return np.asarray(fft.idctn(waves, axes=(1, 2), norm="ortho"))


def zig_zag(height: int, width: int) -> Array:
    """List rows and columns diagonal by diagonal, to and fro, as JPEG does; shape (height * width, 2).

    Examples
    --------
    >>> zig_zag(2, 3).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [1, 2]]
    """
    rows, columns = np.divmod(np.arange(height * width), width)
    diagonals = rows + columns
    order = np.lexsort((np.where(diagonals % 2, rows, columns), diagonals))
    return np.stack([rows[order], columns[order]], axis=1)


def stretch(images: Floats) -> Floats:
    """Scale each picture from its darkest to its brightest pixel, in 255 steps rounded up, to [0, 1].

    What the INface toolbox does to every picture before and after its methods, there to 0..255. An even picture
    becomes 0.
    """
    low = images.min(axis=(1, 2), keepdims=True)
    reach = images.max(axis=(1, 2), keepdims=True) - low
    steps: Floats = np.ceil(255 * (images - low) / np.where(reach > 0, reach, 1)) / 255
    return steps.astype(images.dtype, copy=False)


def _logs(images: Floats) -> Floats:
    return np.asarray(np.log1p(255 * np.clip(images, 0, 1)))
