from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from skimage.feature import hog
from skimage.transform import resize
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from lightproof.core.labels import training_part
from lightproof.errors import BadLabels, BadParameter
from lightproof.estimators.baselines import (
    ChiSquareNeighbor,
    OneNeighbor,
    ValidatedSVM,
    hog_neighbor,
    lbp_neighbor,
    pixel_neighbor,
    tan_triggs_neighbor,
)
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.method.illumination import tan_triggs

COSTS = (0.01, 0.1, 1, 10, 100)

OTHER_WORDS = {
    "check_classifier_data_not_an_array": "labels must have a length",
    "check_classifiers_regression_target": "a float is a label like any other",
    "check_supervised_y_2d": "labels in a column are refused, not flattened",
    "check_requires_y_none": "the message is lightproof's",
}
TWO_PEOPLE = {
    "check_classifiers_one_label": "a machine needs two people",
    "check_fit2d_1sample": "a machine needs two people, and says so in lightproof's words",
}


def otherwise(estimator):
    """Name the checks that lightproof's rules for labels do not meet."""
    if isinstance(estimator, OneNeighbor):
        return {}
    return OTHER_WORDS | TWO_PEOPLE if isinstance(estimator, ValidatedSVM) else OTHER_WORDS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks warn of what they try on purpose
@parametrize_with_checks([ValidatedSVM(), ChiSquareNeighbor(), OneNeighbor()], expected_failed_checks=otherwise)
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)


def clouds(rng, people=6, photos=7, length=9, spread=1.0):
    """Make up photos: a middle for each person, and noise around it."""
    middles = rng.normal(size=(people, length))
    X = np.repeat(middles, photos, axis=0) + spread * rng.normal(size=(people * photos, length))
    return X, np.repeat([f"p{i}" for i in range(people)], photos)


def machines(X):
    """List every candidate as scikit-learn spells it, on the rows themselves."""
    scale = 1 / (X.shape[1] * X.var())
    linear = [(f"linear, C={C:g}", SVC(kernel="linear", C=C)) for C in COSTS]
    return linear + [
        (f"rbf, gamma={width:g} x scale, C={C:g}", SVC(kernel="rbf", C=C, gamma=width * scale))
        for width in (0.1, 1, 10)
        for C in COSTS
    ]


def by_the_direct_road(X, y, wrap=lambda machine: machine):
    part = training_part(y.tolist(), 0)
    scores = [np.mean(wrap(m).fit(X[part], y[part]).predict(X[~part]) == y[~part]) for _, m in machines(X)]
    best = int(np.argmax(scores))
    name, machine = machines(X)[best]
    return f"{name}, {100 * scores[best]:.1f} % of {np.sum(~part)} held-back photos", wrap(machine).fit(X, y), scores


@pytest.mark.parametrize("spread", [1.0, 2.0, 3.0])
def test_the_first_best_candidate_on_photos_held_back_is_trained_on_all(rng, spread):
    X, y = clouds(rng, spread=spread)
    expected, machine, scores = by_the_direct_road(X, y)
    assert min(scores) < max(scores), "the choice must matter"
    svm = ValidatedSVM().fit(X, y)
    assert svm.chosen_ == expected
    probes = rng.normal(size=(300, 9))
    assert np.mean(svm.predict(probes) == machine.predict(probes)) > 0.99  # both stop a little before the optimum


def test_a_gaussian_kernel_is_chosen_where_no_line_parts_people(rng):
    """One person around the other."""
    angles = rng.uniform(0, 2 * np.pi, 60)
    ring = 3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    X, y = np.concatenate([ring, 0.3 * rng.normal(size=(60, 2))]), np.repeat(["around", "inside"], 60)
    svm = ValidatedSVM().fit(X, y)
    assert svm.chosen_.startswith("rbf, gamma=")
    assert svm.chosen_.endswith(", 100.0 % of 40 held-back photos")
    assert svm.predict([[0, 0], [3, 0], [0, -3]]).tolist() == ["inside", "around", "around"]


def test_ties_go_to_the_simplest():
    X, y = np.repeat(np.eye(3) * 10, 6, axis=0), np.repeat(["a", "b", "c"], 6)
    assert ValidatedSVM().fit(X, y).chosen_ == "linear, C=0.01, 100.0 % of 6 held-back photos"


def test_one_against_the_rest_is_that_of_scikit_learn(rng):
    X, y = clouds(rng, spread=2.0)
    expected, machine, _ = by_the_direct_road(X, y, OneVsRestClassifier)
    svm = ValidatedSVM("ovr").fit(X, y)
    assert svm.chosen_ == expected
    probes = rng.normal(size=(300, 9))
    assert np.mean(svm.predict(probes) == machine.predict(probes)) > 0.99


@given(
    st.integers(2, 8),
    st.integers(1, 6),
    st.sampled_from(COSTS),
    st.sampled_from(["linear", "rbf"]),
    st.integers(0, 10**6),
)
def test_with_one_photo_a_person_any_machine_is_the_nearest_neighbor(people, length, C, kernel, seed):
    rng = np.random.default_rng(seed)
    X, probes = rng.normal(size=(people, length)), rng.normal(size=(20, length))
    distances = np.linalg.norm(probes[:, None] - X, axis=2)
    nearest = np.sort(distances, axis=1)
    assume(np.all(nearest[:, 1] - nearest[:, 0] > 1e-4))
    y = np.arange(people)
    machine = SVC(kernel=kernel, C=C, gamma=0.1)
    assert machine.fit(X, y).predict(probes).tolist() == distances.argmin(axis=1).tolist()
    svm = ValidatedSVM().fit(X, y)
    assert svm.predict(probes).tolist() == distances.argmin(axis=1).tolist()
    assert svm.chosen_ == "one photo a person: nothing to choose, linear, C=1"


def test_somebody_with_one_photo_only_trains(rng):
    X, y = clouds(rng, people=3, photos=6, spread=0.1)
    lone = rng.normal(size=(1, 9)) + 9
    svm = ValidatedSVM().fit(np.concatenate([lone, X]), ["alone", *y])
    assert svm.chosen_.endswith("of 6 held-back photos")
    assert svm.predict(lone).tolist() == ["alone"]
    part = training_part(["alone", *y], 0, single="trains")
    assert part[0]
    assert part.sum() == 1 + 3 * 4


def test_another_seed_draws_another_part(rng):
    X, y = clouds(rng, spread=2.5)
    assert len({ValidatedSVM(random_state=seed).fit(X, y).chosen_ for seed in range(6)}) > 1


def test_many_probes_are_named_as_few_are(rng):
    X, y = clouds(rng)
    svm = ValidatedSVM().fit(X.astype(np.float32), y)
    probes = rng.normal(size=(600, 9)).astype(np.float32)
    assert svm.predict(probes).tolist() == np.concatenate([svm.predict(probes[[i]]) for i in range(600)]).tolist()


def test_where_the_origin_lies_does_not_matter(rng):
    X, y = clouds(rng, photos=1)
    probes = rng.normal(size=(100, 9))
    far = ValidatedSVM().fit(X + 1e6, y).predict(probes + 1e6)
    assert far.tolist() == ValidatedSVM().fit(X, y).predict(probes).tolist()


def test_photos_that_are_all_alike_are_no_obstacle():
    svm = ValidatedSVM().fit(np.ones((4, 3)), ["a", "a", "b", "b"])
    assert set(svm.predict(np.ones((2, 3)))) <= {"a", "b"}


def test_labels_may_be_of_any_type(rng):
    X, _ = clouds(rng, people=2, photos=1)
    svm = ValidatedSVM().fit(X, [("a", 1), None])
    assert svm.predict(X).tolist() == [("a", 1), None]
    assert ValidatedSVM().fit(X, [True, False]).classes_.tolist() == [False, True]


def test_the_machine_keeps_the_contract_of_scikit_learn():
    svm = ValidatedSVM("ovr", random_state=3)
    assert clone(svm).get_params() == {"strategy": "ovr", "random_state": 3}


@pytest.mark.parametrize(
    ("svm", "name", "legal"),
    [
        (ValidatedSVM("one"), "strategy", "one of 'ovo', 'ovr'"),
        (ValidatedSVM(random_state=-1), "random_state", "an int of 0 or more"),
    ],
)
def test_a_bad_parameter_is_refused_in_fit(rng, svm, name, legal):
    with pytest.raises(BadParameter, match=rf"^`{name}` of ValidatedSVM must be {legal}; got .*\.$"):
        svm.fit(*clouds(rng))


def test_what_cannot_be_used_is_refused(rng):
    X, y = clouds(rng)
    with pytest.raises(NotFitted, match=r"^ValidatedSVM\.predict must come after fit; got no fit\.$"):
        ValidatedSVM().predict(X)
    with pytest.raises(BadLabels, match=r"^y must be of 2 or more people for ValidatedSVM; got 1\.$"):
        ValidatedSVM().fit(X, ["a"] * len(X))
    with pytest.raises(BadLabels, match=r"^y must be one label for each of the 42 images; got 41 labels\.$"):
        ValidatedSVM().fit(X, y[1:])
    with pytest.raises(ValueError, match="8 features"):
        ValidatedSVM().fit(X, y).predict(X[:, 1:])


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_labels_of_the_chi_square_neighbor_may_be_of_any_type():
    known = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert ChiSquareNeighbor().fit(known, [("a", 1), None]).predict(known).tolist() == [("a", 1), None]


def test_the_chi_square_neighbor_refuses_what_it_cannot_use():
    with pytest.raises(NotFitted, match=r"^ChiSquareNeighbor\.predict must come after fit; got no fit\.$"):
        ChiSquareNeighbor().predict([[1.0]])
    with pytest.raises(BadLabels, match=r"^y must be one label for each of the 2 images; got 1 labels\.$"):
        ChiSquareNeighbor().fit([[1.0], [2.0]], ["a"])
    with pytest.raises(ValueError, match="Negative values"):
        ChiSquareNeighbor().fit([[-1.0], [2.0]], ["a", "b"])
