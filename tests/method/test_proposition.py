"""Proposition of the section "Using the smallest d^c": on images of the generative model, the answer is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof import FaceRecognizer
from lightproof.method.patches import PatchGrid
from tests.examples import examples

GRID = PatchGrid(16, 20, cell=4, overlap=0)


def relight(image, rng, bend=0.0):
    """Give every patch its own contrast, brightness and ramp, eq. (GenModelc); ``bend`` adds what the model lacks."""
    out = np.empty_like(image)
    rows, columns = np.mgrid[0:4, 0:4]
    for top, left in GRID.corners:
        alpha, beta, right, down = rng.uniform(0.2, 3), rng.uniform(-1, 1), *rng.uniform(-0.5, 0.5, 2)
        patch = (slice(top, top + 4), slice(left, left + 4))
        out[patch] = alpha * image[patch] + beta + right * columns + down * rows + bend * columns * rows
    return out


def patchwise(images):
    """Lay the patches apart, one picture each, so that no difference crosses a patch border."""
    n = len(images)
    return GRID.gather(images[:, None])[:, :, 0].reshape(n * GRID.n_patches, 4, 4)


def recognizers(people):
    """One recognizer a patch, each on its own little picture, without noise between patches."""
    cut = patchwise(people).reshape(len(people), GRID.n_patches, 4, 4)
    shared = {"size": "as-is", "cell": 4, "overlap": 0, "gradient": "central", "dtype": "float64", "components": 1.0}
    return [FaceRecognizer("paper", **shared).fit(cut[:, k], list(range(len(people)))) for k in range(GRID.n_patches)]


def summed_distances(models, probe):
    cut = patchwise(probe[None])
    return np.sum([model.distances(cut[[k]])[0] for k, model in enumerate(models)], axis=0)


@examples(20)
@given(st.integers(0, 2**32 - 1))
def test_a_relit_image_is_at_distance_0_from_its_person_and_farther_from_everybody_else(seed):
    rng = np.random.default_rng(seed)
    people = rng.random((4, 16, 20))
    models = recognizers(people)
    for c, person in enumerate(people):
        d = summed_distances(models, relight(person, rng))
        assert d[c] < 1e-9
        assert (np.delete(d, c) > 1e-3).all()


@examples(10)
@given(st.integers(0, 2**32 - 1))
def test_light_outside_the_model_leaves_a_distance(seed):
    rng = np.random.default_rng(seed)
    people = rng.random((2, 16, 20))
    d = summed_distances(recognizers(people), relight(people[0], rng, bend=0.2))
    assert d[0] > 1e-3


def test_people_who_differ_in_one_patch_only_are_told_apart(rng):
    first = rng.random((16, 20))
    second = first.copy()
    second[4:8, 8:12] = rng.random((4, 4))
    models = recognizers(np.stack([first, second]))
    for c, person in enumerate((first, second)):
        d = summed_distances(models, relight(person, rng))
        assert d[c] < 1e-9 < d[1 - c]


def test_people_who_are_relit_copies_cannot_be_told_apart(rng):
    """The assumption of the proposition is needed: here every set of the one meets that of the other."""
    first = rng.random((16, 20))
    d = summed_distances(recognizers(np.stack([first, relight(first, rng)])), relight(first, rng))
    assert d == pytest.approx([0, 0], abs=1e-9)
