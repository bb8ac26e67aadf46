"""A gallery of more people than are compared with: the same answers as if all were."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from lightproof.datasets import Crowd
from lightproof.errors import BadParameter, UnknownPerson
from lightproof.evaluation import evaluate_within
from lightproof.gallery import Gallery, crowd_face, crowd_name, decision, make_gallery, shortlist
from lightproof.gallery.decision import Candidate
from lightproof.gallery.shortlist import shortlist_steps
from lightproof.gallery.store import Store, sqlite
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

COUNT = 260
"""More than are drawn by lot and found together: 56, 8 to spare, and 60."""

ASKED = np.arange(0, COUNT, 13)


@pytest.fixture(scope="module")
def crowd():
    return Crowd(seed=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("many") / "crowd.gallery"
    assert make_gallery(place, COUNT, seed=4, jobs=1) == COUNT
    return place


@pytest.fixture
def copied(made, tmp_path):
    with Gallery.open(made) as whole:
        whole.export(tmp_path / "copy.gallery")
    return tmp_path / "copy.gallery"


@pytest.fixture
def many(monkeypatch):
    only_some_are_compared(monkeypatch)


def only_some_are_compared(monkeypatch):
    monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 100)
    monkeypatch.setattr(shortlist, "MAX_CANDIDATES", 60)
    monkeypatch.setattr(shortlist, "SHORTLIST_SIZES", (4, 16))


@pytest.fixture(scope="module")
def probes(crowd):
    return crowd.probes(ASKED, turn=1)


def mildly_lit(crowd, person):
    """A photo of somebody that is not enrolled, lit from within 25 degrees."""
    for turn in range(20):
        probe = crowd.probes(np.array([person]), turn=turn)
        if max(abs(probe.azimuths[0]), abs(probe.elevations[0])) < 25:
            return probe.images[0]
    raise AssertionError("no such light")


def best_of(gallery, image):
    """The best match in full; equal ones are equal to the last bit."""
    answer = gallery.identify_face(crowd_face(image))
    return answer.name, answer.score, answer.one_in, answer.candidates[0]


def test_the_answer_is_that_of_a_comparison_with_everybody(made, probes, monkeypatch):
    with Gallery.open(made) as gallery:
        assert len(gallery.everybody()) == gallery.follow() == COUNT
        everybody = [best_of(gallery, image) for image in probes.images]
    only_some_are_compared(monkeypatch)
    with Gallery.open(made) as gallery:
        some = [best_of(gallery, image) for image in probes.images]
        assert gallery.follow() == COUNT
        panel = gallery.shortlist(gallery.matcher.probes(probes.images[:1]))
        assert len(panel) < COUNT
        assert panel.n_people == COUNT
    assert some == everybody
    assert [found[3].name for found in some] == [crowd_name(person) for person in ASKED]


def test_whoever_comes_or_goes_is_seen_with_the_next_question(copied, crowd, many):
    new, face = crowd.faces(np.array([9001]))[0], mildly_lit(crowd, 9001)
    with Gallery.open(copied) as asked, Gallery.open(copied) as changed:
        assert asked.identify(face).name is None
        changed.enroll("Zoe", [new])
        assert asked.identify(face).name == "Zoe"
        assert asked.follow() == COUNT + 1
        changed.rename("Zoe", "Zora")
        assert asked.identify(face).name == "Zora"
        changed.enroll("Zora", [face])
        assert asked.identify(face).candidates[0].name == "Zora"
        changed.forget("Zora")
        found = asked.identify(face, top=1000)
        assert found.name is None
        assert "Zora" not in [one.name for one in found.candidates]
        assert asked.follow() == COUNT


def test_whoever_was_forgotten_leaves_every_answer_as_if_never_there(copied, made, probes, crowd, many):
    # Also one of those who are measured against: another one takes the place.
    with Gallery.open(copied) as gallery:
        drawn = sorted(gallery.reference_people().names)
        gallery.enroll("Zoe", crowd.faces(np.array([9001])))
        gallery.enroll(drawn[0], crowd.faces(np.array([9002])))
        gallery.follow()
        gallery.forget("Zoe", drawn[0])
        after = [best_of(gallery, image) for image in probes.images]
    with Gallery.open(made) as whole:
        whole.export(copied.with_name("never.gallery"))
    with Gallery.open(copied.with_name("never.gallery")) as never:
        never.forget(drawn[0])
        assert [best_of(never, image) for image in probes.images] == after


def test_growing_and_shrinking_over_the_limit_changes_no_answer(copied, probes, many, monkeypatch):
    with Gallery.open(copied) as gallery:
        large = [best_of(gallery, image) for image in probes.images[:5]]
        assert gallery._people_index.is_large()
        monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 1000)
        gallery.rename(crowd_name(200), "somebody else")
        gallery.rename("somebody else", crowd_name(200))
        assert [best_of(gallery, image) for image in probes.images[:5]] == large
        assert not gallery._people_index.is_large()
        monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 100)
        gallery.rename(crowd_name(200), "somebody else")
        gallery.rename("somebody else", crowd_name(200))
        assert [best_of(gallery, image) for image in probes.images[:5]] == large
        assert gallery._people_index.is_large()


@pytest.mark.long
def test_everything_else_is_answered_too(copied, probes, many, monkeypatch):
    who, other = crowd_name(ASKED[1]), crowd_name(ASKED[2])

    def everything():
        with Gallery.open(copied) as gallery:
            explained = gallery.explain(probes.images[1], who, other)
            verified = gallery.verify(probes.images[1], person=who, far=0.001)
            yield explained.person, explained.against, explained.lead, explained.rivals
            yield verified
            yield gallery.explain(probes.images[1]).person
            yield gallery.calibrate(0.01).strangers
            within = evaluate_within(gallery)
            yield within.people, within.lights[0].strangers.of

    some = list(everything())
    monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 1000)
    assert some == list(everything())
    assert some[1].same
    assert some[2] == who


def test_who_is_explained_is_who_is_found_first_also_of_a_stranger(made, probes, crowd, many):
    images = [*probes.images[:4], *crowd.probes(np.arange(9000, 9012), turn=3).images]
    with Gallery.open(made) as gallery:
        found = [gallery.identify_face(crowd_face(image)).candidates[0].name for image in images]
        assert [gallery.explain_face(crowd_face(image)).person for image in images] == found


def test_what_calibrates_and_evaluates_looks_at_as_many_as_an_answer_does(made, crowd, many):
    [image] = crowd.probes(np.array([9001])).images
    with Gallery.open(made) as gallery:
        asked = gallery.matcher.probes([image])
        *_, last = gallery._people_index.shortlists(asked)
        assert sorted(gallery.shortlist(asked).names) == sorted(last.names)
        assert len(last) < COUNT


def test_a_name_that_nobody_has_is_told(copied, probes, many):
    with Gallery.open(copied) as gallery:
        with pytest.raises(UnknownPerson, match=r"got 'Nobody'\."):
            gallery.verify(probes.images[0], person="Nobody")
        with pytest.raises(UnknownPerson, match=r"got 'Nobody'\."):
            gallery.explain(probes.images[0], crowd_name(1), "Nobody")


def test_of_what_was_forgotten_no_byte_is_left_in_the_file(copied, many):
    with Store.open(copied) as store:
        (person, photos, _) = next(iter(store.templates()))
    traces = [photos[0].template[64:128], photos[0].code[:32], person.name.encode(), photos[0].hash.encode()]
    before = copied.read_bytes()
    assert all(trace in before for trace in traces)
    with Gallery.open(copied) as gallery:
        gallery.follow()
        gallery.forget(person.name)
        assert gallery.leftover() is None
    after = copied.read_bytes()
    assert not any(trace in after for trace in traces)


def test_a_large_file_is_packed_when_asked_for_and_whoever_was_forgotten_is_gone_before(copied, many, monkeypatch):
    monkeypatch.setattr(sqlite, "LARGE_BYTES", 0)
    with Store.open(copied) as store:
        (person, photos, _) = next(iter(store.templates()))
    for _ in range(2):  # also when it is opened again
        with Gallery.open(copied) as gallery:
            if gallery.follow() == COUNT:
                gallery.forget(person.name)
            assert person.name not in gallery.reference_people().names
            assert gallery.leftover().endswith("is packed anew only by lightproof compact.")
    with Gallery.open(copied) as gallery:
        assert gallery.compact() is None
        assert gallery.compact() is None
    after = copied.read_bytes()
    assert photos[0].template[64:128] not in after
    assert photos[0].code[:32] not in after


def test_a_gallery_that_is_there_in_part_is_made_whole(tmp_path, made):
    place = tmp_path / "part.gallery"
    assert make_gallery(place, 30, seed=4, jobs=1) == 30
    with Gallery.open(place) as gallery:
        gallery.forget(crowd_name(7))
    assert make_gallery(place, 120, seed=4, jobs=1) == 91
    with Gallery.open(place) as part, Gallery.open(made) as whole:
        names = [person.name for person in part.people()]
        assert names == [crowd_name(person) for person in range(120)]
        for name in (crowd_name(7), crowd_name(119)):
            own, same = ([photo.hash for photo in one.store.photos(name)] for one in (part, whole))
            assert own == same


MAKING = "import sys; from lightproof.gallery import make_gallery; make_gallery(sys.argv[1], 5000, seed=4, jobs=1)"


@pytest.mark.long
@pytest.mark.parametrize("committed", [1, 900])
def test_a_kill_in_the_middle_loses_nobody_who_was_seen_and_the_same_call_goes_on(tmp_path, made, committed):
    place = tmp_path / "killed.gallery"
    maker = subprocess.Popen([sys.executable, "-c", MAKING, str(place)], cwd=ROOT)
    try:
        while not place.exists() or not Gallery.exists(place):
            assert maker.poll() is None
            time.sleep(0.01)
        with Gallery.open(place) as gallery:
            while len(seen := {person.name for person in gallery.people()}) < committed:
                assert maker.poll() is None
                time.sleep(0.01)
    finally:
        maker.kill()
        maker.wait()
    with Gallery.open(place) as gallery, Store.open(place) as store:
        here = {person.name for person in gallery.people()}
        assert seen <= here
        assert here == {crowd_name(person) for person in range(len(here))}
        assert sum(len(people) for people, _ in _blocks(store)) == len(here)
    more = len(here) + 30
    assert make_gallery(place, more, seed=4, jobs=1) == 30
    with Gallery.open(place) as gallery, Gallery.open(made) as whole:
        assert len(gallery.people()) == more
        name = crowd_name(5)
        assert [photos for _, photos, _ in gallery.store.templates() if photos][5] == next(
            photos for person, photos, _ in whole.store.templates() if person.name == name
        )


def _blocks(store):
    with store.reading() as view:
        yield from view.codes()


def test_what_cannot_be_made_is_refused(tmp_path):
    with pytest.raises(
        BadParameter, match=r"`n_people` of make_gallery must be a whole number of at least 1; got 0\.$"
    ):
        make_gallery(tmp_path / "none.gallery", 0)
    with pytest.raises(BadParameter, match=r"`jobs` of make_gallery must be .*; got 0\.$"):
        make_gallery(tmp_path / "none.gallery", 3, jobs=0)
    assert not (tmp_path / "none.gallery").exists()


def test_people_with_several_photos_are_found_by_any_of_them(copied, crowd, many):
    lit = crowd.probes(np.array([9001]), turn=3).images[0]
    with Gallery.open(copied) as gallery:
        gallery.enroll("Zoe", [crowd.faces(np.array([9001]))[0], lit])
        assert gallery.identify(mildly_lit(crowd, 9001)).name == "Zoe"
        assert gallery.identify(lit).name == "Zoe"


@pytest.mark.parametrize(("one_in", "steps"), [(1e6, 1), (1e4, 2), (2.5, 2), (1.5, 3)])
def test_ever_more_people_are_compared_until_one_of_them_may_be_it(monkeypatch, one_in, steps):
    best = Candidate(score=0.5, one_in=one_in, lead=1.0, distance=0.5, name="Ada")
    monkeypatch.setattr(decision, "candidates", lambda *_: [best])
    taken = []
    people = (taken.append(step) or step for step in ("the 8 nearest", "64", "512"))
    assert decision.best_candidates(None, people, None, None, 1) == [best]
    assert len(taken) == steps


@pytest.mark.parametrize(("count", "cut"), [(5, [5]), (8, [8]), (60, [8, 52]), (512, [8, 56, 448])])
def test_the_nearest_people_come_in_steps_and_nobody_is_left_out(count, cut):
    some = list(shortlist_steps(list(range(count))))
    assert [len(step) for step in some] == cut
    assert [person for step in some for person in step] == list(range(count))
