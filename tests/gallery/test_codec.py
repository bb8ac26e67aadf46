"""What a gallery is: its settings, of this version or another, and making it anew."""

from __future__ import annotations

import dataclasses
import sqlite3

import numpy as np
import pytest

from lightproof.errors import BadGallery, BadImage, BadParameter
from lightproof.gallery import Gallery
from lightproof.gallery.store import Store
from lightproof.matching import template_codec
from lightproof.matching.template_codec import parameters_of, settings_json
from lightproof.matching.views import discriminants
from lightproof.method.presets import ENGINES
from tests.gallery.people import NAMES, answers, enroll, face, new, place_of, rendered, state, tamper


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        enroll(opened, NAMES[:3], lights=(0, 1))
        yield opened


def test_a_gallery_of_another_recipe_is_refused(gallery):
    with gallery.store.writing() as change:
        change.set_fact("parameters", "of long ago")
    with pytest.raises(BadGallery, match="made anew with other parameters meanwhile; open it again"):
        gallery.enroll("Dan", [face("Dan")])
    with pytest.raises(BadGallery, match=r"got templates of another version \(see: lightproof rebuild\)"):
        Gallery.open(place_of(gallery))


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["", "{}", "[1]", "null", '{"size": 5}', "\x07", "[" * 100_000])
def test_settings_that_cannot_be_read_are_refused(gallery, settings):
    with gallery.store.writing() as change:
        change.set_fact("settings", settings)
    with pytest.raises(BadGallery, match=r"got settings that cannot be read \(see: lightproof rebuild\)"):
        Gallery.open(place_of(gallery))


def test_templates_of_another_version_are_refused(gallery):
    with gallery.store.writing() as change:
        change.set_fact("parameters", "0" * 64)
    with pytest.raises(BadGallery, match=r"got templates of another version \(see: lightproof rebuild\)"):
        Gallery.open(place_of(gallery))


def test_settings_of_another_preset_than_the_templates_are_refused(gallery):
    with gallery.store.writing() as change:
        change.set_fact("settings", settings_json(ENGINES["robust"]))
    with pytest.raises(BadGallery, match="got settings that cannot be read"):
        Gallery.open(place_of(gallery))


def test_other_discriminants_are_other_parameters(monkeypatch):
    before = parameters_of(ENGINES["fast"])
    changed = {name: matrix.copy() for name, matrix in discriminants().items()}
    changed["mesh-48x42-0-3"][0, 0, 0] += 1
    monkeypatch.setattr(template_codec, "discriminants", lambda: changed)
    parameters_of.cache_clear()
    assert parameters_of(ENGINES["fast"]) != before
    monkeypatch.undo()
    parameters_of.cache_clear()
    assert parameters_of(ENGINES["fast"]) == before


def test_a_gallery_whose_settings_are_lost_is_rebuilt_as_the_preset_it_was(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES[:2])
        with gallery.store.writing() as change:
            change.set_fact("settings", "lost")
    assert Gallery.rebuild(place_of(gallery)) == 2
    with Gallery.open(place_of(gallery)) as rebuilt:
        assert rebuilt.preset == "fast"
        assert rebuilt.identify(face("Ada", 1)).name == "Ada"


def test_a_gallery_that_does_not_say_its_preset_is_rebuilt_only_if_told(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES[:2])
        with gallery.store.writing() as change:
            change.set_fact("preset", None)
        before = state(gallery)
        with pytest.raises(BadGallery, match=r"does not say its preset \(see: lightproof rebuild --preset\)"):
            Gallery.rebuild(place_of(gallery))
        assert state(gallery) == before
    assert Gallery.rebuild(place_of(gallery), "fast") == 2
    assert Gallery.rebuild(place_of(gallery)) == 2


@pytest.mark.slow
def test_rebuilt_from_kept_faces_is_enrolled_anew(store_place, tmp_path):
    photos = np.repeat(np.repeat(rendered()[:3, :2], 2, axis=2), 2, axis=3)
    assert photos.shape[2:] == (192, 168)
    with new(store_place, keep_photos=True) as gallery:
        for name, own in zip(NAMES[:3], photos, strict=True):
            gallery.enroll(name, own)
        gallery.calibrate(0.01)
        place = place_of(gallery)
        assert Gallery.rebuild(place, "robust") == 6
        with pytest.raises(BadGallery, match="got a template made with other parameters"):
            gallery.identify(photos[0, 0])
        with pytest.raises(BadGallery, match="templates that were made anew with other parameters meanwhile"):
            gallery.enroll("Dan", [face("Dan")])
    with (
        Gallery.open(store_place) as rebuilt,
        Gallery.open(tmp_path / "anew", preset="robust", keep_photos=True) as anew,
    ):
        assert rebuilt.preset == "robust"
        assert not rebuilt.identify(photos[0, 0]).calibrated
        for name, own in zip(NAMES[:3], photos, strict=True):
            anew.enroll(name, own)
        assert state(anew) == state(rebuilt)
        assert answers(anew)[:4] == answers(rebuilt)[:4]
    # The other preset is what it is made of from now on, and a copy of it too.
    assert Gallery.rebuild(store_place) == 6
    with Gallery.open(store_place) as rebuilt:
        assert rebuilt.preset == "robust"
        rebuilt.export(tmp_path / "copy")
    assert Gallery.rebuild(tmp_path / "copy") == 6
    with Gallery.open(tmp_path / "copy") as copy:
        assert copy.preset == "robust"


def test_without_kept_faces_nothing_is_rebuilt(gallery):
    before = state(gallery)
    with pytest.raises(
        BadGallery, match="one where the faces of 6 photos were not kept; enroll them again, in a new one"
    ):
        Gallery.rebuild(place_of(gallery), "robust")
    with pytest.raises(BadParameter, match="`preset` of Gallery must be one of"):
        Gallery.rebuild(place_of(gallery), "authors")
    assert state(gallery) == before
    assert gallery.identify(face("Ada", 1)).name == "Ada"


def test_a_damaged_kept_face_stops_the_rebuilding(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES[:2])
        before = state(gallery)
        tamper(gallery, "face", "substr(face, 1, 20)")
        with pytest.raises(BadImage, match="a kept face of 'Ada' must be"):
            Gallery.rebuild(place_of(gallery), "robust")
        now = [
            (name, [dataclasses.replace(p, face=None) for p in photos], span) for name, photos, span in state(gallery)
        ]
        then = [(name, [dataclasses.replace(p, face=None) for p in photos], span) for name, photos, span in before]
        assert now == then
        assert gallery.preset == "fast"


def test_a_store_that_was_never_a_gallery_becomes_one(tmp_path):
    Store.open(tmp_path / "bare.gallery").close()
    with pytest.raises(BadGallery, match="got one that nobody has finished making"):
        Gallery.rebuild(tmp_path / "bare.gallery")
    with new(tmp_path / "bare.gallery") as gallery:
        assert gallery.people() == []


def test_a_database_of_another_program_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    for act in (new, Gallery.rebuild):
        with pytest.raises(BadGallery, match=r"other\.db must be a gallery written by lightproof; got a database of"):
            act(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before
