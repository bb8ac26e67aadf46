"""The demonstration: what is counted, what is printed, what is drawn."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np
import pytest

from lightproof.experiments.demo_report import demo_page, demo_table
from lightproof.experiments.demonstration import METHODS, OURS, run_demo, why_not_second

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(people):
    return run_demo(people)


def test_the_demo_counts_every_probe_of_every_method(demo, people):
    assert len(demo.rows()) == len(METHODS) * 4
    for row in demo.rows():
        probes = demo.split.probes[row["severity"]]
        right = demo.answers[row["method"]][probes] == people.labels[probes]
        assert row["accuracy"] == pytest.approx(100 * right.mean())
    assert (people.azimuths[demo.split.gallery] == 0).all()
    assert (people.elevations[demo.split.gallery] == 0).all()


def test_the_patches_of_why_add_up_to_the_margin(demo, people):
    photo = int(demo.split.probes[2][0])
    first, second, favor = why_not_second(demo, photo)
    distances = dict(zip(demo.recognizer.classes_, demo.recognizer.distances(people.images[[photo]])[0], strict=True))
    assert first == demo.answers[OURS][photo]
    assert favor.shape == (31, 27)
    assert favor.sum() == pytest.approx(distances[second] - distances[first], rel=1e-3)


def test_names_are_escaped(people):
    strange = replace(people, labels=np.char.replace(people.labels, "person-00", "<b>Ann</b>"))
    page = demo_page(run_demo(strange), n_shown=3)
    assert "&lt;b&gt;Ann" in page
    assert "<b>Ann" not in page


def test_the_page_of_the_demo_shows_every_method(demo):
    page = demo_page(demo, n_shown=2)
    assert page.count("<figure") == 2 * 5 + 2 * 4
    for line in demo_table(demo).lines:
        assert all(escape(cell) in page for cell in line)
