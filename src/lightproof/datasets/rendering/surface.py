"""One made-up person, ready to be lit: relief, albedo and gloss, sampled for one picture size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from lightproof.datasets.rendering.fields import CROP, UNIT, Field, mix, sample
from lightproof.datasets.rendering.paint import draw_hair, paint_skin
from lightproof.datasets.rendering.person import TRAIT_RANGES, warped_plane
from lightproof.datasets.rendering.shape import head_shape, skin_texture


@dataclass(frozen=True, eq=False)
class Surface:
    """One person, sampled for one picture size.

    Attributes
    ----------
    relief : ndarray of shape (h + 2 my, w + 2 mx)
        Height toward the camera, in face units, crop and margin.
    detail : ndarray of shape (h, w)
        Pores and fine lines, too shallow to throw a shadow.
    albedo, gloss : ndarray of shape (h, w)
        Share of the light that is scattered, and strength of the shine.
    margin : tuple of int
        (my, mx), rows and columns of ``relief`` on each side of the crop.
    pitch : tuple of float
        Height and width of a pixel in face units.
    """

    relief: Field
    detail: Field
    albedo: Field
    gloss: Field
    margin: tuple[int, int]
    pitch: tuple[float, float]


def make_surface(rng: np.random.Generator, size: tuple[int, int]) -> Surface:
    """Draw one person from ``rng`` and sample it for a picture of ``size`` (h, w)."""
    traits = {name: float(rng.uniform(low, high)) for name, (low, high) in TRAIT_RANGES.items()}
    plane = warped_plane(rng, traits)
    shape = head_shape(traits, plane)
    texture, fine = skin_texture(rng, traits, plane)
    albedo, gloss = paint_skin(rng, traits, plane)
    hair, strands = draw_hair(rng, traits, plane)
    hair_tone = 0.03 + 0.3 * (1 - traits["hair_dark"]) ** 3
    albedo = mix(albedo, hair_tone * (1 + 0.35 * strands), hair)
    albedo = mix(albedo, np.full_like(albedo, 0.05), plane.behind_jaw)
    gloss = mix(gloss, 0.12 + 0.08 * strands, hair)
    margin = (-(-size[0] // 6), -(-size[1] // 6))
    return Surface(
        relief=sample(shape + texture + gaussian_filter(hair, 2.5) * 0.07 + hair * 0.004 * strands, size, margin),
        detail=sample(fine * (1 - hair), size, (0, 0)),
        albedo=sample(np.clip(albedo, 0.02, 0.95), size, (0, 0)),
        gloss=sample(np.clip(gloss, 0.0, 1.0), size, (0, 0)),
        margin=margin,
        pitch=(CROP[0] / UNIT / size[0], CROP[1] / UNIT / size[1]),
    )
