from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from lightproof import NearestSubspace, PatchRCDT
from lightproof.errors import BadParameter


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks warn of what they try on purpose
@parametrize_with_checks([NearestSubspace(), NearestSubspace(components=1)])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)


def planes(rng, n=30):
    """Two classes on two planes through the origin in six dimensions."""
    bases = [np.linalg.qr(rng.normal(size=(6, 2)))[0].T for _ in range(2)]
    X = np.concatenate([rng.normal(size=(n, 2)) @ basis for basis in bases])
    return X, np.repeat(["first", "second"], n), bases


def test_points_on_planes_go_to_their_plane(rng):
    X, y, bases = planes(rng)
    model = NearestSubspace(components=0.999).fit(X, y)
    assert model.score(X, y) == 1.0
    assert [len(basis) for basis in model.bases_] == [2, 2]
    off = X @ bases[1].T @ bases[1]
    assert_allclose(model.distances(X)[:, 1], np.linalg.norm(X - off, axis=1), atol=1e-10)
    assert_allclose(model.distances(X)[:30, 0], 0, atol=1e-12)


def test_fitting_twice_equals_fitting_once(rng):
    X, y, _ = planes(rng)
    once = NearestSubspace().fit(X, y)
    twice = NearestSubspace().fit(X[:, :4], y).fit(X, y)
    assert_allclose(once.distances(X), twice.distances(X))


def test_one_sample_a_class_is_fine_and_silent(rng):
    X = rng.normal(size=(12, 6))
    assert NearestSubspace().fit(X, np.arange(12)).score(2 * X[::3], np.arange(12)[::3]) == 1.0


@pytest.mark.slow
def test_it_takes_patch_features_and_a_grid_search(frontal):
    pipeline = make_pipeline(PatchRCDT(size=(32, 32)), NearestSubspace())
    search = GridSearchCV(pipeline, {"nearestsubspace__components": [1, 0.9]}, cv=2)
    assert search.fit(frontal.images, frontal.labels).best_score_ == 1.0


def test_a_share_given_as_a_numpy_float_is_a_share(rng):
    X, y, _ = planes(rng)
    plain, numpy = (NearestSubspace(c).fit(X, y) for c in (0.5, np.float32(0.5)))
    assert_allclose(numpy.distances(X), plain.distances(X))


@pytest.mark.parametrize("components", [0, -1, 0.0, 1.5, "many", None, True])
def test_bad_components_are_refused(rng, components):
    legal = (
        r"^`components` of NearestSubspace must be a share in \(0, 1\] given as a float or an int of 1 or more; got "
    )
    with pytest.raises(BadParameter, match=legal):
        NearestSubspace(components=components).fit(rng.normal(size=(4, 3)), [0, 0, 1, 1])
