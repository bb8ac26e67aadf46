"""Light on one person of a crowd: shading, shine, attached and cast shadows."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.core.jit import compiled
from lightproof.datasets.crowd.sheet import COVER, HEIGHT, RELIEF, WIDTH, Looks, Sheet
from lightproof.datasets.synthetic import GRAY_PER_RADIANCE
from lightproof.types import Floats

F = np.float32

_STEPS: Final = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18])
"""Cells of the relief from which a shadow may come, as far as one reaches."""

_CELL: Final = F(2 * COVER / WIDTH)  # side of a cell in the unit of its height
_ROWS, _ACROSS = RELIEF

# From pixels to cells: the cell before each pixel, and how far beyond its middle the pixel lies.
_DOWN_CELLS: Final = (np.arange(HEIGHT) + 0.5) / COVER - 0.5 + (RELIEF[0] - HEIGHT / COVER) / 2
_ACROSS_CELLS: Final = (np.arange(WIDTH) + 0.5) / COVER - 0.5 + (RELIEF[1] - WIDTH / COVER) / 2
_ROW, _ROW_SHARE = _DOWN_CELLS.astype(np.uint32), (_DOWN_CELLS % 1).astype(np.float32)
_COLUMN, _COLUMN_SHARE = _ACROSS_CELLS.astype(np.uint32), (_ACROSS_CELLS % 1).astype(np.float32)


@compiled
def put_horizon(relief: Floats, light: Floats, horizon: Floats) -> None:
    """Tell the steepest rise toward the light from each cell of a relief, both (rows, columns)."""
    x, y = light[0], light[1]
    longer = max(abs(x), abs(y))
    step_x, step_y = x / longer, y / longer
    length = np.sqrt(step_x * step_x + step_y * step_y) * _CELL
    horizon[...] = F(-9)
    for step in _STEPS:
        right, down = step_x * F(step), step_y * F(step)
        columns, rows = int(np.floor(right)), int(np.floor(down))
        share_x, share_y = right - F(columns), down - F(rows)
        per = F(1) / (F(step) * length)
        for i in range(max(0, -rows), min(_ROWS, _ROWS - 1 - rows)):
            here, best = relief[i], horizon[i]
            one, two = relief[i + rows], relief[i + rows + 1]
            for j in range(max(0, -columns), min(_ACROSS, _ACROSS - 1 - columns)):
                k = j + columns
                near = one[k] + share_x * (one[k + 1] - one[k])
                far = two[k] + share_x * (two[k + 1] - two[k])
                best[j] = max(best[j], (near + share_y * (far - near) - here[j]) * per)


@compiled
def put_lit(horizon: Floats, light: Floats, penumbra: np.float32, lit: Floats) -> None:
    """Tell the share of the lamp that each pixel sees over the horizon of its cell, (h, w)."""
    slope = light[2] / np.sqrt(light[0] * light[0] + light[1] * light[1])
    sharpness = F(1) / (penumbra * (F(1) + slope * slope))
    cells = np.empty(_ACROSS, np.float32)
    for i in range(HEIGHT):
        one, two, line = horizon[_ROW[i]], horizon[_ROW[i] + 1], lit[i]
        for k in range(_ACROSS):
            cells[k] = one[k] + _ROW_SHARE[i] * (two[k] - one[k])
        for j in range(WIDTH):
            line[j] = cells[_COLUMN[j]] + _COLUMN_SHARE[j] * (cells[_COLUMN[j] + 1] - cells[_COLUMN[j]])
        for j in range(WIDTH):
            ramp = min(max((slope - line[j]) * sharpness + F(0.4), F(0)), F(1))
            line[j] = ramp * ramp * (F(3) - F(2) * ramp)


@compiled
def put_grey(
    person: Floats, skin: Floats, sheet: Sheet, light: Floats, lit: Floats, looks: Looks, grey: Floats
) -> None:
    """Light a person (3, h, w) with the grain of a skin (2, h, w), who sees the lamp as ``lit`` says: grey (h, w).

    The same light as in :mod:`lightproof.datasets.synthetic`.
    """
    x, y, z = light[0], light[1], light[2]
    half = np.sqrt(x * x + y * y + (z + F(1)) * (z + F(1)))
    half_x, half_y, half_z = x / half, y / half, (z + F(1)) / half
    grazing = F(1) + F(4) * (F(1) - half_z) * (F(1) - half_z)
    across, down = np.zeros(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for i in range(HEIGHT):
        above, here, below = skin[1, max(i - 1, 0)], skin[1, i], skin[1, min(i + 1, HEIGHT - 1)]
        for j in range(1, WIDTH - 1):
            across[j] = here[j + 1] - here[j - 1]
        for j in range(WIDTH):
            down[j] = below[j] - above[j]
        roots, rights, downs, spots = person[0, i], person[1, i], person[2, i], skin[0, i]
        rest, rest_right, rest_down = sheet.rest[0, i], sheet.rest[1, i], sheet.rest[2, i]
        gloss, openness, seen, line = sheet.gloss[i], sheet.openness[i], lit[i], grey[i]
        for j in range(WIDTH):  # plain lines only: so this runs on several pixels at a time
            root = min(max(roots[j] + looks.paint * rest[j] * spots[j], F(0.13)), F(0.97))
            nx = rights[j] - looks.bumps * rest_right[j] * across[j]
            ny = downs[j] - looks.bumps * rest_down[j] * down[j]
            nz = np.sqrt(max(F(1) - nx * nx - ny * ny, F(0.01)))
            sideways = x * nx + y * ny
            facing = max(sideways + z * nz, F(0))
            shine = max(half_x * nx + half_y * ny + half_z * nz, F(0))
            squared = shine * shine
            fourth = squared * squared
            shine = gloss[j] * grazing * (fourth * fourth * fourth * squared) * min(F(4) * facing, F(1))
            walls = looks.ambient * openness[j] * (F(1) + F(0.5) * sideways)
            line[j] = F(GRAY_PER_RADIANCE) * (root * root * (facing * seen[j] + walls) + shine * seen[j])
