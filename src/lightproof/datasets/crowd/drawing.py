"""One person, one light -> one photo: skin, shading, shine, cast shadows, misalignment and the noise of a sensor."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.datasets.crowd.face_model import CELL_SIDE, HEIGHT, NODES, PIXELS, RELIEF, SPACING, WIDTH, Looks, Sheet
from lightproof.datasets.crowd.random_fields import Keys, add_grain, put_doubled, scrambled
from lightproof.datasets.synthetic import ELECTRONS_PER_GRAY, GRAY_PER_RADIANCE, READ_NOISE_GRAY
from lightproof.types import Floats

F = np.float32

# Strength of the grain of a skin, in its paint and in its relief, by the size of its spots: 8 pixels down to 1.
_PAINT: Final = np.array([0.35, 0.6, 0.55, 0.45], np.float32)
_RELIEF: Final = np.array([6.0, 3.0, 1.2, 0.3], np.float32)
_SKIN_ROWS: Final = (12, 24, 48, 96)
_SKIN_COLUMNS: Final = (11, 21, 42, 84)

# Indices of random numbers. Lower ones make the shape of a person, or the circumstances of a photo.
_SKIN, _BEND, _SENSOR = 1000, 1010, 1020

NEARLY_FRONT: Final = F(0.95)  # noses throw shadows when the cosine of the light's angle is below it
_STEPS: Final = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18])  # cells of the relief from which a shadow may come
_CELL: Final = F(2 * CELL_SIDE / WIDTH)  # side of a cell, in units of its height
_CELL_ROWS, _CELL_COLUMNS = RELIEF

# From pixels to cells: the cell before each pixel, and how far beyond its middle the pixel lies.
_DOWN_CELLS: Final = (np.arange(HEIGHT) + 0.5) / CELL_SIDE - 0.5 + (RELIEF[0] - HEIGHT / CELL_SIDE) / 2
_ACROSS_CELLS: Final = (np.arange(WIDTH) + 0.5) / CELL_SIDE - 0.5 + (RELIEF[1] - WIDTH / CELL_SIDE) / 2
_ROW, _ROW_SHARE = _DOWN_CELLS.astype(np.uint32), (_DOWN_CELLS % 1).astype(np.float32)
_COLUMN, _COLUMN_SHARE = _ACROSS_CELLS.astype(np.uint32), (_ACROSS_CELLS % 1).astype(np.float32)


class Shots(NamedTuple):
    """The photos to draw, one row each."""

    people: Keys
    photos: Keys
    shapes: Floats  # difference of the person from the mean, in steps of the sheet, (n, COLUMNS)
    rows: Floats  # pixels by which brows, nose and mouth are moved down, (n, NODES[0])
    lights: Floats  # unit vectors to the light: right, down, to the camera
    moves: Floats  # misalignment: pixels to the right and down, growth, turn
    grains: Floats  # strength of the grain of each skin, 1 on average
    gains: Floats  # exposure of each photo


@compiled
def draw(shots: Shots, sheet: Sheet, looks: Looks, images: NDArray[np.uint8]) -> None:
    """Draw photos, (n, h, w)."""
    person = np.empty(shots.shapes.shape[1], np.float32)
    skin = np.empty((2, HEIGHT, WIDTH), np.float32)
    horizon = np.empty(RELIEF, np.float32)
    lit, grey, moved = np.empty((HEIGHT, WIDTH), F), np.empty((HEIGHT, WIDTH), F), np.empty((HEIGHT, WIDTH), F)
    bend = np.empty((2, *NODES), np.float32)
    for n in range(len(shots.people)):
        for k in range(len(person)):
            person[k] = sheet.mean[k] + looks.variety * sheet.steps[k] * shots.shapes[n, k]
        put_skin(shots.people[n], shots.grains[n], skin)
        light = shots.lights[n]
        lit[...] = F(1)
        if light[2] < NEARLY_FRONT:
            put_horizon(person[3 * PIXELS :].reshape(RELIEF), light, horizon)
            put_lit(horizon, light, looks.penumbra, lit)
        put_grey(person[: 3 * PIXELS].reshape(3, HEIGHT, WIDTH), skin, sheet, light, lit, looks, grey)
        for i in range(NODES[0]):
            bend[0, i], bend[1, i] = F(0), shots.rows[n, i]
        add_bend(shots.people[n], looks.shape, bend)
        add_bend(shots.photos[n], looks.wobble, bend)
        put_bent(grey, bend, shots.moves[n], moved)
        expose(moved, scrambled(shots.photos[n], _SENSOR), shots.gains[n], looks.noise, images[n])


@compiled
def put_skin(key: np.uint64, strength: np.float32, skin: Floats) -> None:
    """Draw the grain of a skin, paint and relief (2, h, w), from large spots to small ones."""
    coarse = np.zeros((2, _SKIN_ROWS[0], _SKIN_COLUMNS[0]), np.float32)
    add_grain(scrambled(key, _SKIN), strength * _PAINT[0], strength * _RELIEF[0], coarse)
    for level in range(1, 4):
        finer = skin if level == 3 else np.empty((2, _SKIN_ROWS[level], _SKIN_COLUMNS[level]), np.float32)
        put_doubled(coarse, finer)
        add_grain(scrambled(key, _SKIN + level), strength * _PAINT[level], strength * _RELIEF[level], finer)
        coarse = finer


@compiled
def add_bend(key: np.uint64, pixels: np.float32, bend: Floats) -> None:
    """Move the nodes of a grid (2, *NODES) at random by about ``pixels``, neighbors alike."""
    coarse = np.zeros((2, 6, 6), np.float32)
    finer = np.empty((2, *NODES), np.float32)
    add_grain(scrambled(key, _BEND), pixels, pixels, coarse)
    put_doubled(coarse, finer)
    add_grain(scrambled(key, _BEND + 1), pixels / F(2), pixels / F(2), finer)
    bend += finer


@compiled
def put_horizon(relief: Floats, light: Floats, horizon: Floats) -> None:
    """Compute the steepest rise toward the light from each cell of a relief, both (rows, columns)."""
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
        for i in range(max(0, -rows), min(_CELL_ROWS, _CELL_ROWS - 1 - rows)):
            height, best = relief[i], horizon[i]
            upper, lower = relief[i + rows], relief[i + rows + 1]
            for j in range(max(0, -columns), min(_CELL_COLUMNS, _CELL_COLUMNS - 1 - columns)):
                k = j + columns
                near = upper[k] + share_x * (upper[k + 1] - upper[k])
                far = lower[k] + share_x * (lower[k + 1] - lower[k])
                best[j] = max(best[j], (near + share_y * (far - near) - height[j]) * per)


@compiled
def put_lit(horizon: Floats, light: Floats, penumbra: np.float32, lit: Floats) -> None:
    """Compute the share of the lamp that each pixel sees over the horizon of its cell, (h, w)."""
    slope = light[2] / np.sqrt(light[0] * light[0] + light[1] * light[1])
    sharpness = F(1) / (penumbra * (F(1) + slope * slope))
    cells = np.empty(_CELL_COLUMNS, np.float32)
    for i in range(HEIGHT):
        upper, lower, line = horizon[_ROW[i]], horizon[_ROW[i] + 1], lit[i]
        for k in range(_CELL_COLUMNS):
            cells[k] = upper[k] + _ROW_SHARE[i] * (lower[k] - upper[k])
        for j in range(WIDTH):
            line[j] = cells[_COLUMN[j]] + _COLUMN_SHARE[j] * (cells[_COLUMN[j] + 1] - cells[_COLUMN[j]])
        for j in range(WIDTH):
            ramp = min(max((slope - line[j]) * sharpness + F(0.4), F(0)), F(1))
            line[j] = ramp * ramp * (F(3) - F(2) * ramp)


@compiled
def put_grey(
    person: Floats, skin: Floats, sheet: Sheet, light: Floats, lit: Floats, looks: Looks, grey: Floats
) -> None:
    """Light a person (3, h, w) with the grain of a skin (2, h, w); ``lit`` is its share of the lamp: grey (h, w).

    The model of light is that of :mod:`lightproof.datasets.synthetic`.
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
        for j in range(WIDTH):  # without branches, so that it runs on several pixels at a time
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


@compiled
def put_bent(picture: Floats, bend: Floats, move: Floats, out: Floats) -> None:
    """Warp a picture (h, w) by the nodes of a grid (2, *NODES) and a similarity (4,)."""
    right, down, growth, turn = move[0], move[1], move[2], move[3]
    middle_i, middle_j = F((HEIGHT - 1) / 2), F((WIDTH - 1) / 2)
    nodes = np.empty((2, NODES[1] + 1), np.float32)
    columns, rows = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for i in range(HEIGHT):
        first = min(i // SPACING, NODES[0] - 2)
        share = (F(i - first * SPACING) + F(0.5)) / F(SPACING)
        for f in range(2):
            for k in range(NODES[1]):
                nodes[f, k] = bend[f, first, k] + share * (bend[f, first + 1, k] - bend[f, first, k])
            nodes[f, NODES[1]] = nodes[f, NODES[1] - 1]
        from_i = F(i) - middle_i
        for j in range(WIDTH):
            k, part = j // SPACING, (F(j % SPACING) + F(0.5)) / F(SPACING)
            columns[j] = nodes[0, k] + part * (nodes[0, k + 1] - nodes[0, k])
            rows[j] = nodes[1, k] + part * (nodes[1, k + 1] - nodes[1, k])
        for j in range(WIDTH):
            from_j = F(j) - middle_j
            columns[j] = min(max(F(j) + columns[j] + right + growth * from_j - turn * from_i, F(0)), F(WIDTH - 1.001))
            rows[j] = min(max(F(i) + rows[j] + down + growth * from_i + turn * from_j, F(0)), F(HEIGHT - 1.001))
        line = out[i]
        for j in range(WIDTH):
            a, b = np.uint32(rows[j]), np.uint32(columns[j])
            part_i, part_j = rows[j] - F(a), columns[j] - F(b)
            above = picture[a, b] + part_j * (picture[a, b + 1] - picture[a, b])
            below = picture[a + 1, b] + part_j * (picture[a + 1, b + 1] - picture[a + 1, b])
            line[j] = above + part_i * (below - above)


@compiled
def expose(grey: Floats, key: np.uint64, gain: np.float32, noise: np.float32, image: NDArray[np.uint8]) -> None:
    """Turn light (h, w) into bytes, with the noise of a sensor."""
    grain = np.zeros((2, HEIGHT // 2, WIDTH), np.float32)
    add_grain(key, noise, noise, grain)
    for i in range(HEIGHT):
        specks, light, line = grain[i % 2, i // 2], grey[i], image[i]
        for j in range(WIDTH):
            value = gain * light[j]
            value += np.sqrt(value / F(ELECTRONS_PER_GRAY) + F(READ_NOISE_GRAY**2)) * specks[j]
            line[j] = np.uint8(min(max(value + F(0.5), F(0)), F(255)))
