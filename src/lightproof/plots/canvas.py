"""What every figure shares: its size and colors, how a face is shown, how a PNG is written."""

from __future__ import annotations

import io
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from lightproof.types import Array

DPI: Final = 110

# Okabe and Ito's colors, their pink darkened: distinct for color-blind eyes, and in print.
BLUE: Final = "#0072b2"
VERMILION: Final = "#d55e00"
PALETTE: Final = (BLUE, VERMILION, "#009e73", "#882255", "#e69f00", "#56b4e9", "#4d4d4d")
GREY: Final = "#6e7781"
FAINT: Final = "#d0d7de"

GREY_STEP: Final = 5  # grey values are rounded to multiples of it: finer steps are noise that fills the file
SEQUENTIAL: Final = "viridis"  # from dark to light, also in grey print

Box = tuple[float, float, float, float]
"""Left, top, width and height of a part of a picture, as shares of the whole."""


def sheet(width: float, height: float) -> Figure:
    """Return an empty white figure, its sides in pixels."""
    return Figure(figsize=(width / DPI, height / DPI), layout="constrained")


def encoded(figure: Figure, dpi: int = DPI) -> bytes:
    """Write a figure as PNG with a palette of colors: a third of the size, and the eye sees no difference."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi)
    pixels = np.asarray(Image.open(drawn).convert("RGB")).astype(np.uint16)
    # White is a whole number of steps, so paper stays white.
    even = ((pixels + GREY_STEP // 2) // GREY_STEP * GREY_STEP).astype(np.uint8)
    small = io.BytesIO()
    Image.fromarray(even).quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def png_of(image: Array, scale: int = 1) -> bytes:
    """Encode a grey (h, w) or colour (h, w, 3) uint8 picture, enlarged pixel by pixel."""
    large = np.repeat(np.repeat(image, scale, axis=0), scale, axis=1)
    out = io.BytesIO()
    Image.fromarray(large).save(out, "PNG")
    return out.getvalue()


def show_face(axes: Axes, image: Array, box: Box | None = None) -> None:
    """Show a grey uint8 picture as it is, and frame a part of it."""
    axes.imshow(image, cmap="gray", vmin=0, vmax=255, interpolation="antialiased")
    no_ticks(axes)
    if box is not None:
        height, width = np.shape(image)
        left, top, wide, high = box
        corner = (left * width - 0.5, top * height - 0.5)
        for color, line in (("white", 3.2), (VERMILION, 1.8)):
            axes.add_patch(Rectangle(corner, wide * width, high * height, fill=False, edgecolor=color, linewidth=line))


def no_ticks(axes: Axes) -> None:
    """Take the ticks and the frame away."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def quiet(axes: Axes) -> None:
    """Keep only the left and the lower line of the frame."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
