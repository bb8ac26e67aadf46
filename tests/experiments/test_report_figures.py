"""The figures: which photos are shown, and that what is drawn is what the method computes."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from lightproof import FaceRecognizer, PatchRCDT
from lightproof.core.images import bring_to_size
from lightproof.datasets import YALE_LIGHTS, make_relit_faces
from lightproof.datasets.protocols import Split, yale_subset, yale_test_2
from lightproof.experiments import report_figures
from lightproof.experiments.paper_figures import (
    ALPHAS,
    CLOUD_CELL,
    RAMPS,
    SIZE,
    SLOPE,
    example_rows,
    paper_figures,
    patch_clouds,
    photos_of_one,
    relit,
    telling_patch,
)
from lightproof.experiments.report_figures import (
    accuracies_of_lights,
    decision_figure,
    light_figure,
    patch_accuracies,
)
from lightproof.method.patches import PatchGrid
from lightproof.method.transform import discrete_rcdt, projection_angles

pytestmark = pytest.mark.slow

GRID = PatchGrid(*SIZE, CLOUD_CELL)


@pytest.fixture(scope="module")
def people():
    return make_relit_faces(3, YALE_LIGHTS, size=(48, 42))


@pytest.fixture(scope="module")
def split(people):
    return yale_test_2().split(people)


@pytest.fixture(scope="module")
def dark(people):
    """The same photos, with nothing known about the light."""
    unknown = np.full(len(people), np.nan)
    return replace(people, name="my photos", azimuths=unknown, elevations=unknown)


@pytest.fixture(scope="module")
def pixels(people):
    return bring_to_size(people.images[:1], SIZE, np.float64)[0]


def inner(grid: PatchGrid) -> np.ndarray:
    """Patches that touch no border: there Sobel's mirror does not follow the light."""
    low, high = grid.corners.min(axis=1) > 0, grid.corners.max(axis=1) + grid.cell < min(grid.height, grid.width)
    return low & high


@pytest.fixture(scope="module")
def pictures(dark, split):
    return list(paper_figures(dark, split))


def test_every_figure_is_drawn_once_even_where_no_light_is_known(pictures):
    assert [p.name for p in pictures] == [
        "histograms", "clouds", "slicing", "light-scales", "light-shifts", "examples",
    ]  # fmt: skip
    for attribute in ("name", "title", "caption", "png"):
        values = [getattr(picture, attribute) for picture in pictures]
        assert all(values)
        assert len(set(values)) == len(values), attribute


def test_figures_fit_a_page_and_a_mail(pictures):
    for picture in pictures:
        width, height = Image.open(io.BytesIO(picture.png)).size
        assert 400 <= width <= 1200, picture.name
        assert 300 <= height <= 1000, picture.name
        assert len(picture.png) < 200_000, picture.name


def test_captions_say_where_the_photos_come_from(people, split, pictures):
    assert all("my photos" in picture.caption for picture in pictures)
    assert "rendered, no real people" in next(paper_figures(people, split)).caption


def test_known_lights_are_written_above_their_photos(people, split, pictures):
    assert next(paper_figures(people, split)).png != pictures[0].png


def test_without_light_directions_there_is_no_map_of_lights(dark, split):
    assert light_figure(dark, split.probes[1], {"ours": np.ones(len(split.probes[1]))}) is None


def test_one_person_is_shown_in_each_subset(people, dark, split):
    for faces in (people, dark):
        chosen = photos_of_one(faces, split)
        assert list(chosen) == ["training", "subset 1", "subset 2", "subset 3", "subset 4"]
        photos = list(chosen.values())
        assert len(set(faces.labels[photos])) == 1
        assert yale_subset(people.azimuths[photos], people.elevations[photos]).tolist() == [0, 1, 2, 3, 4]


def test_the_person_shown_has_photos_in_the_most_subsets(people, split):
    # Of the first person only the easiest subset is left.
    first = people.labels[split.gallery[0]]
    probes = {i: p if i == 1 else p[people.labels[p] != first] for i, p in split.probes.items()}
    chosen = photos_of_one(people, Split(split.gallery, {**probes, 5: np.array([], np.intp)}))
    assert len(chosen) == 5
    assert people.labels[chosen["training"]] != first


def test_a_gallery_alone_is_drawn(people, split):
    only = Split(split.gallery, {})
    assert list(photos_of_one(people, only)) == ["training"]
    assert list(example_rows(people, only)) == ["training"]


def test_example_rows_show_everybody_in_every_subset(people, split):
    rows = example_rows(people, split)
    assert list(rows) == ["training", "subset 1", "subset 2", "subset 3", "subset 4"]
    assert {len(row) for row in rows.values()} == {3}
    by_pixels = {people.images[i].tobytes(): i for i in range(len(people))}
    for subset, row in enumerate(rows.values()):
        shown = [by_pixels[image.tobytes()] for image in row]
        assert people.labels[shown].tolist() == ["person-00", "person-01", "person-02"]
        assert set(yale_subset(people.azimuths[shown], people.elevations[shown])) == {subset}


def test_who_has_no_photo_in_a_subset_leaves_a_gap(people, split):
    others = split.probes[2][people.labels[split.probes[2]] != "person-01"]
    rows = example_rows(people, Split(split.gallery, {1: np.array([], np.intp), 2: others}))
    assert list(rows) == ["training", "subset 2"]
    assert [image is None for image in rows["subset 2"]] == [False, True, False]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_alpha_multiplies_the_cloud(pixels, alpha):
    np.testing.assert_allclose(patch_clouds(relit(pixels, alpha), GRID), alpha * patch_clouds(pixels, GRID), atol=1e-9)


@pytest.mark.parametrize("ramp", RAMPS)
def test_a_ramp_shifts_the_cloud_by_itself(pixels, ramp):
    moved, before = (patch_clouds(picture, GRID)[inner(GRID)] for picture in (relit(pixels, ramp=ramp), pixels))
    np.testing.assert_allclose(moved, before + np.array(ramp), atol=1e-9)


def test_alpha_and_ramp_leave_the_middle_of_a_black_picture_black():
    black = np.zeros((5, 7))
    ramped = relit(black, alpha=3.0, ramp=(1.0, 2.0))
    assert ramped[2, 3] == 0
    np.testing.assert_allclose(255 * ramped[2], [-3, -2, -1, 0, 1, 2, 3])
    np.testing.assert_allclose(255 * ramped[:, 3], [-4, -2, 0, 2, 4])


def test_clouds_are_the_gradients_behind_the_features(people, pixels):
    """The vector drawn is the vector the recognizer compares, in other units."""
    features = PatchRCDT(overlap=0, angle_scheme="uniform", dtype="float64").fit(people.images[:1])
    drawn = discrete_rcdt(patch_clouds(pixels, PatchGrid(*SIZE, 4)), projection_angles(4))
    expected = features.patch_vectors(people.images[:1])[0].reshape(drawn.shape)
    np.testing.assert_allclose(drawn / SLOPE, expected, atol=1e-9)


def test_the_telling_patch_is_the_one_with_a_pattern():
    plain = np.full(SIZE, 0.5)
    rng = np.random.default_rng(3)
    plain[24:32, 40:48] = rng.uniform(0, 1, (8, 8))
    plain[0:8, 0:8] = rng.uniform(0, 9, (8, 8))  # at the border it does not count
    assert GRID.corners[telling_patch(plain, GRID)].tolist() == [24, 40]


def test_steep_patches_are_passed_over_where_there_are_others():
    picture = np.full(SIZE, 0.5)
    rng = np.random.default_rng(4)
    picture[24:32, 40:48] = rng.uniform(0, 1, (8, 8))
    picture[32:40, 16:24] += rng.uniform(0, 0.05, (8, 8))
    assert GRID.corners[telling_patch(picture, GRID, steepest=20)].tolist() == [32, 16]
    steep = np.indices(SIZE).sum(axis=0) % 7 / 3.0
    assert telling_patch(steep, GRID, steepest=1e-3) == telling_patch(steep, GRID)


class TwoByThree:
    """Two people, six patches; patch k of photo i is nearest to person (i * k) % 2."""

    classes_ = np.array(["ann", "bob"])
    grid_ = PatchGrid(4, 6, 2)

    def __init__(self):
        self.asked = []

    def patch_distances(self, X):
        self.asked.append(len(X))
        nearest = (X[:, 0, 0, None] * np.arange(6)) % 2
        return np.stack([nearest, 1 - nearest], axis=2).astype(float)


def test_patch_accuracies_count_what_each_patch_says_alone():
    # Photo 0: all patches say ann. Photo 1: ann, bob, ann, bob, ann, bob.
    images = np.array([0, 1]).reshape(2, 1, 1)
    found = patch_accuracies(TwoByThree(), images, np.array(["ann", "bob"]))
    np.testing.assert_array_equal(found, [[50, 100, 50], [100, 50, 100]])


def test_patch_accuracies_do_not_depend_on_the_blocks(monkeypatch):
    images, labels = np.arange(7).reshape(7, 1, 1), np.array(["ann", "bob"])[[0, 1, 1, 0, 1, 0, 0]]
    whole = patch_accuracies(TwoByThree(), images, labels)
    monkeypatch.setattr(report_figures, "PHOTOS_PER_BLOCK", 3)
    stub = TwoByThree()
    np.testing.assert_allclose(patch_accuracies(stub, images, labels), whole)
    assert stub.asked == [3, 3, 1]


@pytest.mark.parametrize(
    ("settings", "shape"),
    [({"preset": "fast"}, (16, 14)), ({"preset": "authors", "size": (64, 64), "cell": 16, "overlap": 0}, (4, 4))],
)
def test_patch_accuracies_of_a_recognizer_equal_a_plain_loop(people, split, settings, shape):
    recognizer = FaceRecognizer(**settings)
    recognizer.fit(people.images[split.gallery], people.labels[split.gallery])
    probes = split.probes[2][:9]
    distances = recognizer.patch_distances(people.images[probes])
    found = patch_accuracies(recognizer, people.images[probes], people.labels[probes])
    assert found.shape == shape
    for k in range(found.size):
        named = [recognizer.classes_[min(range(3), key=lambda c: d[k, c])] for d in distances]
        right = sum(name == label for name, label in zip(named, people.labels[probes], strict=True))
        assert found.flat[k] == pytest.approx(100 * right / 9)


def test_the_decision_figure_leaves_empty_subsets_out(people, split):
    enrolled = people.images[split.gallery], people.labels[split.gallery]
    recognizer = FaceRecognizer("paper", cell=16, overlap=0).fit(*enrolled)
    few = {1: split.probes[1][:4], 2: np.array([], np.intp)}
    picture = decision_figure(recognizer, people, Split(split.gallery, few))
    assert "3 people" in picture.caption
    assert Image.open(io.BytesIO(picture.png)).size[0] == 520


def test_photos_are_gathered_by_their_light():
    lights, found = accuracies_of_lights(
        np.array([0.0, 50.0, 0.0, 0.0]), np.array([0.0, 0.0, 90.0, 0.0]), {"a": np.array([True, False, True, False])}
    )
    assert lights.tolist() == [[0, 0], [0, 90], [50, 0]]
    assert found["a"].tolist() == [50, 100, 0]


def test_the_map_of_lights_takes_photos_with_a_known_light(people, split):
    azimuths = people.azimuths.copy()
    azimuths[split.probes[1]] = np.nan
    partly = replace(people, azimuths=azimuths)
    probes = np.concatenate([split.probes[1], split.probes[3]])
    picture = light_figure(partly, probes, {"ours": np.ones(len(probes))})
    assert picture is not None
    assert "Lines part the subsets" in picture.caption
    other = light_figure(
        replace(people, azimuths=people.azimuths + 1), split.probes[3], {"ours": np.ones(len(split.probes[3]))}
    )
    assert other is not None
    assert "Lines" not in other.caption


@pytest.mark.data
def test_real_photos_show_one_person_in_each_subset(yale):
    chosen = photos_of_one(yale, yale_test_2().split(yale))
    photos = list(chosen.values())
    assert yale_subset(yale.azimuths[photos], yale.elevations[photos]).tolist() == [0, 1, 2, 3, 4]
    brightness = [yale.images[i].mean() for i in photos]
    assert brightness == sorted(brightness, reverse=True)
