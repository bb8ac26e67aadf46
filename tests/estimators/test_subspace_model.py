"""Spans of many photos, and the paper's rule for the number of components."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof import FaceRecognizer
from lightproof.core.labels import training_part
from lightproof.errors import BadLabels
from tests.bounded import BOUNDED


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"preset": "authors", "size": (32, 32)}, 6),
        # Copies share the spans, but nobody validates with a copy; whole numbers keep too few directions to choose of.
        (BOUNDED | {"size": (16, 14), "storage": "float"}, 20),
    ],
)
def test_validation_chooses_the_smallest_number_with_the_best_accuracy(faces, settings, most):
    """By the direct road: fit on the training part with every number, count who is named of the others."""
    images, labels = faces.images, faces.labels.tolist()
    chosen = FaceRecognizer(**settings | {"components": "validate"}).fit(images, labels).settings_["components"]
    part = training_part(labels, 0)
    names = np.array(labels)
    recognizers = (FaceRecognizer(**settings | {"components": count}) for count in range(1, most + 1))
    accuracies = [each.fit(images[part], names[part]).score(images[~part], names[~part]) for each in recognizers]
    assert isinstance(chosen, int)
    assert chosen == int(np.argmax(accuracies)) + 1
    assert min(accuracies) < max(accuracies), "the number must matter"


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (3, 2), (6, 4), (9, 6), (10, 6), (11, 7)])
def test_validation_trains_on_two_thirds_of_each_persons_photos(n, expected):
    labels = ["a"] * n + ["b"] * 4
    part = training_part(labels, seed=3)
    assert part[:n].sum() == expected
    assert part[n:].sum() == 2
    np.testing.assert_array_equal(part, training_part(labels, seed=3))


def test_validation_draws_another_part_for_another_seed():
    labels = ["a"] * 11 + ["b"] * 11
    assert len({training_part(labels, seed).tobytes() for seed in range(5)}) > 1
    assert not (training_part(labels, 0)[:7].all() and training_part(labels, 1)[:7].all())


@pytest.mark.parametrize("call", ["fit", "enroll"])
def test_validation_needs_two_people(frontal, call):
    alone = frontal.images[frontal.labels == "person-00"]
    recognizer = FaceRecognizer("authors", components="validate")
    with pytest.raises(BadLabels, match=r"^y must be of 2 or more people for components='validate'; got 1\.$"):
        recognizer.fit(alone, ["a", "a"]) if call == "fit" else recognizer.enroll("a", alone)


def test_validation_needs_two_photos_of_everybody(frontal):
    expected = r"^Label 'b' must be on 2 or more images for components='validate'; got 1\.$"
    with pytest.raises(BadLabels, match=expected):
        FaceRecognizer("authors", components="validate").fit(frontal.images[:3], ["a", "a", "b"])


def test_people_of_different_numbers_of_photos_are_each_spanned_as_if_alone(faces):
    """Those with as many photos are spanned together, a few at a time."""
    labels = ["a", "b", "c", "b", "d", "e", "b", "d", "f"]
    images = faces.images[: len(labels)]
    together = FaceRecognizer(**BOUNDED).fit(images, labels)._model.people.spans
    for label in "abdf":
        mine = np.array(labels) == label
        alone = FaceRecognizer(**BOUNDED).fit(images[mine], [label] * mine.sum())._model.people.spans[label]
        np.testing.assert_array_equal(together[label].own, alone.own)
        np.testing.assert_array_equal(together[label].coordinates, alone.coordinates)
