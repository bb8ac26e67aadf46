"""The rendered people that everybody is compared with."""

from __future__ import annotations

import numpy as np

from benchmarks.cohort import LIGHTS, draw, draw_lights
from lightproof.imaging.decode import read_grey
from lightproof.imaging.lighting.light_direction import PEOPLE
from lightproof.matching.cohort import FACE_SHAPE, N_FACES, cohort_faces
from lightproof.matching.matcher import Matcher
from lightproof.method.presets import GALLERIES


def test_the_sheet_holds_sixty_different_faces():
    faces = cohort_faces()
    assert faces.shape == (N_FACES, *FACE_SHAPE) == (60, 96, 84)
    assert faces.dtype == np.uint8
    assert len({face.tobytes() for face in faces}) == N_FACES
    # Every one is a picture with light and shade, none is cut off the sheet in the wrong place.
    assert (faces.reshape(N_FACES, -1).std(axis=1) > 15).all()


def test_the_sheet_is_what_the_benchmark_draws():
    drawn, kept = draw(2).astype(int), cohort_faces()[:2].astype(int)
    assert np.abs(drawn - kept).max() <= 1


def test_every_preset_of_a_gallery_can_enroll_the_sheet():
    for settings in GALLERIES.values():
        people = Matcher(settings).cohort
        assert people.names == [f"rendered {i:02d}" for i in range(N_FACES)]


def test_the_sheet_of_lights_is_what_the_benchmark_draws():
    kept = read_grey(LIGHTS.read_bytes()).astype(int)
    drawn = draw_lights(1).astype(int)
    assert kept.shape == (PEOPLE * len(drawn), drawn.shape[1])
    assert np.abs(kept[: len(drawn)] - drawn).max() <= 1
