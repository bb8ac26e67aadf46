"""Benchmarks are run, once and tiny: one that nobody runs is dead."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_recognizer import Faces, Ours, Textbook
from benchmarks.run import measure


def test_the_benchmark_measures_what_it_says():
    figures = measure(Faces(n_people=3, n_probes=4), turns=1)
    for what in ("features", "fit", "identify"):
        assert figures[what]["ratio"] == pytest.approx(figures[what]["textbook_ms"] / figures[what]["ours_ms"])
    assert 0 < figures["peak_mib_10000_faces"] < 1024
    assert figures["accuracy"]["ours"] == figures["accuracy"]["textbook"]


def test_ours_and_the_textbook_name_the_same_people():
    faces = Faces(n_people=4, n_probes=8)
    ours, loop = Ours(), Textbook()
    ours.setup(faces)
    loop.setup(faces)
    named = ours.recognizer.classes_[ours.time_identify()]
    np.testing.assert_array_equal(named[: loop.n_identify], loop.time_identify())
