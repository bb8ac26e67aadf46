"""One person, one light -> one photo."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.datasets.crowd.lighting import put_grey, put_horizon, put_lit
from lightproof.datasets.crowd.random_fields import Keys, add_grain, put_doubled, scrambled
from lightproof.datasets.crowd.sheet import HEIGHT, NODES, PIXELS, RELIEF, SPACING, WIDTH, Looks, Sheet
from lightproof.datasets.synthetic import ELECTRONS_PER_GRAY, READ_NOISE_GRAY
from lightproof.types import Floats

F = np.float32

# Strength of the grain of a skin, by the size of its spots, 8 pixels down to 1: of its paint and of its relief.
_PAINT: Final = np.array([0.35, 0.6, 0.55, 0.45], np.float32)
_RELIEF: Final = np.array([6.0, 3.0, 1.2, 0.3], np.float32)
_DOWN: Final = (12, 24, 48, 96)
_ACROSS: Final = (11, 21, 42, 84)

# Places of random numbers; those before make the shape of a person, or the circumstances of a photo.
_SKIN: Final = 1000
_BEND: Final = 1010
_SENSOR: Final = 1020

NEARLY_FRONT: Final = F(0.95)
"""Cosine of the angle of light below which noses throw shadows."""


class Shots(NamedTuple):
    """What is to be drawn.

    Attributes
    ----------
    people, photos : ndarray of shape (n,), uint64
        Keys of whom, and of which photo.
    shapes : ndarray of shape (n, 3 h w + relief)
        How the person differs from the mean, in steps of the sheet.
    rows : ndarray of shape (n, NODES rows)
        By how many pixels brows, nose and mouth lie elsewhere.
    lights : ndarray of shape (n, 3)
        Unit vectors to the light: right, down, to the camera.
    moves : ndarray of shape (n, 4)
        Move to the right and down in pixels, growth, turn: how far the face is misaligned.
    grains : ndarray of shape (n,)
        How much more or less of the grain of a skin than usual a person has.
    gains : ndarray of shape (n,)
        Exposure of the photo.
    """

    people: Keys
    photos: Keys
    shapes: Floats
    rows: Floats
    lights: Floats
    moves: Floats
    grains: Floats
    gains: Floats


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
    """Draw the grain of a skin, paint and relief (2, h, w): every size of spots is laid over those twice as large."""
    coarse = np.zeros((2, _DOWN[0], _ACROSS[0]), np.float32)
    add_grain(scrambled(key, _SKIN), strength * _PAINT[0], strength * _RELIEF[0], coarse)
    for level in range(1, 4):
        finer = skin if level == 3 else np.empty((2, _DOWN[level], _ACROSS[level]), np.float32)
        put_doubled(coarse, finer)
        add_grain(scrambled(key, _SKIN + level), strength * _PAINT[level], strength * _RELIEF[level], finer)
        coarse = finer


@compiled
def add_bend(key: np.uint64, pixels: np.float32, bend: Floats) -> None:
    """Move the nodes of a grid at random by about so many pixels, neighbors alike, (2, *NODES)."""
    coarse = np.zeros((2, 6, 6), np.float32)
    finer = np.empty((2, *NODES), np.float32)
    add_grain(scrambled(key, _BEND), pixels, pixels, coarse)
    put_doubled(coarse, finer)
    add_grain(scrambled(key, _BEND + 1), pixels / F(2), pixels / F(2), finer)
    bend += finer


@compiled
def put_bent(picture: Floats, bend: Floats, move: Floats, out: Floats) -> None:
    """Read a picture (h, w) at the places that the nodes of a grid (2, *NODES) and a similarity (4,) say."""
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
    """Turn light (h, w) into bytes, with so much of the noise of a sensor."""
    grain = np.zeros((2, HEIGHT // 2, WIDTH), np.float32)
    add_grain(key, noise, noise, grain)
    for i in range(HEIGHT):
        specks, light, line = grain[i % 2, i // 2], grey[i], image[i]
        for j in range(WIDTH):
            value = gain * light[j]
            value += np.sqrt(value / F(ELECTRONS_PER_GRAY) + F(READ_NOISE_GRAY**2)) * specks[j]
            line[j] = np.uint8(min(max(value + F(0.5), F(0)), F(255)))
