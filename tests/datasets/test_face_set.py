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


def test_a_pose_is_unknown_where_nobody_says_it_and_stays_with_its_photo():
    faces = face_set(yaws=np.array([-20.0, 0.0, 20.0]))
    assert faces.take(np.array([2, 0])).yaws.tolist() == [20, -20]
    for unknown in (faces.pitches, faces.mouth_opens, faces.smiles, face_set().yaws):
        assert np.isnan(unknown).all()
        assert unknown.shape == (3,)


def test_faces_that_were_found_keep_their_meshes_and_count_as_cut_by_these():
    shaped = (np.ones((2, 2), np.uint8), None, np.zeros((2, 2), np.uint8))
    faces = face_set(shaped=shaped)
    aligned = faces.aligned()
    assert [face.shaped for face in aligned] == list(shaped)
    assert all(face.image is face.picture("eyes") for face in aligned)
    assert not any(face.came_cut for face in aligned)


def test_two_sets_are_joined_photo_by_photo():
    first = face_set(shots=("1", "5", "7"), skipped=("w: junk",), yaws=np.arange(3.0))
    both = first.joined(first.take(np.array([1])))
    assert both.name == "some"
    assert both.files == ("x", "y", "z", "y")
    assert both.shots == ("1", "5", "7", "5")
    assert both.yaws.tolist() == [0, 1, 2, 1]
    assert both.images.shape == (4, 2, 2)
    assert len(both.found) == len(both.pitches) == 4
