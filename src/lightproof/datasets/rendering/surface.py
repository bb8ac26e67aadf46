"""One made-up person, ready to be lit: relief, albedo and gloss, sampled for one picture size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter

from lightproof.datasets.rendering import CROP, UNIT, Canvas, Field, bell, blob, margin_of, mix, noise, rise, sample
from lightproof.datasets.rendering.expression import moved_face, smiling
from lightproof.datasets.rendering.glasses import with_glasses
from lightproof.datasets.rendering.person import TRAIT_RANGES, Plane, Traits, pupils, warped_plane
from lightproof.datasets.rendering.shape import eye_surround, head_shape, skin_texture


@dataclass(frozen=True, eq=False)
class Surface:
    """One person, sampled for one picture size (h, w): all that does not depend on the light."""

    relief: Field  # height toward the camera, in face units, with the margin
    detail: Field  # pores and fine lines, too shallow to throw a shadow
    albedo: Field  # share of the light that is scattered
    gloss: Field  # strength of the shine
    margin: tuple[int, int]  # rows and columns of ``relief`` on each side of the crop
    pitch: tuple[float, float]  # height and width of a pixel in face units
    across: Field | None = None  # x of each point of ``relief`` in face units, if columns run around the head
    pupils: tuple[complex, ...] = ()  # x + 1j * y of both, the left of the picture first, likewise

    def window(self, rows: slice, columns: slice) -> Surface:
        """Return a part of the surface, which the relief around it still throws shadows on."""
        fields = {name: getattr(self, name)[rows, columns] for name in ("detail", "albedo", "gloss")}
        margin = (self.margin[0] + rows.start, self.margin[1] + columns.start)
        part = replace(self, margin=margin, **fields)
        # Both are of the whole surface, so that they need not be computed for every window.
        vars(part).update(normals=self.normals[:, rows, columns], openness=self.openness[rows, columns])
        return part

    @cached_property
    def normals(self) -> Field:
        """Unit normals (x right, y down, z to the camera), shape (3, h, w)."""
        # Light spreads under the skin: it blurs coarse slopes a little, while pores stay sharp.
        smooth = np.asarray(gaussian_filter(self.relief, [0.008 / pitch for pitch in self.pitch]), dtype=np.float64)
        down, right = np.gradient(self._inside(smooth) + self.detail, *self.pitch)
        if self.across is None:
            normals = np.stack([-right, -down, np.ones_like(right)])
        else:
            x_down, x_right = np.gradient(self._inside(self.across), *self.pitch)
            normals = np.stack([-right, right * x_down - down * x_right, x_right])
        return np.asarray(normals / np.linalg.norm(normals, axis=0), dtype=np.float64)

    @cached_property
    def openness(self) -> Field:
        """Share of the room that each pixel sees: low in sockets and beside the nose, shape (h, w)."""
        around = gaussian_filter(self.relief, [0.18 / pitch for pitch in self.pitch])
        return np.asarray(np.clip(1 - 4 * self._inside(around - self.relief), 0.25, 1.3), dtype=np.float64)

    def _inside(self, field: Field) -> Field:
        """Cut the margin off."""
        (my, mx), (height, width) = self.margin, self.albedo.shape
        return field[my : my + height, mx : mx + width]


def make_surface(
    canvas: Canvas, size: tuple[int, int], mouth_open: float = 0.0, smile: float = 0.0, glasses: float = 0.0
) -> Surface:
    """Draw one person from the random numbers of ``canvas`` and sample it for a picture of ``size`` (h, w).

    On a canvas that goes beyond the usual one, all fields have the size of the whole canvas.
    """
    traits = {name: float(canvas.rng.uniform(low, high)) for name, (low, high) in TRAIT_RANGES.items()}
    traits = smiling(traits, smile)
    plane, mouth = moved_face(warped_plane(canvas, traits), mouth_open, smile)
    shape = head_shape(traits, plane)
    texture, fine = skin_texture(canvas, traits, plane)
    albedo, gloss = paint_skin(canvas, traits, plane)
    hair, strands = draw_hair(canvas, traits, plane)
    hair_tone = 0.03 + 0.3 * (1 - traits["hair_dark"]) ** 3
    albedo = mix(albedo, hair_tone * (1 + 0.35 * strands), hair)
    albedo = mix(albedo, np.full_like(albedo, 0.05), plane.behind_jaw)
    gloss = mix(gloss, 0.12 + 0.08 * strands, hair)
    relief = shape + texture + gaussian_filter(hair, 2.5) * 0.07 + hair * 0.004 * strands
    if mouth is not None:
        relief, albedo, gloss = mouth.opened(relief, albedo, gloss)
    if glasses:  # drawn last, so that it is the same person with and without
        worn = with_glasses(canvas, traits, plane, relief, albedo, gloss)
        relief, albedo, gloss = (
            mix(bare, on, np.full_like(bare, glasses)) for bare, on in zip((relief, albedo, gloss), worn, strict=True)
        )
    margin = margin_of(size)
    inner = margin if plane.wrapped else (0, 0)
    fields = (fine * (1 - hair), np.clip(albedo, 0.02, 0.95), np.clip(gloss, 0.0, 1.0))
    detail, albedo, gloss = (sample(field, size, inner, canvas.beyond) for field in fields)
    x, y = canvas.places()
    return Surface(
        relief=sample(relief, size, margin, canvas.beyond),
        detail=detail,
        albedo=albedo,
        gloss=gloss,
        margin=(0, 0) if plane.wrapped else margin,
        pitch=(CROP[0] / UNIT / size[0], CROP[1] / UNIT / size[1]),
        across=sample(plane.across(x), size, margin, canvas.beyond) if plane.wrapped else None,
        pupils=tuple(complex(x[place], y[place]) for place in pupils(plane)) if plane.wrapped else (),
    )


def paint_skin(canvas: Canvas, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Albedo and gloss of everything but the hair on the head."""
    skin = 0.34 + 0.42 * t["tone"] ** 0.7
    blotches = (
        0.035 * noise(canvas, 12) + 0.025 * noise(canvas, 4) + 0.02 * noise(canvas, 1.5) + 0.012 * noise(canvas, 0.6)
    )
    ruddy = -0.1 * blob(p.side - 0.75, p.y - 0.55, 0.22, 0.2) - 0.08 * blob(p.x, p.y - t["nose_base"] + 0.15, 0.2, 0.15)
    dark_eyes = -0.12 * blob(p.side - t["eye_x"] + 0.08, p.y - 0.12, 0.22, 0.09)
    albedo = skin * np.exp(t["mottle"] * blotches + 0.7 * ruddy + (0.4 + t["bags"] * 30) * dark_eyes)
    albedo = (
        albedo
        * (1 - (0.2 + 5 * t["bags"]) * eye_surround(t, p))
        * np.exp(-_freckles(canvas, t, p) - _moles(canvas, t, p))
    )
    albedo = mix(albedo, albedo * t["lip_tone"], p.lip_area)
    v, _, _, u = p.lips
    gap = bell(v, t["lip_gap"] * (1.1 - 0.5 * np.minimum(u, 1.0))) * rise(0.97 - u, 0.04)
    albedo = albedo * (1 - 0.55 * gap) * (1 - 0.85 * p.nostrils) * (1 - _beard(canvas, t, p))
    albedo = _with_brows(canvas, t, p, albedo)
    albedo = _with_painted_eyes(canvas, t, p, albedo)
    oily = 1 + 0.6 * blob(p.x, p.y + 0.5, 0.4, 0.3) + 0.9 * blob(p.x, p.y - 0.4, 0.16, 0.3)
    gloss = t["gloss"] * oily * np.clip(1 + 0.25 * noise(canvas, 1.2) + 0.25 * noise(canvas, 9), 0.1, 2.0)
    gloss = gloss * (1 + 0.5 * p.lip_area) * (1 - gap) * (1 - np.maximum(p.eye_opening, 0.8 * eye_surround(t, p)))
    return albedo, gloss


def _freckles(canvas: Canvas, t: Traits, p: Plane) -> Field:
    """Darkening by freckles across nose and cheeks; most people have none."""
    spots = np.clip(noise(canvas, 1.1) - 0.8, 0.0, 2.0) ** 1.5
    return max(t["freckles"], 0.0) * 0.17 * spots * (0.25 + blob(p.side - 0.5, p.y - 0.4, 0.45, 0.3))


def _moles(canvas: Canvas, t: Traits, p: Plane) -> Field:
    """Darkening by a few moles anywhere on the face."""
    places = canvas.rng.uniform((-0.95, -0.5, 0.011, 0.3), (0.95, 1.6, 0.026, 1.0), size=(6, 4))
    spots = [depth * blob(p.x - x, p.y - y, radius, radius) for x, y, radius, depth in places[: round(t["moles"])]]
    return np.sum(spots, axis=0) if spots else np.zeros_like(p.x)


def _beard(canvas: Canvas, t: Traits, p: Plane) -> Field:
    """Share of light that stubble or a beard swallows."""
    v, _, lower, _ = p.lips
    jaw = rise(p.y - 1.12 + 0.4 * np.clip(p.side - 0.5, -0.5, 0.6) + 0.06 * noise(canvas, 8), 0.1)
    jaw = jaw * (1 - 0.8 * blob(p.side - 0.4, v - lower - 0.06, 0.12, 0.06))
    lip_top = t["nose_base"] + 0.14
    mustache = blob(p.side - 0.24, p.y - 0.5 * (lip_top + t["mouth_y"] - t["lip_up"]), 0.25, 0.11, 16)
    hairs = np.clip(0.85 + 0.07 * noise(canvas, 1.2, 0.8) + 0.07 * noise(canvas, 0.6), 0.0, 1.25)
    share = np.clip(np.maximum(jaw, 0.9 * mustache), 0.0, 1.0) * (1 - p.lip_area) * (1 - p.nostrils)
    return np.clip(math.pow(max(t["beard"], 0.0), 1.3) * 0.75 * hairs * share, 0.0, 0.9)


def _with_brows(canvas: Canvas, t: Traits, p: Plane, albedo: Field) -> Field:
    """Draw the eyebrows, thinner and lighter toward the temple, with single hairs."""
    off = p.y - p.brow_line + 0.006 * noise(canvas, 2, 2)
    taper = 1.15 - 0.65 * np.clip((p.side - t["brow_inner"]) / (t["brow_outer"] - t["brow_inner"]), 0.0, 1.0) ** 1.5
    body = np.exp(-(np.abs(off / (t["brow_thick"] * taper)) ** 2.2))
    ends = rise(p.side - t["brow_inner"], 0.03) * rise(t["brow_outer"] - p.side, 0.035)
    hairs = np.clip(0.88 + 0.1 * noise(canvas, 1.8, 0.9) + 0.08 * noise(canvas, 5), 0.0, 1.1)
    tone = 0.035 + 0.1 * (1 - t["hair_dark"])
    return mix(albedo, np.full_like(albedo, tone), np.clip(t["brow_dark"] * body * ends * hairs, 0.0, 0.95))


def _with_painted_eyes(canvas: Canvas, t: Traits, p: Plane, albedo: Field) -> Field:
    """Draw white, iris, pupil, the shade of the lid and the lashes."""
    u, v, upper, lower = p.eye
    radius = np.hypot(p.side - t["eye_x"] + 0.005, p.y - t["eye_y"] + 0.015)
    white = 0.5 + 0.02 * noise(canvas, 3) - 0.16 * np.abs(u) ** 3
    iris = t["iris_tone"] * (0.8 + 0.15 * noise(canvas, 1.0)) * (0.45 + 0.55 * rise(t["iris"] - 0.018 - radius, 0.006))
    eye = mix(white, iris, rise(t["iris"] - radius, 0.006))
    eye = mix(eye, np.full_like(eye, 0.02), rise(0.045 - radius, 0.006))
    eye = eye * (1 - 0.6 * np.exp(-np.clip(v - upper, 0.0, None) / 0.03))
    albedo = mix(albedo, eye, p.eye_opening)
    slit = rise(1.06 - np.abs(u), 0.03)
    lash = 0.7 * bell(v - upper + 0.006, 0.012) * (0.75 + 0.25 * u)
    lash = lash * np.clip(1 + 0.25 * noise(canvas, 1, 0.8), 0, 1.3) + 0.22 * bell(v - lower, 0.01)
    return albedo * (1 - np.clip(lash * slit, 0.0, 0.9)) * (1 - 0.25 * p.lid_crease)


def draw_hair(canvas: Canvas, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Where hair covers the head, and its strands (unit spread)."""
    strands = noise(canvas, 14, 0.8)
    locks = noise(canvas, 40, 6)
    edge = t["hair_edge"] + 0.12 * np.cos(1.6 * (p.x - t["hair_part"])) + 0.035 * locks + 0.022 * strands
    top = rise(edge - p.y, 0.028)
    sides = rise(p.side - 1.22 - 0.1 * np.clip(p.y, 0, 1) + 0.02 * strands, 0.02) * rise(0.9 - p.y, 0.1)
    return np.maximum(top, sides), strands
