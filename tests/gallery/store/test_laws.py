"""What holds on every database."""

from __future__ import annotations

import dataclasses
import unicodedata

import pytest

from lightproof.errors import BadLabels, BadParameter, DuplicatePhoto, NameTaken, UnknownPerson, UserError
from lightproof.gallery.store import Added, Counts, Forgotten, NewPhoto, Person, Refusal, Removed, Store


def photo(key: str, template: bytes = b"", **more: object) -> NewPhoto:
    return NewPhoto(f"hash-{key}", "robust", template or f"template-{key}".encode(), **more)


def refusal(key: str, person: str | None = None, **more: str) -> Refusal:
    return Refusal(f"hash-{key}", person, f"{key}.jpg", None, "robust", "no face", **more)


@pytest.fixture
def store(store_place):
    with Store.open(store_place) as opened:
        yield opened


def enroll(store: Store, **people: str) -> None:
    """One photo for each letter."""
    with store.writing() as change:
        change.add_all({name: [photo(key) for key in keys] for name, keys in people.items()})


def test_a_new_gallery_is_empty(store):
    assert store.people() == []
    assert store.photos() == []
    assert store.counts() == Counts(0, 0, 0)
    assert store.revision() == 0
    assert list(store.templates()) == []
    assert store.facts().keys() == {"kind", "schema", "made", "revision"}


def test_what_was_written_is_read_back_after_opening_again(store_place):
    full = photo("b", b"\x00\xff" * 40000, source="ä/b.jpg", folder="/ä", light='{"side": 1}', face=b"\x89PNG\x00")
    with Store.open(store_place) as store, store.writing() as change:
        change.add_photos("Ada", [full, photo("a")])
        change.set_span("Ada", b"joint\x00")
        change.remember_refusals([refusal("x", "Bob", added="2026-01-01T00:00:00+00:00")])
        change.set_fact("settings", '{"é": "\U0001f600"}')
    with Store.open(store_place, create=False) as store:
        ((person, photos, span),) = store.templates(faces=True)
        assert photos == [photo("a"), full]
        assert span == b"joint\x00"
        assert person == store.person("Ada") == Person(person.id, "Ada", 2, 1, person.added)
        assert person.added.endswith("+00:00")
        first, second = store.photos("Ada")
        assert (first.hash, first.person, first.has_face) == ("hash-a", "Ada", False)
        assert (second.source, second.folder, second.light) == ("ä/b.jpg", "/ä", '{"side": 1}')
        assert second.has_face
        assert store.face(second.id) == b"\x89PNG\x00"
        assert store.face(first.id) is None
        assert store.face(10**9) is None
        assert store.refusals() == {"hash-x": refusal("x", "Bob", added="2026-01-01T00:00:00+00:00")}
        assert store.facts()["settings"] == '{"é": "\U0001f600"}'
        assert store.counts() == Counts(1, 2, 1)


def test_faces_are_read_only_when_they_are_asked_for(store):
    with store.writing() as change:
        change.add_photos("Ada", [photo("a", face=b"png")])
    ((_, (read,), _),) = store.templates()
    assert read == photo("a")


def test_people_are_sorted_as_python_sorts(store):
    names = ["b", "a", "B", "Ä", "\U0001f600", "\uff21", "é", "e", "a b", "a-b", "山田"]
    with store.writing() as change:
        for name in names:
            change.add_person(name)
    assert [person.name for person in store.people()] == sorted(names)
    assert [person.name for person, _, _ in store.templates()] == sorted(names)


def test_every_change_counts_once_and_marks_whom_it_touched(store):
    enroll(store, Ada="ab", Bob="c")
    assert store.revision() == 1
    with store.writing() as change:
        change.add_photos("Ada", [photo("d")])
        change.set_fact("far", "0.001")
        change.set_span("Ada", b"x")
        assert change.revision() == 1
    assert store.revision() == 2
    assert {person.name: person.revision for person in store.people()} == {"Ada": 2, "Bob": 1}
    assert [person.name for person, _, _ in store.templates(since=1)] == ["Ada"]
    assert list(store.templates(since=2)) == []


def test_what_changes_nothing_does_not_count(store):
    enroll(store, Ada="a")
    with store.writing() as change:
        change.set_fact("far", "0.001")
    before = store.revision(), store.people()
    with store.writing() as change:
        assert change.add_photos("Ada", [photo("a")]) == Added(0, 1)
        assert change.add_photos("Nobody", []) == Added(0, 0)
        change.set_fact("far", "0.001")
        change.set_fact("none", None)
        change.rename("Ada", "Ada")
        assert change.remove_photos(["nowhere"]) == Removed(0, [])
        assert change.forget_refusals(["nowhere"]) == 0
        assert change.remember_refusals([]) == 0
        assert change.replace_templates("Ada", []) == 0
    assert (store.revision(), store.people()) == before


def test_a_change_that_fails_leaves_nothing(store):
    enroll(store, Ada="a")
    before = store.revision(), store.people(), store.photos(), store.facts()

    def fails():
        with store.writing() as change:
            change.add_photos("Bob", [photo("b")])
            change.forget("Ada")
            change.set_fact("far", "1")
            assert change.counts() == Counts(1, 1, 0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert (store.revision(), store.people(), store.photos(), store.facts()) == before


def test_the_same_photo_is_kept_once(store):
    with store.writing() as change:
        assert change.add_photos("Ada", [photo("a"), photo("a"), photo("b")]) == Added(2, 1)
        assert change.add_photos("Ada", [photo("b"), photo("c")]) == Added(1, 1)
    assert [kept.hash for kept in store.photos()] == ["hash-a", "hash-b", "hash-c"]


def test_a_photo_under_another_name_is_refused_and_nothing_of_its_call_is_done(store):
    enroll(store, Ada="a")
    said = r"^Photo x/a\.jpg must be new, or of 'Bob'; got one that is enrolled as 'Ada'\.$"
    with store.writing() as change:
        with pytest.raises(DuplicatePhoto, match=said):
            change.add_photos("Bob", [photo("b"), photo("a", source="x/a.jpg")])
        with pytest.raises(DuplicatePhoto, match=r"^Photo hash-c must be new, or of 'Cy'; got .* as 'Bob'"):
            change.add_all({"Bob": [photo("c")], "Cy": [photo("c")]})
        change.add_photos("Dan", [photo("d")])
    assert [person.name for person in store.people()] == ["Ada", "Dan"]


@pytest.mark.parametrize("act", ["forget", "templates_of", "person", "photos"])
def test_somebody_unknown_is_told_with_the_nearest_name(store, act):
    enroll(store, Ada="a", Bob="b")
    with store.writing() as change, pytest.raises(UnknownPerson, match=r"got 'Bobb'\. Did you mean 'Bob'"):
        getattr(change, act)("Bobb")


def test_the_order_of_enrolling_does_not_matter(store):
    enroll(store, Ada="cab")
    with store.writing() as change:
        assert change.templates_of("Ada") == [b"template-a", b"template-b", b"template-c"]
    ((_, photos, _),) = store.templates()
    assert [read.hash for read in photos] == ["hash-a", "hash-b", "hash-c"]


def test_a_joint_template_never_outlives_the_photos_it_is_of(store):
    def spans():
        return {person.name: span for person, _, span in store.templates()}

    enroll(store, Ada="ab", Bob="c")
    for act in (
        lambda change: change.add_photos("Ada", [photo("d")]),
        lambda change: change.remove_photos(["hash-d"]),
        lambda change: change.replace_templates("Ada", [photo("a", b"new")]),
    ):
        with store.writing() as change:
            change.set_spans({"Ada": b"joint", "Bob": b"bob"})
        assert spans() == {"Ada": b"joint", "Bob": b"bob"}
        with store.writing() as change:
            act(change)
        assert spans() == {"Ada": None, "Bob": b"bob"}


def test_templates_are_replaced_by_hash_and_the_rest_stays(store):
    with store.writing() as change:
        change.add_photos("Ada", [photo("a", source="a.jpg", face=b"png"), photo("b")])
    kept = store.photos("Ada")[0]
    with store.writing() as change:
        news = NewPhoto("hash-a", "fast", b"other", light="{}")
        assert change.replace_templates("Ada", [news]) == 1
        with pytest.raises(BadParameter, match="`made` of replace_templates must be photos of 'Ada'; got 'hash-z'"):
            change.replace_templates("Ada", [photo("z")])
    ((_, (a, b), _),) = store.templates(faces=True)
    assert a == NewPhoto("hash-a", "fast", b"other", "a.jpg", None, "{}", b"png")
    assert b == photo("b")
    assert store.photos("Ada")[0] == dataclasses.replace(kept, parameters="fast", light="{}")


def test_renaming_keeps_the_person_and_takes_the_refusals_along(store):
    enroll(store, Ada="a", Bob="b")
    with store.writing() as change:
        change.remember_refusals([refusal("x", "Ada"), refusal("y", "Bob")])
    before = store.person("Ada")
    with store.writing() as change:
        with pytest.raises(
            NameTaken, match=r"^The new name must be one that nobody has; got 'Bob', who is enrolled\.$"
        ):
            change.rename("Ada", "Bob")
        change.rename("Ada", "Cy")
    assert store.person("Cy") == dataclasses.replace(before, name="Cy", revision=3)
    assert {key: kept.person for key, kept in store.refusals().items()} == {"hash-x": "Cy", "hash-y": "Bob"}
    with pytest.raises(UnknownPerson):
        store.person("Ada")


def test_forgetting_takes_all_of_one_person_and_nothing_of_others(store):
    enroll(store, Ada="ab", Bob="c")
    with store.writing() as change:
        change.remember_refusals([refusal("x", "Ada"), refusal("y", "Bob"), refusal("z")])
    kept = [person for person in store.templates() if person[0].name == "Bob"]
    with store.writing() as change:
        assert change.forget("Ada") == Forgotten(2, 1)
    assert list(store.templates()) == kept
    assert store.refusals().keys() == {"hash-y", "hash-z"}
    assert store.counts() == Counts(1, 1, 2)
    assert "unswept" not in store.facts()


def test_a_name_of_which_only_refusals_are_kept_is_forgotten_too(store):
    enroll(store, Bob="b")
    with store.writing() as change:
        change.remember_refusals([refusal("x", "Ada"), refusal("y", "Ada"), refusal("z", "Bob")])
    assert store.counts_of("Ada") == Forgotten(0, 2)
    assert store.counts_of("Bob") == Forgotten(1, 1)
    with store.writing() as change:
        assert change.forget("Ada") == Forgotten(0, 2)
    assert store.refusals().keys() == {"hash-z"}
    assert store.counts() == Counts(1, 1, 1)
    with store.writing() as change:
        for act in (change.counts_of, change.forget):
            with pytest.raises(UnknownPerson, match=r"must be one of the 1 enrolled people \('Bob'\); got 'Ada'"):
                act("Ada")


def test_the_nearest_name_may_be_one_of_which_only_refusals_are_kept(store):
    with store.writing() as change:
        change.remember_refusals([refusal("x", "Adelheid"), refusal("y")])
    with pytest.raises(UnknownPerson, match=r"\(there is nobody\); got 'Adelheit'\. Did you mean 'Adelheid'\?"):
        store.counts_of("Adelheit")


def test_the_number_of_a_person_stays_whatever_the_name(store):
    enroll(store, Ada="a", Bob="b")
    with store.reading() as view:
        ids = view.ids_of(["Ada", "Bob", "Nobody"])
    with store.writing() as change:
        change.rename("Ada", "Cy")
        change.forget("Bob")
    with store.reading() as view:
        assert view.names_of(ids.values()) == {ids["Ada"]: "Cy"}
        assert ids.keys() == {"Ada", "Bob"}


def test_photos_of_one_folder_are_listed(store):
    with store.writing() as change:
        change.add_photos("Ada", [photo("a", folder="/x\udce9"), photo("b", folder="/y"), photo("c")])
    assert [kept.hash for kept in store.photos(folder="/x\udce9")] == ["hash-a"]
    assert [kept.hash for kept in store.photos("Ada", folder="/y")] == ["hash-b"]
    assert store.photos(folder="/z") == []


def test_a_file_that_is_called_otherwise_is_noted_and_changes_no_template(store):
    with store.writing() as change:
        change.add_photos("Ada", [photo("a", source="x/a.jpg"), photo("b", source="x/b.jpg")])
        change.set_span("Ada", b"joint")
    with store.writing() as change:
        change.set_sources({"hash-a": "y/\udcff.jpg", "hash-b": "x/b.jpg", "nowhere": "z"})
    assert [kept.source for kept in store.photos()] == ["y/\\udcff.jpg", "x/b.jpg"]
    assert [span for _, _, span in store.templates()] == [b"joint"]
    assert store.revision() == 2
    with store.writing() as change:
        change.set_sources({"hash-b": "x/b.jpg"})
    assert store.revision() == 2


def test_the_next_revision_is_known_before_the_end(store):
    with store.writing() as change:
        assert change.next_revision == 0
        change.add_photos("Ada", [photo("a")])
        assert change.next_revision == 1
    assert store.revision() == 1


def test_numbers_of_the_forgotten_are_never_given_again(store):
    enroll(store, Ada="a")
    person, kept = store.person("Ada"), store.photos()[0]
    with store.writing() as change:
        change.forget("Ada")
    enroll(store, Ada="a")
    assert store.person("Ada").id > person.id
    assert store.photos()[0].id > kept.id


def test_who_has_no_photo_left_goes_too(store):
    enroll(store, Ada="ab", Bob="c", Cy="d", Dan="e")
    with store.writing() as change:
        assert change.remove_photos(["hash-d", "hash-a", "hash-c", "nowhere"]) == Removed(3, ["Bob", "Cy"])
    assert [(person.name, person.photos, person.revision) for person in store.people()] == [
        ("Ada", 1, 2),
        ("Dan", 1, 1),
    ]


def test_refusals_are_remembered_once_until_the_photo_is_enrolled_or_they_are_forgotten(store):
    with store.writing() as change:
        assert change.remember_refusals([refusal("x"), refusal("y"), refusal("z")]) == 3
    with store.writing() as change:
        change.remember_refusals([dataclasses.replace(refusal("x"), reason="two faces")])
        change.add_photos("Ada", [photo("y")])
        assert change.forget_refusals(["hash-z", "nowhere"]) == 1
    (left,) = store.refusals().values()
    assert (left.hash, left.reason) == ("hash-x", "two faces")
    assert left.added
    assert store.refusals(["hash-x", "hash-y"]).keys() == {"hash-x"}


@pytest.mark.slow
def test_tens_of_thousands_of_hashes_are_looked_up_and_deleted_together(store):
    many = [f"hash-{i}" for i in range(10000)]
    with store.writing() as change:
        change.add_all({f"person {i}": [photo(str(i))] for i in range(0, 10000, 50)})
        change.remember_refusals([refusal(str(i)) for i in range(1, 2000)])
    assert len(store.owners_of(many)) == 200
    assert store.owners_of(many)["hash-500"] == "person 500"
    assert len(store.refusals(many)) == 1999
    assert len(list(store.templates())) == 200
    with store.writing() as change:
        assert change.remove_photos(many).photos == 200
        assert change.forget_refusals(many) == 1999
    assert store.counts() == Counts(0, 0, 0)


def test_names_are_one_person_however_their_letters_are_composed(store):
    composed, split = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    assert composed != split
    with store.writing() as change:
        change.add_photos(split, [photo("a")])
        assert change.add_photos(composed, [photo("b"), photo("a")]) == Added(1, 1)
    assert store.person(split).name == composed


@pytest.mark.parametrize("act", ["add_person", "forget"])
def test_what_nobody_can_be_called_is_refused(store, act):
    with store.writing() as change, pytest.raises(BadLabels, match=r"^The name of a person must be a str of 1 to 200"):
        getattr(change, act)(" Ada")


def test_somebody_known_is_not_made_again(store):
    enroll(store, Ada="a")
    with store.writing() as change, pytest.raises(NameTaken, match="got 'Ada'"):
        change.add_person("Ada")


def test_the_store_keeps_its_own_facts_for_itself(store):
    with store.writing() as change:
        for key in ("revision", "schema", "kind", "made", "unswept"):
            with pytest.raises(BadParameter, match="`key` of set_fact must be none of the store's own"):
                change.set_fact(key, "7")
    assert store.facts()["revision"] == "0"


def test_what_would_not_come_back_as_it_went_in_is_refused(store):
    with store.writing() as change:
        for bad, field in [
            (NewPhoto("h", "p", "text"), "template"),
            (NewPhoto(7, "p", b""), "hash"),
            (NewPhoto("h", "p", b"", light={}), "light"),
            (NewPhoto("h", "p", b"", face="png"), "face"),
        ]:
            with pytest.raises(BadParameter, match=f"^`{field}` of NewPhoto must be of type (str|bytes)"):
                change.add_photos("Ada", [bad])
    assert store.people() == []


def test_file_names_that_are_no_text_are_kept_with_escapes(store):
    with store.writing() as change:
        change.add_photos("Ada", [photo("a", source="caf\udce9.jpg", folder="a\0b")])
        change.remember_refusals([dataclasses.replace(refusal("x"), source="\udcff")])
        assert change.owners_of(["\udcff", "\0"]) == {}
        assert change.forget_refusals(["\udcff\0"]) == 0
    (kept,) = store.photos()
    assert (kept.source, kept.folder) == ("caf\\udce9.jpg", "a\\x00b")
    assert store.refusals()["hash-x"].source == "\\udcff"


def test_one_view_sees_one_state(store):
    enroll(store, Ada="a")
    with store.reading() as view:
        with store.writing() as change:
            change.add_photos("Bob", [photo("b")])
            change.rename("Ada", "Cy")
        assert [person.name for person in view.people()] == ["Ada"]
        assert (view.revision(), len(view.photos()), view.counts().people) == (1, 1, 1)
        assert [person.name for person, _, _ in view.templates()] == ["Ada"]
    assert [person.name for person in store.people()] == ["Bob", "Cy"]


def test_people_are_read_few_at_a_time(store, monkeypatch):
    monkeypatch.setattr("lightproof.gallery.store.view.PHOTOS_PER_READ", 3)
    sizes = {"a": 1, "b": 2, "c": 3, "d": 5, "e": 1, "f": 1}
    with store.writing() as change:
        change.add_all({name: [photo(f"{name}{i}") for i in range(size)] for name, size in sizes.items()})
        change.add_person("nobody")
    assert {person.name: len(photos) for person, photos, _ in store.templates()} == {**sizes, "nobody": 0}
    reading = store.templates()
    with store.reading() as view:
        asked = []
        monkeypatch.setattr(view, "_rows", lambda *it, rows=view._rows: asked.append(it) or rows(*it))
        next(view.templates())
        # The people, then spans and photos of the first group only.
        assert len(asked) == 3
    reading.close()


def test_a_closed_store_says_so(store, store_place):
    store.close()
    store.close()
    for use in (store.people, store.writing().__enter__):
        with pytest.raises(UserError, match=r" must be open to be used; got a gallery that was closed\.$"):
            use()
