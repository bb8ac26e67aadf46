from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
from sklearn.base import clone

from lightproof.estimators import baselines
from lightproof.estimators.baselines import pipelines

RIVALS = [
    function
    for name, function in vars(pipelines).items()
    if inspect.isfunction(function) and function.__module__ == pipelines.__name__ and not name.startswith("_")
]


def test_every_rival_is_at_the_front_door():
    assert len(RIVALS) == 10
    assert all(getattr(baselines, rival.__name__) is rival for rival in RIVALS)


@pytest.mark.parametrize("rival", RIVALS)
def test_arguments_are_plain_values(rival):
    defaults = {name: value.default for name, value in inspect.signature(rival).parameters.items()}
    assert json.loads(json.dumps(defaults)) == defaults | {"size": [64, 64]}
    assert rival(**json.loads(json.dumps(defaults))).get_params(deep=False)["steps"]


@pytest.mark.parametrize("rival", RIVALS)
def test_every_argument_arrives(rival):
    """What is given comes back from some step."""
    given = {"sigma": 1.25, "alpha": 5, "scales": 3, "discard": 9, "cell": 5, "block": 2, "strategy": "ovr"}
    given |= {"encoding": "angle", "rescale": "before", "size": (40, 44)}
    wanted = {name: given[name] for name in inspect.signature(rival).parameters}
    steps = [step.get_params() for _, step in rival(**wanted).steps]
    for name, value in wanted.items():
        assert value in [step.get(name) for step in steps], name


@pytest.mark.parametrize("rival", RIVALS)
def test_rivals_name_the_photos_they_know_and_can_be_cloned(frontal, rival):
    pipeline = clone(rival((32, 40)))
    assert pipeline.fit(list(frontal.images), frontal.labels).score(frontal.images, frontal.labels) == 1.0


@pytest.mark.parametrize("rival", [r for r in RIVALS if r is not pipelines.pixel_neighbor])
def test_rivals_name_more_people_under_hard_light_than_pixels_do(frontal, lit, rival):
    side = lit.take(np.abs(lit.azimuths) == 50)
    score, by_pixels = (
        make((64, 64)).fit(frontal.images, frontal.labels).score(side.images, side.labels)
        for make in (rival, pipelines.pixel_neighbor)
    )
    assert score > by_pixels


@pytest.mark.data
@pytest.mark.parametrize(
    ("rival", "least"),
    [
        (pipelines.weberface_svm, 0.95),
        (pipelines.mslde_svm, 0.9),
        (pipelines.logdct_svm, 0.85),
        (pipelines.gradientface_svm, 0.75),
    ],
)
def test_rivals_name_real_faces_from_the_side(yale, rival, least):
    """Photos lit from at most 10 degrees aside and 20 above or below enroll; asked are those lit from 70 aside."""
    front = (np.abs(yale.azimuths) <= 10) & (np.abs(yale.elevations) <= 20)
    known, asked = yale.take(front), yale.take(np.abs(yale.azimuths) == 70)
    assert rival().fit(known.images, known.labels).score(asked.images, asked.labels) > least
