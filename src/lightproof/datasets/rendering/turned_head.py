"""A head that is turned: where each pixel of its photo lies on the surface, and what is behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, shift
from scipy.sparse import csr_array

from lightproof.core.jit import compiled
from lightproof.datasets.rendering import CROP, EYE_LINE, UNIT, Canvas, Field, in_pixels, margin_of, mix, rise
from lightproof.datasets.rendering.surface import Surface, make_surface

BEYOND: Final = (110, 60, 56)
"""Canvas pixels above, below and on each side of a frontal crop's canvas: up to the crown, and behind the ears."""

EYES_BELOW_TOP: Final = EYE_LINE * CROP[0] / UNIT  # of a crop, in face units

SUBPIXELS: Final = 2  # a pixel is the mean of so many by so many, so that no outline has steps
MIN_AREA: Final = 0.01  # subpixels; the usual half cell of the grid has 2

# The neck, in face units: it stands upright however the head turns.
NECK: Final = np.array([0.0, 1.5, -1.6])  # where the head turns on it
NECK_WIDTH: Final = 0.95  # half of it
NECK_DEPTH: Final = 1.1  # from the jaw back to the neck, for the shadow of the head
ROOM: Final = 0.05  # albedo of what is far behind


@dataclass(frozen=True, eq=False)
class TurnedHead:
    """One person from one side: the visible part of the surface, and how it is put into the photo."""

    surface: Surface
    turn: Field  # rotation from the head to the camera, (3, 3)
    weights: csr_array  # share of each pixel of the surface in each pixel of the photo
    cover: Field  # share of each pixel of the photo that the head covers, (h, w)
    neck: Field  # place across the neck of each pixel, -1 to 1 from side to side, (h, w)
    neck_share: Field  # 1 where there is neck behind the head, 0 where there is the room
    neck_albedo: float
    pitch: tuple[float, float]  # height and width of a pixel of the photo in face units

    def photo(self, radiance: Field, toward: NDArray[np.float64], walls: float) -> Field:
        """Put the light from the surface, and from what is behind it, into the photo, (h, w).

        ``toward`` is the light as the camera sees it, ``walls`` what comes back from the room.
        """
        head = (self.weights @ radiance.ravel()).reshape(self.cover.shape)
        if self.cover.min() >= 1:
            return head
        inside = np.sqrt(np.clip(1 - self.neck**2, 0.0, 1.0))
        facing = np.maximum(toward[0] * self.neck + toward[2] * inside, 0.0) * self._lit(toward)
        neck = self.neck_albedo * (facing + walls * (0.4 + 0.6 * inside))
        room = ROOM * (max(float(toward[2]), 0.0) + walls)
        behind = mix(np.full_like(neck, room), neck, self.neck_share)
        return np.asarray(head + (1 - self.cover) * behind, dtype=np.float64)

    def _lit(self, toward: NDArray[np.float64]) -> Field:
        """Share of the light that the head does not keep from the neck."""
        ahead = NECK_DEPTH / max(float(toward[2]), 0.2)
        moved = [-ahead * toward[axis] / pitch for axis, pitch in zip((1, 0), self.pitch, strict=True)]
        shadow = gaussian_filter(shift(self.cover, moved, order=1, mode="nearest"), [0.08 / p for p in self.pitch])
        return np.asarray(1 - np.clip(shadow, 0.0, 1.0), dtype=np.float64)


def make_head(
    rng: np.random.Generator, size: tuple[int, int], mouth_open: float, smile: float, glasses: float = 0.0
) -> Surface:
    """Draw one person with the sides of the head, whose crop from the front would have ``size`` (h, w)."""
    return make_surface(Canvas(rng, BEYOND), size, mouth_open, smile, glasses)


def view_of(
    head: Surface, size: tuple[int, int], yaw: float, pitch: float, around: tuple[int, int] = (0, 0)
) -> TurnedHead:
    """Turn a head, and cut the photo so that the pupils lie where they do from the front.

    ``around`` is how many rows and columns the photo has on each side of the crop of ``size``.
    """
    turn = rotation(yaw, pitch)
    assert head.across is not None
    down, right = head.pitch
    top, left = (a + b for a, b in zip(margin_of(size), in_pixels((BEYOND[0], BEYOND[2]), size), strict=True))
    y = _down_the_face(np.arange(len(head.relief)) - top, down)
    seen = np.tensordot(turn, np.stack([head.across, y[:, None] + 0 * head.across, head.relief]), 1)
    # The turned pupils are brought back to where they are from the front.
    goals = np.array(head.pupils)
    pupils = [
        seen[:2, round((goal.imag - y[0]) / down), round((goal.real + 1) / right - 0.5 + left)] @ [1, 1j]
        for goal in head.pupils
    ]
    step = (goals[1] - goals[0]) / (pupils[1] - pupils[0])
    move = goals[0] - step * pupils[0]
    places = step * (seen[0] + 1j * seen[1]) + move
    height, width = (side + 2 * more for side, more in zip(size, around, strict=True))
    hits = np.full((2, SUBPIXELS * height, SUBPIXELS * width), -1.0)
    _draw(
        SUBPIXELS * ((places.imag + EYES_BELOW_TOP) / down + around[0]) - 0.5,
        SUBPIXELS * ((places.real + 1) / right + around[1]) - 0.5,
        seen[2],
        hits,
        np.full(hits.shape[1:], -np.inf),
    )
    window, weights, cover = _weights(hits, height, width)
    pixels = (
        (np.arange(width) - around[1] + 0.5) * right
        - 1
        + 1j * _down_the_face(np.arange(height) - around[0], down)[:, None]
    )
    pivot = turn @ NECK
    off = (pixels - move) / step - complex(pivot[0], pivot[1])
    neck = off.real / NECK_WIDTH / (1 + 1.5 * np.clip(off.imag - 0.5, 0.0, None) ** 2)
    middle = head.albedo.shape[1] // 2
    return TurnedHead(
        surface=head.window(*window),
        turn=turn,
        weights=weights,
        cover=cover,
        neck=neck,
        neck_share=rise(1 - np.abs(neck), 0.01) * rise(off.imag + 0.8, 0.05),
        neck_albedo=float(head.albedo[(y > 1.9) & (y < 2.2), middle - middle // 4 : middle + middle // 4].mean()),
        pitch=head.pitch,
    )


def _down_the_face(rows: NDArray[np.int_], height: float) -> Field:
    """Return y of rows of a crop, each so many face units high."""
    return np.asarray((rows + 0.5) * height - EYES_BELOW_TOP, dtype=np.float64)


def rotation(yaw: float, pitch: float) -> Field:
    """Rotation from the head to the camera, (3, 3): yaw turns the face to the left of the picture, pitch up."""
    (sin_yaw, cos_yaw), (sin_pitch, cos_pitch) = (
        (math.sin(angle), math.cos(angle)) for angle in (math.radians(yaw), math.radians(pitch))
    )
    about_y = np.array([[cos_yaw, 0, -sin_yaw], [0, 1, 0], [sin_yaw, 0, cos_yaw]])
    about_x = np.array([[1, 0, 0], [0, cos_pitch, -sin_pitch], [0, sin_pitch, cos_pitch]])
    return np.asarray(about_y @ about_x, dtype=np.float64)


def _weights(hits: Field, height: int, width: int) -> tuple[tuple[slice, slice], csr_array, Field]:
    """Turn the places that subpixels show into the visible window of the surface and weights of its pixels."""
    row, column = hits.reshape(2, height, SUBPIXELS, width, SUBPIXELS).swapaxes(2, 3).reshape(2, height * width, -1)
    seen = row >= 0
    firsts = [int(place[seen].min()) for place in (row, column)]
    lasts = [int(place[seen].max()) + 2 for place in (row, column)]
    up, left = (np.where(seen, place, first) for place, first in zip((row, column), firsts, strict=True))
    whole_row, whole_column = np.floor(up).astype(np.int32), np.floor(left).astype(np.int32)
    part_row, part_column = up - whole_row, left - whole_column
    across = lasts[1] - firsts[1]
    corner = (whole_row - firsts[0]) * across + whole_column - firsts[1]
    share = seen / SUBPIXELS**2
    values = np.stack(
        [
            share * (1 - part_row) * (1 - part_column),
            share * (1 - part_row) * part_column,
            share * part_row * (1 - part_column),
            share * part_row * part_column,
        ],
        axis=-1,
    )
    columns = np.stack([corner, corner + 1, corner + across, corner + across + 1], axis=-1)
    per_pixel = 4 * SUBPIXELS**2
    starts = np.arange(height * width + 1, dtype=np.int32) * per_pixel
    shape = (height * width, (lasts[0] - firsts[0]) * across)
    weights = csr_array((values.ravel(), columns.ravel().astype(np.int32), starts), shape=shape)
    window = (slice(firsts[0], lasts[0]), slice(firsts[1], lasts[1]))
    return window, weights, np.asarray(share.sum(axis=1).reshape(height, width), dtype=np.float64)


@compiled
def _draw(rows: Field, columns: Field, depths: Field, hits: Field, nearest: Field) -> None:
    """Draw a grid of points as triangles: for each pixel, the place (row, column) in the grid that it shows."""
    height, width = nearest.shape
    for i in range(rows.shape[0] - 1):
        for j in range(rows.shape[1] - 1):
            for half in range(2):
                # Corners of the triangle in the grid: the right angle first, then the other two clockwise.
                r0, c0 = i + half, j + half
                r1, c1 = (i, j + 1) if half == 0 else (i + 1, j)
                r2, c2 = (i + 1, j) if half == 0 else (i, j + 1)
                y0, x0 = rows[r0, c0], columns[r0, c0]
                ay, ax = rows[r1, c1] - y0, columns[r1, c1] - x0
                by, bx = rows[r2, c2] - y0, columns[r2, c2] - x0
                area = ax * by - ay * bx
                # Seen from behind, or where the head has closed below the chin.
                if area < MIN_AREA:
                    continue
                low_y, high_y = y0 + min(0.0, ay, by), y0 + max(0.0, ay, by)
                low_x, high_x = x0 + min(0.0, ax, bx), x0 + max(0.0, ax, bx)
                if high_y < 0 or high_x < 0 or low_y > height - 1 or low_x > width - 1:
                    continue
                for row in range(max(0, math.ceil(low_y)), min(height - 1, math.floor(high_y)) + 1):
                    for column in range(max(0, math.ceil(low_x)), min(width - 1, math.floor(high_x)) + 1):
                        s = ((column - x0) * by - (row - y0) * bx) / area
                        t = (ax * (row - y0) - ay * (column - x0)) / area
                        if s < -1e-9 or t < -1e-9 or s + t > 1 + 1e-9:
                            continue
                        depth = depths[r0, c0] * (1 - s - t) + depths[r1, c1] * s + depths[r2, c2] * t
                        if depth > nearest[row, column]:
                            nearest[row, column] = depth
                            hits[0, row, column] = r0 * (1 - s - t) + r1 * s + r2 * t
                            hits[1, row, column] = c0 * (1 - s - t) + c1 * s + c2 * t
