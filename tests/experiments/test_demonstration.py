"""The demonstration: what is counted, what is printed, what is drawn."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np
import pytest

from lightproof.datasets import make_relit_faces
from lightproof.experiments.demo_report import demo_page, demo_table
from lightproof.experiments.demonstration import (
    COLUMNS,
    METHODS,
    OURS,
    SEVERITIES,
    TURNED,
    TURNED_LIGHTS,
    YAW,
    run_demo,
    why_not_second,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def faces(people):
    """These people in all lights, and turned."""
    return people.joined(make_relit_faces(3, TURNED_LIGHTS, size=(48, 42), yaw=(-YAW, YAW)))


@pytest.fixture(scope="module")
def demo(faces):
    return run_demo(faces)


def test_turned_heads_are_probes_of_their_own(demo, faces):
    assert (np.abs(faces.yaws[demo.split.probes[TURNED]]) == YAW).all()
    assert len(demo.split.probes[TURNED]) == 3 * 2 * len(TURNED_LIGHTS)
    others = np.concatenate([demo.split.gallery, *(demo.split.probes[severity] for severity in SEVERITIES)])
    assert (faces.yaws[others] == 0).all()


def test_the_demo_counts_every_probe_of_every_method(demo, faces):
    assert len(demo.rows()) == len(METHODS) * len(COLUMNS)
    for row in demo.rows():
        probes = demo.split.probes[row["severity"]]
        right = demo.answers[row["method"]][probes] == faces.labels[probes]
        assert row["accuracy"] == pytest.approx(100 * right.mean())
    assert (faces.azimuths[demo.split.gallery] == 0).all()
    assert (faces.elevations[demo.split.gallery] == 0).all()


def test_the_patches_of_why_add_up_to_the_margin(demo, faces):
    photo = int(demo.split.probes[2][0])
    first, second, favor = why_not_second(demo, photo)
    distances = dict(zip(demo.recognizer.classes_, demo.recognizer.distances(faces.images[[photo]])[0], strict=True))
    assert first == demo.answers[OURS][photo]
    assert favor.shape == (16, 14)
    assert favor.sum() == pytest.approx(distances[second] - distances[first], rel=1e-3)


def test_names_are_escaped(faces):
    strange = replace(faces, labels=np.char.replace(faces.labels, "person-00", "<b>Ann</b>"))
    page = demo_page(run_demo(strange), n_shown=3)
    assert "&lt;b&gt;Ann" in page
    assert "<b>Ann" not in page


def test_the_page_of_the_demo_shows_every_method(demo):
    page = demo_page(demo, n_shown=2)
    assert page.count("<figure") == 2 * 6 + 2 * 4
    for line in demo_table(demo).lines:
        assert all(escape(cell) in page for cell in line)
