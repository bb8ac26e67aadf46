"""The figures of the paper, drawn with the photos of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.experiments.figures.patches import SIZE, patch_clouds, patch_of, patch_relit, seen, telling_patch
from lightproof.experiments.figures.photos import example_rows, photos_of_one
from lightproof.experiments.figures.picture import Picture, source_of
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import PRESETS
from lightproof.method.transform import projection_angles
from lightproof.plots import clouds, examples, histograms, slices
from lightproof.types import Array

CLOUD_CELL: Final = 8
"""Side of a patch whose cloud is shown: 64 points show a shape that the recognizer's 16 only hint at."""

ALPHAS: Final = (0.25, 0.5, 1.0, 1.5, 2.0)

RAMPS: Final = ((0.0, 0.0), (4.0, 0.0), (-4.0, 0.0), (0.0, 4.0), (0.0, -4.0))
"""Ramps of light b, in grey values per pixel to the right and downward."""

GENTLE: Final = 25.0
"""The steepest slope of a patch on which a ramp is shown; among steeper ones the shift would not be seen."""


def paper_figures(faces: FaceSet, split: Split) -> Iterator[Picture]:
    """Draw the figures of the paper with the photos of a data set, one after the other.

    Parameters
    ----------
    faces : FaceSet
        The directions of the light need not be known.
    split : Split
        A photo of the gallery stands for the training light, one of each subset of probes for its light.

    Yields
    ------
    Picture
    """
    photos, source = photos_of_one(faces, split), source_of(faces)
    images = [faces.images[i] for i in photos.values()]
    titles = [f"{name}{_light(faces, i)}" for name, i in photos.items()]
    yield Picture(
        "histograms",
        "One face under several lights",
        "One person in the training light and in a light of each subset, and how often each grey value occurs: the "
        f"harder the light, the less its photo has in common with the first. Photos: {source}.",
        histograms(dict(zip(titles, images, strict=True))),
    )
    yield _real_lights(titles, images, source)
    yield _slicing(images[0], source)
    yield from _light_model(images[0], source)
    yield Picture(
        "examples",
        "Photos of each subset",
        f"A column is a person, a row is a subset, in lights from all over it; shown as dark as they are. "
        f"Photos: {source}.",
        examples(example_rows(faces, split)),
    )


def _real_lights(titles: Sequence[str], images: Sequence[Array], source: str) -> Picture:
    grid = PatchGrid(*SIZE, CLOUD_CELL)
    pixels = [seen(image) for image in images]
    k = telling_patch(pixels[0], grid)
    patches = [patch_of(*parts, grid, k) for parts in zip(titles, images, pixels, strict=True)]
    return Picture(
        "clouds",
        "The gradients of one patch under several lights",
        "Each point is the gradient of a pixel of the marked patch, in grey values per pixel, grey points those of the "
        "first photo: the light scales, shifts and bends the cloud. The enlarged patches are stretched from black to "
        f"white. Photos: {source}.",
        clouds(patches, before=patches[0].cloud, stretched=True),
    )


def _slicing(image: Array, source: str) -> Picture:
    grid = PatchGrid(*SIZE, PRESETS["paper"].cell)
    pixels = seen(image)
    patch = patch_of("", image, pixels, grid, telling_patch(pixels, grid))
    return Picture(
        "slicing",
        "From a patch to a vector",
        "The gradients of a patch, in grey values per pixel, are projected on a few directions; sorted, the "
        "projections are the vector that is compared, the Discrete R-CDT. Drawn without the overlap of the patches. "
        f"Photo: {source}.",
        slices(patch, grid.rows, grid.columns, projection_angles(PRESETS["paper"].n_angles)),
    )


def _light_model(image: Array, source: str) -> Iterator[Picture]:
    grid, pixels = PatchGrid(*SIZE, CLOUD_CELL), seen(image)
    every, k = patch_clouds(pixels, grid), telling_patch(pixels, grid)
    cut = "Picture and patch are cut off at black and white, the cloud is not; grey points are the cloud before."
    yield Picture(
        "light-scales",
        "A stronger light scales the cloud",
        f"The whole picture times alpha, which multiplies every gradient by alpha. {cut} Photo: {source}.",
        clouds([patch_relit(rf"$\alpha$ = {alpha:g}", image, alpha, (0, 0), grid, k) for alpha in ALPHAS], every[k]),
    )
    k = telling_patch(pixels, grid, steepest=GENTLE)
    yield Picture(
        "light-shifts",
        "A slanting light shifts the cloud",
        f"The whole picture plus a ramp b, so many grey values per pixel to the right and downward, which adds b to "
        f"every gradient. {cut} Photo: {source}.",
        clouds([patch_relit(_minus(f"b = ({b[0]:g}, {b[1]:g})"), image, 1, b, grid, k) for b in RAMPS], every[k]),
    )


def _light(faces: FaceSet, photo: int) -> str:
    azimuth, elevation = float(faces.azimuths[photo]), float(faces.elevations[photo])
    return _minus(f"\nlight {azimuth:+.0f}°, {elevation:+.0f}°") if np.isfinite([azimuth, elevation]).all() else ""


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
