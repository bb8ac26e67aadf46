"""Spans of many photos, and the paper's rule for the number of components."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof import FaceRecognizer
from lightproof.errors import BadLabels
from lightproof.people import PEOPLE, spans_of_photos, training_part


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"preset": "authors", "size": (32, 32)}, 6),
        # Copies share the spans, but nobody validates with a copy; whole numbers keep too few directions to choose of.
        ({"preset": "robust", "size": (16, 14), "storage": "float", "search": "none"}, 20),
    ],
)
def test_validation_chooses_the_smallest_number_with_the_best_accuracy(faces, settings, most):
    """By the direct road: fit on the training part with every number, count who is named of the others."""
    images, labels = faces.images, faces.labels.tolist()
    chosen = FaceRecognizer(components="validate", **settings).fit(images, labels).settings_["components"]
    part = training_part(labels, 0)
    names = np.array(labels)
    accuracies = [
        FaceRecognizer(components=count, **settings).fit(images[part], names[part]).score(images[~part], names[~part])
        for count in range(1, most + 1)
    ]
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


@pytest.mark.parametrize("way", ["fit", "enroll"])
def test_validation_needs_two_people(frontal, way):
    alone = frontal.images[frontal.labels == "person-00"]
    recognizer = FaceRecognizer("authors", components="validate")
    with pytest.raises(BadLabels, match=r"^y must be of 2 or more people for components='validate'; got 1\.$"):
        recognizer.fit(alone, ["a", "a"]) if way == "fit" else recognizer.enroll("a", alone)


def test_validation_needs_two_photos_of_everybody(frontal):
    expected = r"^Label 'b' must be on 2 or more images for components='validate'; got 1\.$"
    with pytest.raises(BadLabels, match=expected):
        FaceRecognizer("authors", components="validate").fit(frontal.images[:3], ["a", "a", "b"])


def parts_of(recognizer):
    """Return what spans_of_photos takes of a fitted recognizer."""
    return recognizer._extractor, recognizer._people.shared


@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "robust", "search": "none"},
        {"preset": "fast"},
        {"preset": "fast", "deformations": "all"},
        {"preset": "fast", "storage": "float"},
        {"preset": "authors", "size": (32, 32)},
    ],
    ids=["robust", "fast", "with tangents", "in floats", "authors"],
)
def test_a_photo_spanned_alone_is_what_a_person_of_one_photo_keeps(faces, settings):
    images = faces.images[: 2 * PEOPLE + 1]
    recognizer = FaceRecognizer(**settings).fit(images, range(len(images)))
    found = spans_of_photos(*parts_of(recognizer), images, recognizer.settings_)
    assert len(found) == len(images)
    for label, span in enumerate(found):
        expected = recognizer._people.spans[label]
        np.testing.assert_array_equal(span.own, expected.own)
        np.testing.assert_array_equal(span.coordinates, expected.coordinates)
        assert (span.own.dtype, span.coordinates.dtype) == (expected.own.dtype, expected.coordinates.dtype)


def test_a_photo_is_spanned_alike_in_whatever_block_it_stands(faces):
    images = faces.images[: PEOPLE + 2]
    recognizer = FaceRecognizer("robust", search="none").fit(images[:1], ["a"])
    together = spans_of_photos(*parts_of(recognizer), images, recognizer.settings_)
    for i in (0, PEOPLE - 1, PEOPLE + 1):
        alone = spans_of_photos(*parts_of(recognizer), images[i : i + 1], recognizer.settings_)[0]
        np.testing.assert_array_equal(together[i].own, alone.own)
        np.testing.assert_array_equal(together[i].coordinates, alone.coordinates)


def test_photos_of_different_sizes_are_spanned(faces):
    images = [faces.images[0], faces.images[1][:-4, :-4]]
    recognizer = FaceRecognizer("fast").fit(images, ["a", "b"])
    found = spans_of_photos(*parts_of(recognizer), images, recognizer.settings_)
    np.testing.assert_array_equal(found[1].own, recognizer._people.spans["b"].own)


@pytest.mark.parametrize("preset", ["robust", "fast"])
def test_people_of_different_numbers_of_photos_are_each_spanned_as_if_alone(faces, preset):
    """Those with as many photos are spanned together, a few at a time."""
    labels = ["a", "b", "c", "b", "d", "e", "b", "d", "f"]
    images = faces.images[: len(labels)]
    together = FaceRecognizer(preset, search="none").fit(images, labels)._people.spans
    for label in "abdf":
        mine = np.array(labels) == label
        alone = FaceRecognizer(preset, search="none").fit(images[mine], [label] * mine.sum())._people.spans[label]
        np.testing.assert_array_equal(together[label].own, alone.own)
        np.testing.assert_array_equal(together[label].coordinates, alone.coordinates)
