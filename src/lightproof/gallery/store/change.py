"""One change of a gallery: everything in it happens, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Executable, delete, exists, insert, select, update

from lightproof.core.labels import sampling_key
from lightproof.errors import BadParameter, DuplicatePhoto, NameTaken
from lightproof.gallery.store.person_names import check_name, storable
from lightproof.gallery.store.records import Added, Forgotten, NewPhoto, Refusal, Removed
from lightproof.gallery.store.rows import check_kind, photo_row, refusal_row
from lightproof.gallery.store.schema import OWN_FACTS, codes, gone, now, people, photos, refused
from lightproof.gallery.store.statements import Statements


class Change(Statements):
    """A change that is being made.

    Made by :meth:`Store.writing`, which commits it at the end of its block. Whenever the photos of a person change, the
    joint template of that person is dropped; :meth:`set_spans` gives the new one.
    """

    def add_person(self, name: str) -> None:
        """Enroll somebody without photos; :class:`~lightproof.errors.NameTaken` if somebody is called so."""
        name = check_name(name)
        if self.ids_of([name]):
            raise NameTaken(name)
        self._do(insert(people), self._new_person(name, now()))

    def add_photos(self, name: str, new: Iterable[NewPhoto], make: bool = True) -> Added:
        """Add photos of one person; see :meth:`add_all`."""
        return self.add_all({name: new}, make)

    def add_all(self, new: Mapping[str, Iterable[NewPhoto]], make: bool = True) -> Added:
        """Add photos of many people.

        Photos that are there under the same name are left out and counted, those under another name are refused with
        :class:`~lightproof.errors.DuplicatePhoto`. Where a photo was refused before, the refusal is dropped.

        Parameters
        ----------
        new : mapping of names to photos
        make : bool, default=True
            Enroll people of new photos whom nobody knows; else :class:`~lightproof.errors.UnknownPerson`.

        Returns
        -------
        Added
        """
        given = [(check_name(name), photo_row(photo)) for name, theirs in new.items() for photo in theirs]
        if not make:
            for name in new:
                self.person(name)
        known = self.known_hashes({row["hash"] for _, row in given})
        owners, rows = dict(known), {}
        for name, row in given:
            owner = owners.setdefault(row["hash"], name)
            if owner != name:
                raise DuplicatePhoto(row["source"] or row["hash"], name, owner)
            if row["hash"] not in known:
                rows[row["hash"]] = {**row, "person": name}
        self._insert_photos(rows)
        return Added(len(rows), len(given) - len(rows))

    def replace_templates(self, name: str, made: Iterable[NewPhoto]) -> int:
        """Put new templates, parameters and lights in place of a person's old ones, by hash; return how many."""
        person = self.person(name)
        rows = [photo_row(photo) for photo in made]
        owners = self.known_hashes(row["hash"] for row in rows)
        for row in rows:
            if owners.get(row["hash"]) != person.name:
                raise BadParameter("replace_templates", "made", f"photos of {person.name!r}", row["hash"])
            news = {key: row[key] for key in ("parameters", "template", "light")}
            self._do(update(photos).where(photos.c.hash == row["hash"]).values(news))
        self._each([row["hash"] for row in rows], self._without_codes)
        self._insert_codes({row["hash"]: row["code"] for row in rows}, {row["hash"]: person.id for row in rows})
        if rows:
            self._touch([person.id])
        return len(rows)

    def templates_of(self, name: str) -> list[bytes]:
        """The templates of a person, in the order of their hashes: the order of enrolling does not matter."""
        question = select(photos.c.template).where(photos.c.person == self.person(name).id)
        return [row[0] for row in self._rows(question.order_by(photos.c.hash), (bytes,))]

    def set_span(self, name: str, span: bytes | None) -> None:
        """Keep the joint template of one person's photos."""
        self.set_spans({name: span})

    def set_spans(self, spans: Mapping[str, bytes | None]) -> None:
        """Keep the joint templates of many people's photos."""
        wanted = {check_name(name): span for name, span in spans.items()}
        ids = self.ids_of(wanted)
        for name, span in wanted.items():
            check_kind("set_spans", "span", span, bytes | None)
            person = ids[name] if name in ids else self.person(name).id
            self._do(update(people).where(people.c.id == person).values(span=span, revision=self._next))

    def rename(self, old: str, new: str) -> None:
        """Call a person otherwise; :class:`~lightproof.errors.NameTaken` if somebody is called so."""
        person, new = self.person(old), check_name(new, "The new name")
        if new == person.name:
            return
        if self.ids_of([new]):
            raise NameTaken(new)
        self._do(
            update(people).where(people.c.id == person.id).values(name=new, lot=sampling_key(new), revision=self._next)
        )
        self._do(update(refused).where(refused.c.person == person.name).values(person=new))
        self._erase(person.name)

    def forget(self, name: str) -> Forgotten:
        """Delete a person with all photos, and the refusals under that name; there may be nothing but those."""
        kept = self.kept_of(name)
        name = check_name(name)
        for number in self.ids_of([name]).values():
            self._erase_photos(photos.c.person, [number], kept.photos)
            self._erase_people([number])
            self._do(delete(photos).where(photos.c.person == number))
            self._delete_people([number])
        self._drop_refusals(refused.c.person, [name])
        return kept

    def remove_photos(self, hashes: Iterable[str]) -> Removed:
        """Delete photos by their hashes; a person of whom no photo is left goes too. Unknown hashes are left out."""
        gone = self.known_hashes(hashes)
        if not gone:
            return Removed(0, [])
        self._erase_photos(photos.c.hash, gone, len(gone))
        ids = self.ids_of(gone.values())
        # The joint templates are made of the photos that go.
        self._erase_people(ids.values())
        self._each(list(gone), lambda some: delete(photos).where(self._one_of(photos.c.hash, some)))
        left = exists(select(photos.c.id).where(photos.c.person == people.c.id))
        question = select(people.c.id, people.c.name).where(~left)
        empty = dict(self._among(question, people.c.id, ids.values(), (int, str)))
        self._delete_people(list(empty))
        self._drop_refusals(refused.c.person, list(empty.values()))
        self._touch([person for person in ids.values() if person not in empty])
        return Removed(len(gone), sorted(empty.values()))

    def refile(self, sources: Mapping[str, str]) -> None:
        """Take note that the files of photos, by hash, are called otherwise now."""
        question = select(photos.c.hash, photos.c.source)
        before = dict(self._among(question, photos.c.hash, sources, (str, (str, type(None)))))
        for number, old in before.items():
            new = storable(sources[number])
            if new != old:
                self._do(update(photos).where(photos.c.hash == number).values(source=new))
                self._erase(old)

    def remember_refusals(self, refusals: Iterable[Refusal]) -> int:
        """Remember photos that could not be enrolled, in place of what was known of them; return how many."""
        rows = {row["hash"]: row for row in map(refusal_row, refusals)}
        self._each(list(rows), lambda some: delete(refused).where(self._one_of(refused.c.hash, some)))
        if rows:
            self._do(insert(refused), list(rows.values()))
        return len(rows)

    def forget_refusals(self, hashes: Iterable[str]) -> int:
        """Let refused photos be tried again; return how many there were."""
        return self._drop_refusals(refused.c.hash, [storable(key) for key in hashes])

    def set_fact(self, key: str, value: str | None) -> None:
        """Keep a fact of the gallery, or delete it with None."""
        check_kind("set_fact", "key", key, str)
        check_kind("set_fact", "value", value, str | None)
        if key in OWN_FACTS:
            raise BadParameter("set_fact", "key", f"none of the store's own ({', '.join(sorted(OWN_FACTS))})", key)
        if self.facts().get(key) != value:
            self._put(key, value)
            self._changed = True

    def _insert_photos(self, rows: dict[str, dict[str, Any]]) -> None:
        """Add checked photos, whose person is given by name; make the people who are missing."""
        if not rows:
            return
        day = now()
        names = dict.fromkeys(row["person"] for row in rows.values())
        ids = self.ids_of(names)
        self._touch(list(ids.values()))
        if missing := [name for name in names if name not in ids]:
            self._insert(people, [self._new_person(name, day) for name in missing])
            ids |= self.ids_of(missing)
        new_codes = {key: row.pop("code") for key, row in rows.items()}
        self._insert(photos, [{**row, "person": ids[row["person"]], "added": day} for row in rows.values()])
        self._insert_codes(new_codes, {key: ids[row["person"]] for key, row in rows.items()})
        self._each(list(rows), lambda some: delete(refused).where(self._one_of(refused.c.hash, some)))

    def _insert_codes(self, new: Mapping[str, bytes | None], persons: Mapping[str, int]) -> None:
        """Add the codes of photos, by hash, that have one."""
        numbers = self._among(select(photos.c.hash, photos.c.id), photos.c.hash, list(new), (str, int))
        given = [(number, persons[key], new[key]) for key, number in numbers if new[key] is not None]
        self._insert(codes, [{"photo": photo, "person": person, "code": code} for photo, person, code in given])

    def _new_person(self, name: str, day: str) -> dict[str, Any]:
        return {"name": name, "revision": self._next, "added": day, "lot": sampling_key(name)}

    def _delete_people(self, numbers: Sequence[int]) -> None:
        """Delete people who have no photos any more; whoever follows the gallery hears of it."""
        if self._each(numbers, lambda some: delete(people).where(self._one_of(people.c.id, some))):
            self._do(insert(gone), [{"person": number, "revision": self._next} for number in numbers])

    def _drop_refusals(self, column: ColumnElement[Any], values: Sequence[str]) -> int:
        question = select(refused.c.hash, refused.c.person, refused.c.source, refused.c.reason)
        for row in self._among(question, column, values, (str, (str, type(None)), str, str)):
            self._erase(*row)
        return self._each(values, lambda some: delete(refused).where(self._one_of(column, some)))

    def _without_codes(self, hashes: Sequence[str]) -> Executable:
        theirs = select(photos.c.id).where(self._one_of(photos.c.hash, hashes))
        return delete(codes).where(codes.c.photo.in_(theirs))
