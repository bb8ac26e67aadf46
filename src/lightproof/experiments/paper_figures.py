"""The figures of the paper, drawn with the photos of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.experiments.report_figures import ReportFigure, grey, source_of
from lightproof.method.gradients import GRADIENTS
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import PAPER_PRESETS
from lightproof.method.transform import projection_angles
from lightproof.plots import DrawnPatch, clouds, examples, histograms, slices
from lightproof.types import Array, Floats, Ints

SIZE: Final = PAPER_PRESETS["paper"].shape  # of faces before gradients are taken, as in the recognizer

SLOPE: Final = 255 / 8
"""Turns Sobel sums of pixels with white = 1 into grey values per pixel: a Sobel sum is eight times the slope."""

CLOUD_CELL: Final = 8
"""Side of a patch whose cloud is shown: 64 points show a shape that the recognizer's 16 only hint at."""

ALPHAS: Final = (0.25, 0.5, 1.0, 1.5, 2.0)
RAMPS: Final = ((0, 0), (4, 0), (-4, 0), (0, 4), (0, -4))  # b in grey values per pixel to the right and downward

GENTLE: Final = 25.0
"""The steepest slope of a patch that shows a ramp; on a steeper one the shift would be invisible."""

MAX_SUBSETS: Final = 5
MAX_PEOPLE: Final = 10


def paper_figures(faces: FaceSet, split: Split) -> Iterator[ReportFigure]:
    """Draw the figures of the paper with the photos of a data set, whose directions of the light may be unknown.

    A photo of the gallery shows the training light, and one of each subset of probes its light.
    """
    photos, source = photos_of_one(faces, split), source_of(faces)
    images = [faces.images[i] for i in photos.values()]
    titles = [f"{name}{_light(faces, i)}" for name, i in photos.items()]
    yield ReportFigure(
        "histograms",
        "One face under several lights",
        "One person in the training light and in a light of each subset, and how often each grey value occurs: the "
        f"harder the light, the less its photo has in common with the first. Photos: {source}.",
        histograms(dict(zip(titles, images, strict=True))),
    )
    yield _real_lights(titles, images, source)
    yield _slicing(images[0], source)
    yield from _light_model(images[0], source)
    yield ReportFigure(
        "examples",
        "Photos of each subset",
        f"A column is a person, a row is a subset, in lights from all over it; shown as dark as they are. "
        f"Photos: {source}.",
        examples(example_rows(faces, split)),
    )


def _real_lights(titles: Sequence[str], images: Sequence[Array], source: str) -> ReportFigure:
    grid = PatchGrid(*SIZE, CLOUD_CELL)
    pixels = [seen(image) for image in images]
    k = telling_patch(pixels[0], grid)
    patches = [patch_of(*parts, grid, k) for parts in zip(titles, images, pixels, strict=True)]
    return ReportFigure(
        "clouds",
        "The gradients of one patch under several lights",
        "Each point is the gradient of a pixel of the marked patch, in grey values per pixel, grey points those of the "
        "first photo: the light scales, shifts and bends the cloud. The enlarged patches are stretched from black to "
        f"white. Photos: {source}.",
        clouds(patches, before=patches[0].cloud, stretched=True),
    )


def _slicing(image: Array, source: str) -> ReportFigure:
    grid = PatchGrid(*SIZE, PAPER_PRESETS["paper"].cell)
    pixels = seen(image)
    patch = patch_of("", image, pixels, grid, telling_patch(pixels, grid))
    return ReportFigure(
        "slicing",
        "From a patch to a vector",
        "The gradients of a patch, in grey values per pixel, are projected on a few directions; sorted, the "
        "projections are the vector that is compared, the Discrete R-CDT. Drawn without the overlap of the patches. "
        f"Photo: {source}.",
        slices(patch, grid.rows, grid.columns, projection_angles(PAPER_PRESETS["paper"].n_angles)),
    )


def _light_model(image: Array, source: str) -> Iterator[ReportFigure]:
    grid, pixels = PatchGrid(*SIZE, CLOUD_CELL), seen(image)
    every, k = patch_clouds(pixels, grid), telling_patch(pixels, grid)
    cut = "Picture and patch are cut off at black and white, the cloud is not; grey points are the cloud before."
    yield ReportFigure(
        "light-scales",
        "A stronger light scales the cloud",
        f"The whole picture times alpha, which multiplies every gradient by alpha. {cut} Photo: {source}.",
        clouds([patch_relit(rf"$\alpha$ = {alpha:g}", image, alpha, (0, 0), grid, k) for alpha in ALPHAS], every[k]),
    )
    k = telling_patch(pixels, grid, steepest=GENTLE)
    yield ReportFigure(
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


def photos_of_one(faces: FaceSet, split: Split) -> dict[str, int]:
    """Choose a person with photos in as many subsets as possible, and one photo of each."""
    best: dict[str, int] = {}
    for photo in split.gallery:
        chosen = {"training": int(photo)}
        for number, probes in list(split.probes.items())[:MAX_SUBSETS]:
            mated = probes[faces.labels[probes] == faces.labels[photo]]
            if len(mated):
                chosen[f"subset {number}"] = _typical(faces, mated)
        if len(chosen) > len(best):
            best = chosen
    return best


def example_rows(faces: FaceSet, split: Split) -> dict[str, list[Array | None]]:
    """Choose photos of several people for each subset, their lights spread over it; None if a person has no photo."""
    people = np.unique(faces.labels[split.gallery])[:MAX_PEOPLE]
    rows: dict[str, list[Array | None]] = {}
    subsets = {f"subset {number}": probes for number, probes in list(split.probes.items())[:MAX_SUBSETS]}
    for name, photos in {"training": split.gallery, **subsets}.items():
        by_person = [photos[faces.labels[photos] == person] for person in people]
        if any(map(len, by_person)):
            n = len(people)
            rows[name] = [faces.images[p[i * len(p) // n]] if len(p) else None for i, p in enumerate(by_person)]
    return rows


def _typical(faces: FaceSet, photos: Ints) -> int:
    """Choose the photo of median brightness; if directions are known, among those lit from the left."""
    lit_from_left = photos[faces.azimuths[photos] > 0]
    photos = lit_from_left if len(lit_from_left) else photos
    by_brightness = np.argsort([float(np.mean(faces.images[i])) for i in photos], kind="stable")
    return int(photos[by_brightness[len(photos) // 2]])


def relit(pixels: Floats, alpha: float = 1.0, ramp: tuple[float, float] = (0.0, 0.0)) -> Floats:
    r"""Change the light of a picture by eq. (imageSpace) with :math:`\beta = 0`: :math:`\alpha I + b \cdot x`.

    White is 1, but the result may leave [0, 1]; ``ramp`` is b in grey values per pixel, to the right and downward; x is
    0 in the middle of the picture.
    """
    down, across = (np.arange(side) - (side - 1) / 2 for side in pixels.shape)
    changed: Floats = alpha * pixels + (ramp[0] * across + ramp[1] * down[:, None]) / 255
    return changed


def patch_clouds(pixels: Floats, grid: PatchGrid) -> Floats:
    """Gradients of every patch in grey values per pixel, (h, w) -> (K, N, 2), x first."""
    gradients = SLOPE * GRADIENTS[PAPER_PRESETS["paper"].gradient](pixels)
    return np.swapaxes(grid.gather(gradients[None])[0], -1, -2)


def telling_patch(pixels: Floats, grid: PatchGrid, steepest: float = np.inf) -> int:
    """Find the patch, away from the border, whose gradients fill the widest area; one not too steep, if there is."""
    every = patch_clouds(pixels, grid)
    centered = every - every.mean(axis=1, keepdims=True)
    area = np.linalg.det(np.swapaxes(centered, 1, 2) @ centered)
    middle = (grid.corners + grid.cell / 2) / (grid.height, grid.width)
    area[np.abs(middle - 0.5).max(axis=1) > 0.36] = -1
    gentle = np.where(np.abs(every).max(axis=(1, 2)) <= steepest, area, -1)
    return int(np.argmax(gentle if gentle.max() >= 0 else area))


def patch_relit(
    title: str, image: Array, alpha: float, ramp: tuple[float, float], grid: PatchGrid, k: int
) -> DrawnPatch:
    """Change the light of a photo and take patch k of the result."""
    # In the photo's own size a pixel is a smaller part of the same ramp.
    fine = (ramp[0] * grid.width / image.shape[1], ramp[1] * grid.height / image.shape[0])
    shown = grey(relit(bring_to_size(image[None], None, np.float64)[0], alpha, fine))
    return patch_of(title, shown, relit(seen(image), alpha, ramp), grid, k)


def patch_of(title: str, image: Array, pixels: Floats, grid: PatchGrid, k: int) -> DrawnPatch:
    """Take patch k of a photo; ``pixels`` is the photo as :func:`seen`."""
    top, left = grid.corners[k].tolist()
    box = (left / grid.width, top / grid.height, grid.cell / grid.width, grid.cell / grid.height)
    cut = grid.gather(pixels[None, None])[0, k].reshape(grid.cell, grid.cell)
    return DrawnPatch(title, image, box, grey(cut), patch_clouds(pixels, grid)[k])


def seen(image: Array) -> Floats:
    """Bring a photo to the recognizer's size, white = 1."""
    pixels: Floats = bring_to_size(image[None], SIZE, np.float64)[0]
    return pixels
