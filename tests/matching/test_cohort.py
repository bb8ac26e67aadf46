"""The rendered people that everybody is compared with."""

from __future__ import annotations

import numpy as np

from benchmarks.cohort import LIGHTS, draw, draw_lights, draw_shaped
from lightproof.imaging.decode import read_grey
from lightproof.imaging.lighting.light_direction import PEOPLE
from lightproof.matching.cohort import FACE_SHAPE, N_FACES, cohort_faces
from lightproof.matching.matcher import matcher_for
from lightproof.method.presets import ENGINES


def test_the_sheets_hold_sixty_different_faces():
    faces = cohort_faces()
    assert all(face.has_mesh and face.eyes is face.image for face in faces)
    for sheet in ([face.image for face in faces], [face.shaped for face in faces]):
        pictures = np.stack(sheet)
        assert pictures.shape == (N_FACES, *FACE_SHAPE) == (60, 96, 84)
        assert pictures.dtype == np.uint8
        assert len({picture.tobytes() for picture in pictures}) == N_FACES
        # Every one is a picture with light and shade, none is cut off the sheet in the wrong place.
        assert (pictures.reshape(N_FACES, -1).std(axis=1) > 15).all()


def test_the_sheet_is_what_the_benchmark_draws():
    drawn, kept = draw(2).astype(int), np.stack([face.image for face in cohort_faces()[:2]]).astype(int)
    assert np.abs(drawn - kept).max() <= 1


def test_the_sheet_in_the_common_shape_is_what_the_benchmark_draws(photos_extra):
    """Up to the last digits of the networks, which are not the same on every machine."""
    drawn, kept = draw_shaped(2).astype(int), np.stack([face.shaped for face in cohort_faces()[:2]]).astype(int)
    assert np.abs(drawn - kept).mean() < 0.5


def test_every_preset_of_a_gallery_can_enroll_the_sheets():
    for settings in ENGINES.values():
        cohorts = matcher_for(settings).cohorts
        for people, has_mesh in ((cohorts.with_mesh, True), (cohorts.without, False)):
            assert people.names == [f"rendered {i:02d}" for i in range(N_FACES)]
            assert (people.has_mesh == has_mesh).all()


def test_the_sheet_of_lights_is_what_the_benchmark_draws():
    kept = read_grey(LIGHTS.read_bytes()).astype(int)
    drawn = draw_lights(1).astype(int)
    assert kept.shape == (PEOPLE * len(drawn), drawn.shape[1])
    assert np.abs(kept[: len(drawn)] - drawn).max() <= 1
