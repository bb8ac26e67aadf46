"""What is drawn: pictures that decode, have their size, show something, and change when the figures do."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from lightproof.method.patches import PatchGrid
from lightproof.method.transform import projection_angles
from lightproof.plots import (
    DrawnPatch,
    Measured,
    accuracy_by_light,
    accuracy_chart,
    clouds,
    compared,
    decision_maps,
    examples,
    explanation_figure,
    histograms,
    overlay_map,
    png_of,
    slices,
    sweep_map,
)
from lightproof.plots.canvas import BLUE, VERMILION

pytestmark = pytest.mark.slow


def decoded(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def count_of(png: bytes, color: str) -> int:
    """Pixels near a color; the palette may move it a little."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(decoded(png) - wanted).max(axis=2) <= 6).sum())


@pytest.fixture
def patch(rng):
    face = rng.integers(0, 256, (48, 40)).astype(np.uint8)
    return DrawnPatch("a light", face, (0.25, 0.5, 0.125, 0.125), face[:4, :4], rng.normal(size=(16, 2)))


LIGHTS = np.array([[0.0, 0.0], [50.0, 0.0], [-50.0, 0.0], [0.0, 90.0]])


def test_every_picture_has_its_size_and_is_not_blank(rng, patch):
    face = patch.face
    drawn = {
        "histograms": (histograms({"one": face, "two": face}), (430, 1100)),
        "examples": (examples({"training": [face] * 10, "subset 1": [None, *[face] * 9]}), (224, 950)),
        "clouds": (clouds([patch] * 5, patch.cloud), (640, 1100)),
        "slices": (slices(patch, 12, 10, projection_angles(4)), (360, 1180)),
        "by light": (accuracy_by_light(*LIGHTS.T, {"a": rng.uniform(0, 100, 4)}), (448, 700)),
        "maps": (decision_maps({"subset 1": rng.uniform(0, 100, (5, 4))}, face), (300, 520)),
        "compared": (compared({"subset 1": [Measured("a", 50.0, 40.0, 60.0, 70.0)]}), (137, 327)),
        "sweep": (sweep_map(rng.uniform(0, 100, (2, 3)), "ab", "cde", "title"), (222, 442)),
        "chart": (accuracy_chart({"a": [90.0, 50.0]}, ["mild", "side"]), (468, 936)),
    }
    for name, (png, size) in drawn.items():
        pixels = decoded(png)
        np.testing.assert_allclose(pixels.shape[:2], size, atol=1, err_msg=name)
        dark = np.mean(pixels.min(axis=2) < 128)
        assert 0.002 < dark < 0.95, name
        assert (pixels[0, 0] == 255).all(), f"{name}: the paper is white"


def test_the_same_figures_give_the_same_bytes(patch):
    assert clouds([patch], patch.cloud) == clouds([patch], patch.cloud)


def test_a_cloud_before_is_drawn_behind_the_others(patch):
    moved = clouds([patch], patch.cloud + 1.0)
    assert moved != clouds([patch])
    assert count_of(moved, VERMILION) == count_of(clouds([patch]), VERMILION) > 0


@pytest.mark.parametrize("angles", [1, 9])
def test_slices_take_any_number_of_directions(patch, angles):
    assert decoded(slices(patch, 12, 10, projection_angles(angles))).shape[1] == 1180


def test_a_cloud_of_one_point_at_nothing_has_a_plane():
    still = DrawnPatch(
        "no light", np.zeros((8, 8), np.uint8), (0, 0, 0.5, 0.5), np.zeros((4, 4), np.uint8), np.zeros((16, 2))
    )
    assert decoded(clouds([still])).min() == 0


@pytest.mark.parametrize("n", [1, 3, 5, 8])
def test_lights_are_drawn_for_any_number_of_methods(n):
    png = accuracy_by_light(*LIGHTS.T, {f"method {i}": np.full(4, 50.0) for i in range(n)}, borders=(30.0,))
    assert decoded(png).shape[1] == (1200 if n > 1 else 700)


def test_positive_azimuths_stand_on_the_left_as_in_the_picture():
    azimuths, elevations = np.array([100.0, -100.0]), np.array([0.0, 0.0])
    pixels = decoded(accuracy_by_light(azimuths, elevations, {"a": np.array([100.0, 0.0])}))[:, :560]
    yellow = (pixels[:, :, 0] > 220) & (pixels[:, :, 2] < 90)
    purple = np.abs(pixels - (68, 1, 84)).max(axis=2) < 8
    assert yellow.any(axis=0).nonzero()[0].max() < purple.any(axis=0).nonzero()[0].min()


def test_where_points_fall_together_the_poorer_is_seen():
    both = np.zeros(2)
    for values in ([100.0, 0.0], [0.0, 100.0]):
        pixels = decoded(accuracy_by_light(both, both, {"a": np.array(values)}))[:, :560]
        assert not ((pixels[:, :, 0] > 220) & (pixels[:, :, 2] < 90)).any()


def test_a_method_that_was_not_run_has_only_its_published_mark():
    room = {"subset 2": [], "subset 3": []}  # for the key
    published = compared({"subset 1": [Measured("a", None, published=50.0)], **room})
    ours = compared({"subset 1": [Measured("a", 50.0, 30.0, 70.0)], **room})
    key = compared({"subset 1": [Measured("a", None)], **room})
    assert count_of(published, VERMILION) > count_of(key, VERMILION)
    assert count_of(published, BLUE) == count_of(key, BLUE)
    assert count_of(ours, BLUE) > count_of(key, BLUE) + 50
    assert count_of(ours, VERMILION) == count_of(key, VERMILION)


def test_panels_may_lack_methods():
    rows = [Measured("a", 50.0), Measured("b", 60.0)]
    assert decoded(compared({"1": rows, "2": rows[1:]})).shape[0] == 164


def test_cells_that_were_not_run_are_told_apart():
    table = np.array([[50.0, np.nan]])
    grey = (decoded(sweep_map(table, ["4"], ["2", "3"], "t")) == 240).all(axis=2).sum()
    assert grey > 2000
    assert decoded(sweep_map(np.full((1, 1), np.nan), ["4"], ["2"], "nothing")).min() < 128


def test_maps_share_one_scale():
    low = np.full((3, 3), 10.0)
    alone = decoded(decision_maps({"a": low}))
    beside = decoded(decision_maps({"a": low, "b": 10 * low}))
    # Alone, 10 is the top and yellow; beside 100 it is dark.
    assert alone[150, 100][0] > 220
    assert beside[150, 100][0] < 90


def test_a_picture_survives_encoding(rng):
    image = rng.integers(0, 256, (5, 7)).astype(np.uint8)
    back = np.asarray(Image.open(io.BytesIO(png_of(image, scale=2))))
    np.testing.assert_array_equal(back[::2, ::2], image)


def test_the_overlay_is_blue_where_patches_speak_for_and_red_where_against():
    mixed = overlay_map(np.full((40, 40), 128, np.uint8), np.array([[1.0, -1.0]])).astype(int)
    left, right = mixed[20, 3], mixed[20, 36]
    assert left[2] > left[0]
    assert right[0] > right[2]


def test_the_overlay_of_an_even_map_has_no_division_by_zero():
    assert overlay_map(np.zeros((8, 8), np.uint8), np.zeros((2, 2))).shape == (8, 8, 3)


def test_maps_of_one_span_have_the_same_colors():
    def color_of_the_first_cell(values, span):
        picture = decoded(sweep_map(np.array(values), ["a"], ["b", "c"], "t", span=span))
        return picture[picture.shape[0] // 2 - 15, 80].tolist()

    alone = [color_of_the_first_cell([[50.0, high]], None) for high in (60.0, 100.0)]
    shared = [color_of_the_first_cell([[50.0, high]], (0.0, 100.0)) for high in (60.0, 100.0)]
    assert shared[0] == shared[1] != alone[0]


def explained(patches, rival_patches=None):
    patches, rival = np.array(patches, float), None if rival_patches is None else np.array(rival_patches, float)
    grid = PatchGrid(12, 16, cell=4, overlap=0)
    return SimpleNamespace(
        person="Anna",
        against=None if rival is None else "Ben",
        lead=patches.sum(),
        rival_lead=None if rival is None else rival.sum(),
        patches=patches,
        rival_patches=rival,
        difference=None if rival is None else patches - rival,
        face=np.full((12, 16), 160, np.uint8),
        grid=grid,
        sentence="lead 1.0 = +2.0 and -1.0",
    )


def strong(pixels: np.ndarray, ink: str) -> np.ndarray:
    """Mark pixels that are clearly blue or red."""
    here, there = (2, 0) if ink == "blue" else (0, 2)
    return pixels[:, :, here] - pixels[:, :, there] > 60


def test_an_explanation_is_blue_for_and_red_against_where_the_patches_lie():
    patches = np.zeros((3, 4))
    patches[0, 0], patches[2, 3] = 1.0, -1.0
    pixels = decoded(explanation_figure(explained(patches)))[:, :505]  # without the scale
    assert pixels.shape[0] == 375
    assert not strong(pixels[:, :245], "blue").any()  # the face alone comes first
    assert not strong(pixels[:, :245], "red").any()
    (blue_rows, blue_columns), (red_rows, red_columns) = (np.nonzero(strong(pixels, ink)) for ink in ("blue", "red"))
    assert blue_rows.max() < red_rows.min()
    assert blue_columns.max() < red_columns.min()


def test_with_another_person_there_are_three_maps_of_one_scale():
    two = explained(np.full((3, 4), 1.0), np.full((3, 4), -1.0))
    pixels = decoded(explanation_figure(two))
    assert pixels.shape[1] == pytest.approx(130 + 4 * 240, abs=1)
    row = pixels[170]
    ours, theirs, apart = row[360], row[600], row[840]
    assert ours[2] > ours[0]
    assert theirs[0] > theirs[2]
    assert apart[2] - apart[0] > ours[2] - ours[0]  # 2 is bluer than 1


def test_an_explanation_of_nothing_can_be_drawn():
    pixels = decoded(explanation_figure(explained(np.zeros((3, 4)))))
    assert pixels.min() < 128
    assert not strong(pixels[:, :505], "blue").any()


def test_what_is_written_around_an_explanation_can_be_chosen():
    patches = np.ones((3, 4))
    plain = explanation_figure(explained(patches))
    assert explanation_figure(explained(patches)) == plain
    assert explanation_figure(explained(patches), name="photo 7") != plain
    assert explanation_figure(explained(patches), sentence="because") != plain
