"""Where paper and released code differ, as docs/method.md lists it: each difference pinned."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lightproof import PRESETS, FaceRecognizer, PatchRCDT
from lightproof.datasets import YALE_LIGHTS, make_relit_faces
from lightproof.datasets.protocols import yale_test_2
from lightproof.method.illumination import log
from lightproof.method.subspaces import count_components, principal_directions
from lightproof.method.transform import projection_angles


def test_the_presets_differ_in_just_these_settings():
    paper, authors = PRESETS["paper"], PRESETS["authors"]
    assert {name for name in paper if paper[name] != authors[name]} == {"angle_scheme", "span", "aggregate"}


def test_1_the_angles_of_the_code_are_not_evenly_spaced():
    authors = np.rad2deg(projection_angles(4, PRESETS["authors"]["angle_scheme"]))
    paper = np.rad2deg(projection_angles(4, PRESETS["paper"]["angle_scheme"]))
    assert_allclose(authors, [0, 45, 135, 179])
    assert_allclose(paper, [0, 45, 90, 135])


def test_2_the_code_counts_unsquared_singular_values_and_the_paper_variance():
    singular = np.array([1.0, 0.1, 0.05])
    assert count_components(singular, 0.99) == 3
    assert count_components(singular**2, 0.99) == 2


def test_3_the_code_lets_the_largest_count_of_a_patch_serve_everybody(frontal, lit):
    """With everybody's own count, distances do not depend on who else is enrolled; with the largest they do."""
    pair = frontal.take(np.isin(frontal.labels, ["person-00", "person-01"]))
    dependence = {}
    for span in ("kept", "joint"):
        recognizer = FaceRecognizer("authors", span=span, components=0.9, dtype="float64")
        few = recognizer.fit(pair.images, pair.labels).patch_distances(lit.images)
        everybody = recognizer.fit(frontal.images, frontal.labels).patch_distances(lit.images)
        dependence[span] = np.abs(everybody[:, :, :2] - few).max()
    assert dependence["kept"] < 1e-9
    assert dependence["joint"] > 1e-3


def test_4_the_code_divides_each_patch_by_its_norm_over_the_people(frontal, lit):
    """So a patch that is ten times as bright counts as much as before; in the plain sum it counts ten times as much."""
    gains = {}
    for aggregate in ("sum", "normalized"):
        recognizer = FaceRecognizer("authors", aggregate=aggregate, dtype="float64")
        recognizer.fit(frontal.images, frontal.labels)
        half = lit.images[:1] / 255.0
        brighter = half.copy()
        brighter[:, :, :28] *= 10
        before, after = (recognizer.patch_contributions(image)[0].sum(axis=1) for image in (half, brighter))
        inside = recognizer.grid_.as_map(after / before)[2:-2, 2:8]
        gains[aggregate] = np.median(inside)
    assert gains["sum"] == pytest.approx(10, rel=1e-6)
    assert gains["normalized"] == pytest.approx(1, abs=1e-2)


def test_pca_of_photos_and_translations_together_would_drop_the_photo():
    """Why the preset "paper" keeps the translation vectors apart: they are longer than the gradients of a patch."""
    faces = make_relit_faces(1, [(0, 0)], size=(64, 64))
    recognizer = FaceRecognizer("paper", dtype="float64").fit(faces.images, faces.labels)
    vectors = recognizer._model.extractor.patch_vectors(faces.images)[0]
    translations = np.broadcast_to(recognizer._model.extractor.translation_, (len(vectors), 2, vectors.shape[1]))
    joint = np.concatenate([vectors[:, None], translations], axis=1)
    kept = count_components(principal_directions(joint).strengths ** 2, 0.99)
    assert np.mean(kept < 3) > 0.2
    assert recognizer.patch_distances(faces.images).max() < 1e-9


def test_5_the_random_photo_of_the_code_is_always_the_same_light():
    lights = [light for light in YALE_LIGHTS if abs(light[0]) <= 10 and abs(light[1]) <= 20]
    faces = make_relit_faces(2, lights, size=(16, 16))
    chosen = faces.take(yale_test_2("authors").split(faces).gallery)
    assert list(zip(chosen.azimuths, chosen.elevations, strict=True)) == [(-5, -10)] * 2
    ten = faces.take(~((faces.azimuths == -10) & (faces.elevations == 0)))
    chosen = ten.take(yale_test_2("authors").split(ten).gallery)
    assert list(zip(chosen.azimuths, chosen.elevations, strict=True)) == [(-5, 10)] * 2


def test_6_every_photo_is_used_where_the_code_cuts_everybody_to_the_smallest_number(frontal, lit):
    """Somebody with one photo takes nothing from somebody with two."""
    both = frontal.take(np.isin(frontal.labels, ["person-00", "person-01"]))
    uneven = both.take(np.array([True, True, True, False]))
    settings = {"preset": "authors", "span": "kept", "components": 1.0}
    even, cut = (FaceRecognizer(**settings).fit(f.images, f.labels).patch_distances(lit.images) for f in (both, uneven))
    assert_allclose(cut[:, :, 0], even[:, :, 0], atol=1e-6)
    assert np.abs(cut[:, :, 1] - even[:, :, 1]).max() > 1e-3


def test_7_smoothing_in_8_bits_changes_the_features(frontal):
    large = np.repeat(np.repeat(frontal.images, 3, axis=1), 3, axis=2)
    found = {s: FaceRecognizer("authors", smoothing=s).fit(large, frontal.labels) for s in ("float", "8-bit")}
    vectors = {s: r._model.extractor.patch_vectors(large[:1]) for s, r in found.items()}
    assert np.abs(vectors["float"] - vectors["8-bit"]).max() > 1e-3


def test_8_scale_of_the_pixels_is_white_equal_to_1_in_plain_and_in_log(frontal):
    """The code works on 0..255 and divides again without log only; one scale keeps the rule for components alike."""
    extractor = PatchRCDT(dtype="float64").fit(frontal.images)
    assert_allclose(extractor.transform(frontal.images), extractor.transform(frontal.images / 255.0), atol=1e-12)
    white = np.ones((1, 4, 4))
    assert_allclose(log(white), white)
