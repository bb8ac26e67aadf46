"""A gallery asked about its own photos answers as one that never had them, and says what the figures rest on."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.core.labels import sampling_key
from lightproof.errors import BadParameter
from lightproof.evaluation import Counted, evaluate_within
from lightproof.evaluation.leave_one_out import PHOTOS_PER_PERSON, evenly, leads_left_out
from lightproof.evaluation.light_groups import LIGHTS, groups_of
from lightproof.evaluation.rates_by_light import MEASURES
from lightproof.gallery.calibrate import scores_of_photos
from lightproof.gallery.decision import match_of, verdict
from lightproof.gallery.enrollment import ExtractedFace, extract_face, read_kept_face
from lightproof.matching.calibration import normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.metrics import share_by_person
from tests.gallery.people import NAMES, enroll, face, new, state, tamper

pytestmark = pytest.mark.slow

ALBUM = {
    "Ada": (0, 1, 3),
    "Adele": (4,),
    "Ben": (0, 4),
    "Benno": (1,),
    "Cleo": (2,),
    "Dan": (0, 2, 3, 4),
    "Finn": (0,),
}
"""Lights of everybody's photos: templates of one, two and three photos are left when one is taken out."""

TWIN = {"Adele": "Ada", "Benno": "Ben"}
"""Who looks like somebody else, so that one is taken for the other."""

SEVERAL = [(name, light) for name, lights in ALBUM.items() for light in lights if len(lights) > 1]
PEOPLE = list(ALBUM)


def picture(name, light):
    return face(TWIN.get(name, name), light)


def gallery_of(place, album=ALBUM, **more):
    gallery = new(place, **more)
    for name, lights in album.items():
        gallery.enroll(name, [picture(name, light) for light in lights])
    return gallery


def without(name, light=None):
    """The album without one photo, or without the person."""
    left = {**ALBUM, name: tuple(each for each in ALBUM[name] if each != light)}
    return {who: lights for who, lights in left.items() if light is not None or who != name}


def left_out(gallery, name):
    """How far everybody is ahead on each photo of somebody, left out, and the photos."""
    photos = next(photos for who, photos, _ in state(gallery) if who == name)
    every = np.arange(len(photos))
    return leads_left_out(gallery.matcher, gallery.everybody(), name, photos, every, gallery.place), photos


def place_of(photos, name, light):
    """Which of somebody's photos is the one under a light."""
    return [photo.hash for photo in photos].index(extract_face(picture(name, light)).hash)


def kept_face(photo):
    return ExtractedFace(photo.hash, photo.source, read_kept_face(photo.face, "the kept face"))


def leads_by_name(answer):
    return {one.name: one.lead for one in answer.candidates}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    with gallery_of(tmp_path_factory.mktemp("kept") / "people.gallery", keep_photos=True) as gallery:
        yield gallery


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with gallery_of(tmp_path_factory.mktemp("bare") / "people.gallery") as gallery:
        yield gallery


@pytest.fixture(scope="module")
def found(kept):
    return evaluate_within(kept)


@pytest.fixture
def empty(tmp_path):
    with new(tmp_path / "people.gallery", keep_photos=True) as gallery:
        yield gallery


@pytest.fixture(scope="module")
def answers_without_photo(kept, tmp_path_factory):
    """What galleries that never had the photo answer about its kept face."""
    folder, found = tmp_path_factory.mktemp("photos"), {}
    for name, light in SEVERAL:
        _, photos = left_out(kept, name)
        shown = kept_face(photos[place_of(photos, name, light)])
        with gallery_of(folder / f"{name}-{light}.gallery", without(name, light)) as never:
            found[name, light] = never.identify_face(shown, top=10)
    return found


@pytest.fixture(scope="module")
def answers_without_person(kept, tmp_path_factory):
    """What galleries that never had the person answer about each of their kept faces."""
    folder, found = tmp_path_factory.mktemp("people"), {}
    for name in ALBUM:
        with gallery_of(folder / f"{name}.gallery", without(name)) as never:
            _, photos = left_out(kept, name)
            found[name] = [never.identify_face(kept_face(photo), top=10) for photo in photos]
    return found


@pytest.mark.parametrize(("name", "light"), SEVERAL)
def test_a_photo_left_out_is_answered_as_by_a_gallery_that_never_had_it(kept, answers_without_photo, name, light):
    ahead, photos = left_out(kept, name)
    own = ahead.photo[place_of(photos, name, light)]
    answer = answers_without_photo[name, light]
    assert dict(zip(PEOPLE, own, strict=True)) == pytest.approx(leads_by_name(answer), abs=1e-4)
    assert PEOPLE[own.argmax()] == answer.candidates[0].name


def test_the_share_named_and_found_is_that_of_those_galleries(kept, answers_without_photo):
    people = kept.everybody()
    strangers = kept.calibration().impostor_model(len(people), mutual_agreement(people))
    best = {asked: answer.candidates[0] for asked, answer in answers_without_photo.items()}
    right = [(one.name == name, match_of(one.lead, one.distance, strangers)) for (name, _), one in best.items()]
    limit = max(own.one_in for true, own in right if true and own.one_in < 1e6)
    # A little above the rate at which one of them is found, and a little below it.
    for far in (1.01 / limit, 0.99 / limit):
        everything = evaluate_within(kept, far=far).lights[0]
        named, found = everything.named, everything.found
        assert (named.count, named.of) == (sum(true for true, _ in right), len(SEVERAL))
        assert (found.count, found.of) == (sum(true and verdict(own, far).same for true, own in right), len(SEVERAL))
        assert 0 < found.count < named.count < named.of, "else it would say nothing"


@pytest.mark.parametrize("name", ALBUM)
def test_with_the_person_left_out_it_is_answered_as_by_a_gallery_without_them(kept, answers_without_person, name):
    ahead, _ = left_out(kept, name)
    others = [one for one in PEOPLE if one != name]
    for own, answer in zip(ahead.person, answers_without_person[name], strict=True):
        assert dict(zip(others, own, strict=True)) == pytest.approx(leads_by_name(answer), abs=1e-4)


def test_the_share_of_strangers_is_that_of_those_galleries(kept, answers_without_person):
    marks = [answer.one_in for own in answers_without_person.values() for answer in own]
    limit = max(one_in for one_in in marks if one_in < 1e6)
    # A little above the rate at which one of them is let in, and a little below it.
    for far in (1.01 / limit, 0.99 / limit):
        strangers = evaluate_within(kept, far=far).lights[0].strangers
        assert (strangers.count, strangers.of) == (sum(one_in * far >= 1 for one_in in marks), len(marks))
        assert 0 < strangers.count < strangers.of, "else it would say nothing"


@pytest.mark.parametrize("name", ["Ada", "Dan"])
def test_where_faces_are_not_kept_the_template_stands_in_and_the_law_is_the_same(bare, tmp_path, name):
    ahead, photos = left_out(bare, name)
    for light in ALBUM[name]:
        i = place_of(photos, name, light)
        with gallery_of(tmp_path / f"{light}.gallery", without(name, light)) as never:
            answer = normalized_scores(scores_of_photos(never.matcher, never.everybody(), [photos[i]], never.place))
        np.testing.assert_allclose(ahead.photo[i], answer[0], atol=1e-4)


def test_photos_together_say_what_each_says_alone_whether_faces_are_kept_or_not(kept):
    _, photos = left_out(kept, "Dan")
    some = [replace(photo, face=None if i % 2 else photo.face) for i, photo in enumerate(photos)]
    people = kept.everybody()
    together = scores_of_photos(kept.matcher, people, some, kept.place)
    for i, photo in enumerate(some):
        alone = scores_of_photos(kept.matcher, people, [photo], kept.place)
        np.testing.assert_allclose(together.people[i], alone.people[0], atol=1e-5)
        np.testing.assert_allclose(together.cohort[i], alone.cohort[0], atol=1e-5)


def test_every_photo_is_counted_once_and_in_its_light(kept, found):
    n_photos = sum(map(len, ALBUM.values()))
    assert (found.people, found.asked, found.strangers_asked) == (len(ALBUM), len(SEVERAL), n_photos)
    everything, *groups = found.lights
    assert (everything.light, everything.words) == ("all", LIGHTS["all"])
    lights = np.array([light or (np.nan, np.nan) for name in ALBUM for light in kept.lights(name)])
    seen = Counter(groups_of(*lights.T).tolist())
    assert {one.light: one.strangers.of for one in groups} == seen
    assert len(seen) > 1
    for question in ("named", "found", "strangers"):
        whole, parts = getattr(everything, question), [getattr(one, question) for one in groups]
        assert (whole.count, whole.of) == (sum(part.count for part in parts), sum(part.of for part in parts))


def test_whoever_is_found_is_named_and_a_laxer_rate_finds_and_lets_in_no_fewer(kept):
    strict, lax = evaluate_within(kept, far=1e-6), evaluate_within(kept, far=0.5)
    for less, more in zip(strict.lights, lax.lights, strict=True):
        assert less.named == more.named
        assert less.found.count <= more.found.count <= more.named.count
        assert less.strangers.count <= more.strangers.count


def test_the_rate_is_that_of_the_gallery_unless_it_is_said(empty):
    enroll(empty, NAMES[:3], (0, 1))
    assert (evaluate_within(empty).far, evaluate_within(empty).calibrated) == (0.001, False)
    empty.calibrate(0.05)
    found = evaluate_within(empty)
    assert (found.far, found.threshold, found.calibrated) == (0.05, score_of(np.asarray(0.05)), True)
    assert evaluate_within(empty, far=0.5).far == 0.5
    with pytest.raises(BadParameter, match="`far` of evaluate_within must be a share"):
        evaluate_within(empty, far=0)


def test_asking_changes_nothing_and_gives_the_same_again(kept, found):
    before = kept.store.revision()
    assert evaluate_within(kept) == found
    assert kept.store.revision() == before


def test_nobody_is_an_answer(empty):
    found = evaluate_within(empty)
    assert (found.people, found.asked, found.strangers_asked, found.from_faces) == (0, 0, 0, False)
    nothing = Counted(0, 0)
    assert [(one.light, one.named, one.found, one.strangers) for one in found.lights] == [("all", *[nothing] * 3)]
    assert (nothing.share, nothing.low, nothing.high) == (None, None, None)
    assert found.note == "Nobody is enrolled: there is nothing to ask."
    assert found.rows() == []


@pytest.mark.parametrize("count", [1, 2])
def test_nobody_with_two_photos_is_an_answer(empty, count):
    enroll(empty, NAMES[:count])
    found = evaluate_within(empty)
    assert (found.people, found.asked, found.strangers_asked) == (count, 0, 2 * (count - 1))
    assert found.lights[0].named == found.lights[0].found == Counted(0, 0)
    assert found.note.startswith("Nobody has two photos, so none could be left out of the others")
    assert ("only strangers" in found.note) == (count == 2)


def test_one_person_alone_is_named_and_no_stranger_can_be_asked_about(empty):
    enroll(empty, "Ada", (0, 1, 2))
    found = evaluate_within(empty)
    assert (found.people, found.asked, found.strangers_asked) == (1, 3, 0)
    named = found.lights[0].named
    assert (named.count, named.of, named.people, named.share) == (3, 3, 1, 1.0)
    assert (named.low, named.high) == (None, None), "one person says nothing about others"
    assert found.lights[0].strangers == Counted(0, 0)


def test_somebody_without_a_photo_is_passed_over(empty):
    enroll(empty, ["Ada", "Finn"], (0, 1))
    expected = evaluate_within(empty)
    with empty.store.writing() as change:
        change.add_person("Cleo")
    assert evaluate_within(empty) == expected


def test_what_the_figures_rest_on_is_said(found, bare):
    said = f"{len(SEVERAL)} photos of 3 people were each left out and asked about; "
    wide = "; of so few people the intervals are wide."
    assert found.from_faces
    assert found.note.startswith(said)
    assert found.note.endswith(f"Faces are kept here, so the photos themselves were compared{wide}")
    found = evaluate_within(bare)
    assert not found.from_faces
    assert found.note.startswith(said)
    assert found.note.endswith(f"Faces are not kept here, so templates stood in for the photos{wide}")


def test_where_some_faces_are_missing_it_is_said_of_how_many(empty):
    enroll(empty, NAMES[:2], (0, 1))
    _, photos = left_out(empty, "Ada")
    tamper(empty, "face", f"CASE WHEN hash = '{photos[0].hash}' THEN NULL ELSE face END")
    found = evaluate_within(empty)
    assert (found.asked, found.from_faces) == (4, False)
    assert "1 face was not kept, so its template stood in for it" in found.note


def test_a_kept_face_that_shows_nothing_is_no_mistake(empty, rng):
    enroll(empty, NAMES[:2], (0, 1))
    # Fine shades that one byte a pixel cannot hold.
    empty.enroll("Ada", 0.5 + 0.0005 * rng.random((96, 84)))
    assert evaluate_within(empty).asked == 5


def test_a_light_that_cannot_be_read_is_a_group_of_its_own(empty):
    enroll(empty, NAMES[:2], (0, 1))
    tamper(empty, "light", "NULL")
    found = evaluate_within(empty)
    assert [one.light for one in found.lights] == ["all", "unknown"]
    assert found.lights[1] == replace(found.lights[0], light="unknown", words=LIGHTS["unknown"])


def test_of_many_people_and_photos_some_are_asked_about(kept, monkeypatch):
    monkeypatch.setattr("lightproof.evaluation.leave_one_out.MAX_STRANGERS", 2)
    monkeypatch.setattr("lightproof.evaluation.leave_one_out.PHOTOS_PER_PERSON", 2)
    found = evaluate_within(kept)
    drawn = [min(2, len(ALBUM[name])) for name in sorted(ALBUM, key=sampling_key)[:2]]
    asked = sum(count for count in drawn if count > 1)
    assert (found.people, found.asked, found.strangers_asked) == (len(ALBUM), asked, sum(drawn))


def test_who_shows_how_far_it_is_knows_all_steps_beforehand(kept, found):
    steps = []

    def listed(names):
        steps.extend(names)
        return list(names)

    assert evaluate_within(kept, progress=listed) == found
    assert steps == PEOPLE


def test_rows_are_those_of_any_evaluation(found):
    rows = found.rows()
    assert {row["row"] for row in rows} == {"figure"}
    asked = [("rank-1", "named", None), ("found", "found", "used"), ("strangers accepted", "strangers", "used")]
    assert {measure for measure, _, _ in asked} <= set(MEASURES)
    for measure, question, threshold in asked:
        counted = getattr(found.lights[0], question)
        row = next(row for row in rows if (row["measure"], row["light"]) == (measure, "all"))
        assert (row["threshold"], row["far"]) == (threshold, threshold and found.far)
        assert (row["value"], row["low"], row["high"]) == (counted.share, counted.low, counted.high)
        assert (row["people"], row["photos"], row["questions"]) == (counted.people, counted.of, counted.of)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES)), min_size=1, max_size=40))
def test_a_count_has_the_interval_by_person(photos):
    hits, people = [hit for hit, _ in photos], [name for _, name in photos]
    counted = Counted.over(hits, people)
    assert (counted.count, counted.of, counted.people) == (sum(hits), len(hits), len(set(people)))
    assert counted.share == sum(hits) / len(hits)
    if counted.people == 1:
        assert (counted.low, counted.high) == (None, None)
    else:
        assert (counted.low, counted.high) == share_by_person(np.array(hits), np.array(people))
        assert counted.low <= counted.share + 1e-9
        assert counted.share <= counted.high + 1e-9


@given(st.integers(1, 200))
def test_photos_are_chosen_evenly_from_the_first_to_the_last(n_photos):
    some = evenly(n_photos)
    assert len(set(some.tolist())) == min(n_photos, PHOTOS_PER_PERSON)
    assert (some[0], some[-1]) == (0, n_photos - 1)
    steps = np.diff(some)
    assert len(steps) == 0 or steps.max() - steps.min() <= 1


def test_what_came_out_is_plain_data(found):
    plain = asdict(found)
    assert plain["lights"][0]["named"].keys() == {"count", "of", "people", "low", "high"}
    assert type(plain["lights"][0]["named"]["count"]) is int
    assert type(plain["from_faces"]) is bool
    assert type(plain["threshold"]) is float
