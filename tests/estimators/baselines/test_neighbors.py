from __future__ import annotations

import numpy as np
import pytest
from skimage.feature import hog
from skimage.transform import resize

from lightproof.errors import BadLabels
from lightproof.estimators.baselines import (
    ChiSquareNeighbor,
    hog_neighbor,
    lbp_neighbor,
    pixel_neighbor,
    tan_triggs_neighbor,
)
from lightproof.estimators.not_fitted import NotFitted
from lightproof.method.illumination import tan_triggs


@pytest.mark.parametrize(
    ("make", "describe"),
    [(pixel_neighbor, np.ravel), (hog_neighbor, hog), (tan_triggs_neighbor, lambda image: tan_triggs(image).ravel())],
    ids=["pixels", "hog", "tan-triggs"],
)
def test_the_answer_is_the_nearest_neighbor_by_brute_force(frontal, lit, make, describe):
    def vector(image):
        return describe(resize(image / 255.0, (64, 64), anti_aliasing=True))

    known = np.stack([vector(image) for image in frontal.images])
    expected = [frontal.labels[np.linalg.norm(known - vector(image), axis=1).argmin()] for image in lit.images[:10]]
    assert make().fit(frontal.images, frontal.labels).predict(lit.images[:10]).tolist() == expected


@pytest.mark.parametrize("make", [pixel_neighbor, hog_neighbor, tan_triggs_neighbor, lbp_neighbor])
def test_one_photo_a_person_raises_no_warning(frontal, make):
    one = frontal.take(frontal.azimuths == 0)
    assert make().fit(one.images, one.labels).score(one.images, one.labels) == 1.0


def test_the_chi_square_neighbor_is_the_nearest_by_the_formula(rng):
    known, probes = rng.integers(0, 4, (30, 12)), rng.integers(0, 4, (600, 12))
    names = [f"p{i:02d}" for i in range(30)]

    def distance(a, b):
        return sum((x - y) ** 2 / (x + y) for x, y in zip(a.tolist(), b.tolist(), strict=True) if x + y)

    expected = [names[int(np.argmin([distance(probe, row) for row in known]))] for probe in probes[::20]]
    assert ChiSquareNeighbor().fit(known, names).predict(probes)[::20].tolist() == expected


def test_chi_square_and_the_common_distance_differ():
    """0 against 1 weighs 1, 9 against 11 only 0.2."""
    known, probe = np.array([[0.0, 11.0], [1.0, 9.0]]), np.array([[0.99, 11.0]])
    assert ChiSquareNeighbor().fit(known, ["a", "b"]).predict(probe).tolist() == ["b"]
    assert np.linalg.norm(known - probe, axis=1).argmin() == 0


def test_labels_may_be_of_any_type():
    known = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert ChiSquareNeighbor().fit(known, [("a", 1), None]).predict(known).tolist() == [("a", 1), None]


def test_the_chi_square_neighbor_refuses_what_it_cannot_use():
    with pytest.raises(NotFitted, match=r"^ChiSquareNeighbor\.predict must come after fit; got no fit\.$"):
        ChiSquareNeighbor().predict([[1.0]])
    with pytest.raises(BadLabels, match=r"^y must be one label for each of the 2 images; got 1 labels\.$"):
        ChiSquareNeighbor().fit([[1.0], [2.0]], ["a"])
    with pytest.raises(ValueError, match="Negative values"):
        ChiSquareNeighbor().fit([[-1.0], [2.0]], ["a", "b"])
