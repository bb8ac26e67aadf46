"""Curves of recognition: drawn in their size, moved by their figures, safe at the ends of their axes."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.metrics import roc
from lightproof.plots import Line, det_chart, open_set_chart, rank_chart, roc_chart
from lightproof.plots.canvas import BLUE, VERMILION
from lightproof.plots.charts import SIZE
from tests.plots.test_plots import count_of, decoded

pytestmark = pytest.mark.slow


def line(genuine, impostor, marks=()) -> Line:
    found = roc(np.array(genuine), np.array(impostor))
    return Line(found.far, found.frr, marks)


@pytest.fixture
def usual(rng) -> Line:
    return line(rng.normal(2, 1, 300), rng.normal(0, 1, 3000))


CHARTS = [roc_chart, open_set_chart, det_chart]


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_has_its_size_and_shows_each_line_in_its_color(chart, usual, rng):
    other = line(rng.normal(1, 1, 300), rng.normal(0, 1, 3000))
    png = chart({"all": usual, "hard": other})
    assert decoded(png).shape[:2] == pytest.approx(SIZE[::-1], abs=1)
    assert count_of(png, BLUE) > 300
    assert count_of(png, VERMILION) > 100
    assert count_of(chart({"all": usual}), VERMILION) == 0
    assert (decoded(png)[0, 0] == 255).all()


def test_ranks_are_drawn_to_the_longest_curve():
    png = rank_chart({"all": np.array([0.8, 0.9, 1.0]), "hard": np.array([0.5])})
    assert decoded(png).shape[:2] == pytest.approx(SIZE[::-1], abs=1)
    assert count_of(png, BLUE) > 300
    columns = np.nonzero((np.abs(decoded(png)[:400] - [213, 94, 0]).max(axis=2) <= 6).any(axis=0))[0]
    assert np.ptp(columns) > 300, "a short curve stays where it is up to the end"


@pytest.mark.parametrize("length", [1, 30, 31])
def test_ranks_of_any_number_can_be_drawn(length):
    assert count_of(rank_chart({"all": np.linspace(0.5, 1, length)}), BLUE) > 50


@pytest.mark.parametrize("chart", [open_set_chart, det_chart])
@pytest.mark.parametrize(
    ("genuine", "impostor"),
    [([2.0, 3.0], [0.0, 1.0]), ([0.0, 1.0], [2.0, 3.0]), ([1.0], [1.0]), ([1.0, 2.0], [1.0, 2.0])],
    ids=["apart", "all wrong", "one score", "the same"],
)
def test_curves_without_a_slope_can_be_drawn(chart, genuine, impostor):
    assert decoded(chart({"all": line(genuine, impostor)})).min() < 128


def test_a_point_is_marked_even_at_a_rate_of_none(usual):
    bare = open_set_chart({"all": usual})
    for far in (0.05, 0.0):
        marked = Line(usual.far, usual.frr, ((far, 0.5),))
        assert count_of(open_set_chart({"all": marked}), BLUE) > count_of(bare, BLUE)


def test_better_scores_give_another_curve_and_the_same_give_the_same_bytes(usual, rng):
    better = line(rng.normal(3, 1, 300), rng.normal(0, 1, 3000))
    drawn = det_chart({"all": usual})
    assert drawn == det_chart({"all": usual})
    assert drawn != det_chart({"all": better})
