from __future__ import annotations

import numpy as np
import pytest

from lightproof.datasets import FaceSet


def face_set(**more):
    pictures = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    return FaceSet("some", pictures, np.array(["a", "a", "b"]), np.zeros(3), np.ones(3), ("x", "y", "z"), **more)


@pytest.mark.parametrize("chosen", [np.array([2, 0]), np.array([True, False, True])])
def test_what_is_taken_stays_together(chosen):
    faces = face_set(shots=("1", "5", "7"), skipped=("w: junk",)).take(chosen)
    order = [2, 0] if chosen.dtype != bool else [0, 2]
    assert faces.files == tuple("xyz"[i] for i in order)
    assert faces.shots == tuple("157"[i] for i in order)
    assert faces.labels.tolist() == ["aab"[i] for i in order]
    assert faces.images[:, 0, 0].tolist() == [4 * i for i in order]
    assert faces.skipped == ("w: junk",)


def test_photos_without_a_shot_have_an_empty_one():
    assert face_set().shots == ("", "", "")
    assert face_set().take(np.array([1])).shots == ("",)
