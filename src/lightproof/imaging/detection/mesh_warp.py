"""A face brought to a common shape: its mesh is laid on the neutral mesh, and the picture goes along.

A thin-plate spline takes the points of the neutral mesh to those of the face; far from them it is nearly affine. Which
points make which place is the same for every face: a table, measured once. So a face costs one product of that table
with its mesh, and one look into the photo for every pixel. Nothing depends on who is enrolled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.imaging.detection.eye_alignment import FACE_SIZE, check_photo, check_size, eye_places, needed_part
from lightproof.imaging.detection.head_pose import neutral_mesh
from lightproof.types import Floats

N_POINTS: Final = 468
"""Points of the mesh that are used: those of the irises say where somebody looks."""

SMOOTHNESS: Final = 0.03
"""How far the spline may miss the points: more of it forgives a mesh that trembles, and leaves more of the own shape.
Chosen on ORL (s1 to s20), LFW (the first 40 people) and Extended Yale B (odd numbers)."""

STEP: Final = 6
"""Pixels from one node to the next; between nodes, places are interpolated."""

MIN_BLUR: Final = 0.05
"""Pixels of blur below which a photo is not blurred before it shrinks."""


class _Table(NamedTuple):
    """Weights of the points of a mesh in each node of a picture, (rows * columns, N_POINTS), and its rows, columns."""

    weights: Floats
    shape: tuple[int, int]


def warp_to_neutral(image: NDArray[np.uint8], mesh: Floats, size: tuple[int, int] = FACE_SIZE) -> NDArray[np.uint8]:
    """Cut a face out of a photo so that its mesh lies on the neutral mesh.

    Its eyes come to where :func:`~lightproof.imaging.detection.align_by_eyes` puts them. A turned head comes out as if
    it looked into the camera, an open mouth as if it were closed, as far as the photo shows what is to be seen then.
    Beyond the photo, it is reflected.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
        A grey photo.
    mesh : ndarray of shape (478, 3)
        In pixels of the photo; see :class:`~lightproof.imaging.detection.Face`.
    size : tuple of int
        Height and width of the result, at least 16 each.

    Returns
    -------
    ndarray of shape ``size``, uint8
    """
    check_photo("warp_to_neutral", image)
    height, width = check_size("warp_to_neutral", size)
    table = _table(height, width)
    nodes = (table.weights @ mesh[:N_POINTS, :2]).reshape(*table.shape, 2)
    blur = max(0.0, (_pixels_per_pixel(nodes) - 1) / 2)
    (left, top), part = needed_part(image, nodes[..., 0], nodes[..., 1], margin=int(4 * blur) + 2)
    if blur > MIN_BLUR:
        from scipy.ndimage import gaussian_filter  # loaded when it is needed, as in `eye_alignment`

        part = gaussian_filter(part.astype(np.float32), blur, mode="reflect")
    face = np.empty((height, width), np.uint8)
    _gather(part.astype(np.float32, copy=False), nodes - (left, top), STEP, face)
    return face


def _pixels_per_pixel(nodes: Floats) -> float:
    """How many pixels of the photo one pixel of the face is wide, around the middle."""
    rows, columns = nodes.shape[0] // 4, nodes.shape[1] // 4
    inner = nodes[rows:-rows, columns:-columns]
    right, down = np.diff(inner[:-1], axis=1), np.diff(inner[:, :-1], axis=0)
    areas = np.abs(right[..., 0] * down[..., 1] - right[..., 1] * down[..., 0])
    return float(np.sqrt(np.median(areas))) / STEP


@lru_cache(maxsize=4)
def _table(height: int, width: int) -> _Table:
    """Solve the thin-plate spline for every point of the neutral mesh at once, in eye distances."""
    right_eye, left_eye = eye_places(height, width)
    distance, middle = (left_eye - right_eye).real, (left_eye + right_eye) / 2
    points = neutral_mesh()[:N_POINTS, :2]
    rows, columns = -(-height // STEP) + 1, -(-width // STEP) + 1
    right, down = np.meshgrid(STEP * np.arange(columns), STEP * np.arange(rows))
    nodes = np.stack([right - middle.real, down - middle.imag], axis=-1).reshape(-1, 2) / distance
    # [[kernel + smoothness, plane], [plane.T, 0]] takes weights to values at the points; its inverse takes them back.
    system = np.zeros((N_POINTS + 3, N_POINTS + 3))
    system[:N_POINTS, :N_POINTS] = _kernel(points, points) + SMOOTHNESS * np.eye(N_POINTS)
    system[:N_POINTS, N_POINTS:] = _plane(points)
    system[N_POINTS:, :N_POINTS] = _plane(points).T
    at_nodes = np.concatenate([_kernel(nodes, points), _plane(nodes)], axis=1)
    weights = np.linalg.solve(system.T, at_nodes.T).T[:, :N_POINTS]
    return _Table(np.ascontiguousarray(weights), (rows, columns))


def _kernel(places: Floats, points: Floats) -> Floats:
    """Thin-plate kernel r^2 log r^2 between places (n, 2) and points (m, 2), shape (n, m)."""
    squares = np.square(places[:, None] - points).sum(axis=-1)
    return np.asarray(squares * np.log(np.maximum(squares, 1e-30)))


def _plane(places: Floats) -> Floats:
    return np.column_stack([np.ones(len(places)), places])


@compiled
def _gather(photo: Floats, nodes: Floats, step: int, out: NDArray[np.uint8]) -> None:
    """Read the photo, mirrored beyond its border, bilinearly at the place of each pixel between the nodes."""
    height, width = photo.shape
    columns = nodes.shape[1]
    line = np.empty((columns, 2))
    for i in range(out.shape[0]):
        row, down = i // step, (i % step) / step
        for column in range(columns):
            for axis in range(2):
                line[column, axis] = (1 - down) * nodes[row, column, axis] + down * nodes[row + 1, column, axis]
        for j in range(out.shape[1]):
            column, right = j // step, (j % step) / step
            x = (1 - right) * line[column, 0] + right * line[column + 1, 0]
            y = (1 - right) * line[column, 1] + right * line[column + 1, 1]
            left, top = int(np.floor(x)), int(np.floor(y))
            first, last, above, below = left, left + 1, top, top + 1
            if left < 0 or top < 0 or last >= width or below >= height:
                first, last, above, below = (
                    _inside(left, width), _inside(last, width), _inside(top, height), _inside(below, height),
                )  # fmt: skip
            x -= left
            y -= top
            upper = (1 - x) * photo[above, first] + x * photo[above, last]
            lower = (1 - x) * photo[below, first] + x * photo[below, last]
            value = (1 - y) * upper + y * lower
            out[i, j] = np.uint8(min(max(np.rint(value), 0), 255))


@compiled
def _inside(place: int, side: int) -> int:
    """Return which of ``side`` lines stands at a place that may lie beyond the border: there they are mirrored."""
    period = 2 * side
    inside = place % period
    return inside if inside < side else period - 1 - inside
