"""What is kept: copies, other parameters, damage, and nothing of whom is forgotten."""

from __future__ import annotations

import pytest

from lightproof.errors import BadGallery, DuplicatePhoto
from lightproof.gallery import FAR, Calibration, Gallery
from lightproof.gallery.codec import decode_template
from lightproof.gallery.store import Refusal
from lightproof.matching.template_codec import encode_template
from tests.gallery.people import NAMES, answers, enroll, face, new, place_of, png, state, tamper
from tests.gallery.store.test_making import is_there


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        enroll(opened, NAMES[:3], lights=(0, 1))
        yield opened


@pytest.mark.slow
def test_a_copy_gives_equal_answers(gallery, tmp_path):
    gallery.calibrate(0.01)
    with gallery.store.writing() as change:
        change.remember_refusals([Refusal("x", "Ada", "bad.png", None, "cropped", "no picture")])
    assert gallery.export(tmp_path / "copy.gallery") == 3
    with Gallery.open(tmp_path / "copy.gallery", create=False) as copy:
        assert state(copy) == state(gallery)
        assert answers(copy) == answers(gallery)
        assert copy.calibration() == gallery.calibration()
        assert copy.store.refusals() == gallery.store.refusals()
    with pytest.raises(BadGallery, match=r"copy\.gallery must be .* got one that is there already; a copy needs a new"):
        gallery.export(tmp_path / "copy.gallery")


def test_a_copy_that_fails_leaves_nothing(tmp_path, store_place):
    def interrupt(pieces, total):
        yield next(iter(pieces))
        raise KeyboardInterrupt

    with new(tmp_path / "source.gallery") as gallery:
        enroll(gallery, NAMES[:3], lights=(0, 1))
        with pytest.raises(KeyboardInterrupt):
            gallery.export(store_place, progress=interrupt)
        assert not is_there(store_place)
        tamper(gallery, "parameters", "CAST('x' AS blob)")
        with pytest.raises(BadGallery, match="got a damaged one"):
            gallery.export(store_place)
        assert not is_there(store_place)


def test_a_copy_onto_itself_is_refused(gallery):
    before = state(gallery)
    with pytest.raises(BadGallery, match="got one that is there already; a copy needs a new place"):
        gallery.export(place_of(gallery))
    assert state(gallery) == before


@pytest.mark.slow
def test_people_of_another_gallery_are_added(gallery, tmp_path):
    before = state(gallery)
    with new(tmp_path / "other.gallery") as other:
        other.enroll("Ada", [face("Ada", 1), face("Ada", 2)])
        enroll(other, ["Dan", "Eve"])
        assert gallery.import_(tmp_path / "other.gallery") == 3
    with new(tmp_path / "by hand.gallery") as by_hand:
        enroll(by_hand, "Ada", lights=(0, 1, 2))
        enroll(by_hand, ["Ben", "Cleo"], lights=(0, 1))
        enroll(by_hand, ["Dan", "Eve"])
        assert answers(by_hand) == answers(gallery)
    after = state(gallery)
    assert gallery.import_(tmp_path / "other.gallery") == 3
    assert state(gallery) == after != before


def test_a_photo_of_somebody_else_stops_the_whole_import(gallery, tmp_path):
    before = state(gallery)
    with new(tmp_path / "other.gallery") as other:
        enroll(other, "Dan")
        other.enroll("Zoe", [face("Ada")])
    with pytest.raises(DuplicatePhoto, match="must be new, or of 'Zoe'; got one that is enrolled as 'Ada'"):
        gallery.import_(tmp_path / "other.gallery")
    assert state(gallery) == before


def test_faces_are_not_imported_where_none_are_kept(gallery, tmp_path):
    with new(tmp_path / "keeping.gallery", keep_photos=True) as keeping:
        enroll(keeping, "Dan")
        assert gallery.import_(tmp_path / "keeping.gallery") == 1
        assert not any(photo.has_face for photo in gallery.store.photos())
        keeping.import_(gallery.export(tmp_path / "copy.gallery") and tmp_path / "copy.gallery")
        assert [photo.has_face for photo in keeping.store.photos("Dan")] == [True]


def test_a_refusal_is_not_imported_for_what_is_enrolled(gallery, tmp_path):
    with new(tmp_path / "other.gallery") as other:
        enroll(other, "Dan")
        with other.store.writing() as change:
            number = gallery.store.photos("Ada")[0].hash
            change.remember_refusals([Refusal(key, None, "x", None, "cropped", "no face") for key in (number, "other")])
    gallery.import_(tmp_path / "other.gallery")
    assert list(gallery.store.refusals()) == ["other"]


def test_templates_of_other_parameters_are_not_imported(gallery, tmp_path):
    before = state(gallery)
    Gallery.open(tmp_path / "robust.gallery", preset="robust").close()
    with pytest.raises(BadGallery, match=r"robust\.gallery must be .* got templates made with other parameters than"):
        gallery.import_(tmp_path / "robust.gallery")
    with new(tmp_path / "other.gallery") as other:
        enroll(other, "Dan")
        tamper(other, "parameters", "'old'")
    with pytest.raises(BadGallery, match=r"other\.gallery must be .* got a template made with other parameters"):
        gallery.import_(tmp_path / "other.gallery")
    with new(tmp_path / "damaged.gallery") as damaged:
        enroll(damaged, "Dan")
        tamper(damaged, "template", "substr(template, 1, 100)")
    with pytest.raises(BadGallery, match=r"damaged\.gallery must be .* got a damaged template of 100 bytes"):
        gallery.import_(tmp_path / "damaged.gallery")
    assert state(gallery) == before


def test_templates_of_other_parameters_are_never_compared(gallery):
    tamper(gallery, "parameters", "'old'")
    with pytest.raises(BadGallery, match="got a template made with other parameters"):
        gallery.identify(face("Ada"))


WHOLE_BUT_FOR_THE_SHIFT = '{{"far": 0.1, "shift": {}, "people": 3, "strangers": 3, "relit": 0}}'


@pytest.mark.slow
@pytest.mark.parametrize(
    "note",
    [
        *("", "{}", "[]", "3", '{"far": "x"}', '{"far": 2.0}', '{"far": 1e-300}', "[" * 100_000),
        WHOLE_BUT_FOR_THE_SHIFT.format("NaN"),
        WHOLE_BUT_FOR_THE_SHIFT.format("1" + "0" * 400),
        WHOLE_BUT_FOR_THE_SHIFT.format("0").replace("3", "-3"),
    ],
)
def test_a_calibration_that_cannot_be_read_is_refused(gallery, note):
    with gallery.store.writing() as change:
        change.set_fact("calibration", note)
    with pytest.raises(BadGallery, match=r"got a calibration that cannot be read \(see: lightproof calibrate\)"):
        gallery.identify(face("Ada"))
    # It does not keep anybody from being forgotten, and goes with them.
    gallery.forget("Ada")
    assert gallery.calibration() == Calibration(FAR)
    assert gallery.calibrate(0.02) == gallery.calibration()


def test_a_note_on_the_light_that_cannot_be_read_is_refused_and_not_imported(gallery, tmp_path):
    huge = "1" + "0" * 400
    lights = ("NaN", "Infinity", "181", huge, f"1e{huge[:9]}")
    numbers = [f'{{"azimuth": 0, "elevation": {light}}}' for light in lights]
    for note in ("", "7", '{"azimuth": null}', "[" * 100_000, *numbers):
        tamper(gallery, "light", f"'{note}'")
        with pytest.raises(BadGallery, match="got a note on the light that cannot be read"):
            gallery.advice("Ada")
        with (
            new(tmp_path / "mine.gallery") as mine,
            pytest.raises(BadGallery, match="got a note on the light that cannot be read"),
        ):
            mine.import_(place_of(gallery))
    tamper(gallery, "light", "NULL")
    assert gallery.lights("Ada") == [None, None]
    assert gallery.advice("Ada").has == ()


def other_bytes(how):
    """SQL that makes other bytes of a template."""
    return {"short": "substr({0}, 1, 50)", "nothing": "substr({0}, 1, 0)", "long": "{0} || {0}"}[how]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["short", "nothing", "long"])
@pytest.mark.parametrize(("table", "what"), [("photos", "template"), ("people", "span")])
def test_damaged_templates_are_refused(gallery, how, table, what):
    if table == "photos":
        for name in NAMES[:3]:
            gallery.store.person(name)
        with gallery.store.writing() as change:
            change.set_spans(dict.fromkeys(NAMES[:3]))
    kind = "bytea" if "postgres" in gallery.place else "blob"
    tamper(gallery, what, f"CAST({other_bytes(how).format(what)} AS {kind})", table)
    with pytest.raises(BadGallery, match=rf"got a damaged template of {'0' if how == 'nothing' else '[0-9]+'} bytes"):
        gallery.identify(face("Ada"))


def test_a_damaged_template_that_is_to_be_joined_is_told_with_its_gallery(gallery, tmp_path):
    kind = "bytea" if "postgres" in gallery.place else "blob"
    tamper(gallery, "template", f"CAST({other_bytes('short').format('template')} AS {kind})")
    (tmp_path / "photos" / "Ada").mkdir(parents=True)
    (tmp_path / "photos" / "Ada" / "3.png").write_bytes(png("Ada", 3))
    for act in (
        lambda: gallery.enroll("Ada", [face("Ada", 2)]),
        lambda: gallery.enroll_folder(tmp_path / "photos", cropped=True, jobs=1),
    ):
        with pytest.raises(BadGallery) as caught:
            act()
        said = f"{gallery.place} must be a gallery written by lightproof; got a damaged template of 50 bytes."
        assert str(caught.value) == said


def test_a_damaged_template_is_told_with_its_gallery(gallery):
    """What else is damage: tests/matching/test_template_codec.py."""
    (template,) = gallery.matcher.templates([face("Ada")])
    written = encode_template(template)
    with pytest.raises(BadGallery, match=rf"here must be .* got a damaged template of {len(written) - 1} bytes"):
        decode_template(written[:-1], gallery.matcher, "here")
