"""The people that a probe is compared with, as the store has them now: everybody, or a shortlist of many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Final

import numpy as np

from lightproof.errors import BadGallery
from lightproof.gallery.codec import decode_template, decode_templates
from lightproof.gallery.enrollment import EnrollmentConfig, read_lights
from lightproof.gallery.store import NewPhoto, Person, Store, View
from lightproof.matching.calibration import N_REFERENCE_PEOPLE
from lightproof.matching.hamming_index import MAX_CANDIDATES, HammingIndex
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.scores import ProbeSet
from lightproof.matching.templates import Template, TemplateSet
from lightproof.types import Array

MAX_PEOPLE_COMPARED: Final = 1000
"""Number of people up to which every template is in memory, and every probe is compared with everybody."""

SHORTLIST_SIZES: Final = (8, 64)
"""Number of nearest people compared first, and next; the others are compared only if none of these may be it."""

N_SPARE_REFERENCES: Final = 8
"""Reference people beyond those needed, because one may be left out. Together they fill a block."""


@dataclass
class _LargeGallery:
    """What is in memory of many people: their codes, and the templates of the reference people."""

    index: HammingIndex
    n_people: int = 0
    templates: dict[int, tuple[int, str, Template]] = field(default_factory=dict)
    references: TemplateSet | None = None


class PeopleIndex:
    """Follows a store: people are read when they are new or have changed, and not before the next question.

    Templates of other parameters than those of ``config`` are refused.
    """

    def __init__(self, store: Store, config: EnrollmentConfig) -> None:
        self._store, self._config = store, config
        self._revision = -1
        self._templates: dict[int, tuple[str, Template]] = {}
        self._people: TemplateSet | None = config.matcher.template_set({})
        self._large: _LargeGallery | None = None
        # Two threads that follow at once would each miss what the other has read.
        self._lock = Lock()

    def follow(self) -> int:
        """Read what has changed; return how many people with photos there are."""
        with self._lock:
            if self._store.revision() != self._revision:
                with self._store.reading() as view:
                    self._follow(view)
            return self._large.n_people if self._large is not None else len(self._templates)

    def everybody(self) -> TemplateSet:
        """Return everybody who is enrolled, by name, however much memory that takes."""
        self.follow()
        with self._lock:
            if self._people is not None:
                return self._people
            with self._store.reading() as view:
                return template_set_of((template for _, template in self._read(view.templates())), self._config)

    def is_large(self) -> bool:
        """Whether there are too many people to compare a probe with everybody."""
        self.follow()
        return self._people is None

    def reference_people(self) -> TemplateSet:
        """Return the people that scores are normalized by: everybody, or of many a random sample."""
        self.follow()
        with self._lock:
            return self._people if self._people is not None else self._references()

    def shortlist(
        self, *probes: ProbeSet, including: Iterable[str] = (), without: str | None = None, limit: int | None = None
    ) -> TemplateSet:
        """Return the people that probes are to be compared with, by name.

        In a small gallery that is everybody. In a large one it is the reference people, and those whose codes are
        nearest to any of the probes: their scores are those of a comparison with everybody.

        Parameters
        ----------
        *probes : ProbeSet
        including : iterable of str
            People on the list in any case, if they are enrolled.
        without : str, optional
            Somebody to leave out, as if never enrolled.
        limit : int, optional
            Number of people nearest to one photo; by default the most that an answer compares.
        """
        self.follow()
        with self._lock:
            if self._people is not None:
                people = self._people
            else:
                numbers = {number for each in probes for number in self._nearest(each, limit)}
                if names := list(including):
                    # The number of a person never changes, whatever happens before the templates are read.
                    with self._store.reading() as view:
                        numbers |= {*view.ids_of(names).values()}
                people = self._extended(self._references(), numbers)
        return people if without is None else people.removing(without)

    def shortlists(self, probe: ProbeSet) -> Iterator[TemplateSet]:
        """Yield longer and longer shortlists for one photo: mostly the first is enough."""
        self.follow()
        with self._lock:
            everybody = self._people
            numbers, people = ([], everybody) if everybody is not None else (self._nearest(probe), self._references())
        if everybody is not None:
            yield everybody
        for step in shortlist_steps(numbers):
            with self._lock:
                people = self._extended(people, set(step))
            yield people

    def _references(self) -> TemplateSet:
        assert self._large is not None
        assert self._large.references is not None
        return self._large.references

    def _nearest(self, probes: ProbeSet, limit: int | None = None) -> list[int]:
        """Numbers of the people whose codes are nearest to each of some photos, the nearest first."""
        assert self._large is not None
        codes = self._config.matcher.encoder.encode_probes(probes)
        found = (self._large.index.search(code, limit or MAX_CANDIDATES) for code in codes)
        return [number for neighbors in found for number in neighbors.people.tolist()]

    def _extended(self, people: TemplateSet, numbers: Set[int]) -> TemplateSet:
        found = self._read(self._store.comparison_data(numbers))
        return extended(people, (template for _, template in found), self._config)

    def _read(
        self, people: Iterable[tuple[Person, list[NewPhoto], bytes | None]]
    ) -> Iterator[tuple[int, tuple[str, Template]]]:
        return read_templates(people, self._config, self._store.place)

    def _follow(self, view: View) -> None:
        if view.is_larger(MAX_PEOPLE_COMPARED):
            self._follow_large(view)
        else:
            self._follow_small(view)
        self._revision = view.revision()

    def _follow_small(self, view: View) -> None:
        since = self._revision if self._large is None else -1
        names = {person.id: person.name for person in view.people()}
        templates = {number: kept for number, kept in self._templates.items() if number in names}
        changed, _ = view.changed(since)
        for number in changed:  # also somebody whose photos are all gone
            templates.pop(number, None)
        templates |= self._read(view.templates(since=since))
        self._templates, self._large = templates, None
        people = template_set_of(((names[i], template) for i, (_, template) in templates.items()), self._config)
        self._people = replace(people, known_agreement=mutual_agreement(people))

    def _follow_large(self, view: View) -> None:
        encoder = self._config.matcher.encoder
        large, since = self._large, self._revision
        if large is None:
            large, since = _LargeGallery(HammingIndex(encoder.n_first)), -1
        if since >= 0:
            changed, gone = view.changed(since)
            large.index.remove([*changed, *gone])
        for people, codes in view.codes(since):
            large.index.add(people, read_codes(codes, encoder.n_words, self._store.place))
        large.n_people = large.index.n_people
        keys = view.reference_sample(N_REFERENCE_PEOPLE + N_SPARE_REFERENCES)
        kept = {number: template for number, template in large.templates.items() if keys.get(number) == template[0]}
        for number, (name, template) in self._read(view.templates_of_people(keys.keys() - kept.keys())):
            kept[number] = (keys[number], name, template)
        large.templates = kept
        references = template_set_of(((name, template) for _, name, template in kept.values()), self._config)
        large.references = replace(references, total=large.n_people, known_agreement=mutual_agreement(references))
        self._large, self._people, self._templates = large, None, {}


def read_codes(codes: Sequence[bytes], n_words: int, place: str) -> Array:
    """Read codes as a gallery keeps them, (n, words), uint64; the place is for the message."""
    if any(len(code) != 8 * n_words for code in codes):
        raise BadGallery(place, "a damaged code")
    return np.frombuffer(b"".join(codes), "<u8").reshape(-1, n_words)


def template_set_of(people: Iterable[tuple[str, Template]], config: EnrollmentConfig) -> TemplateSet:
    """Make a template set in the order of the names."""
    templates: dict[Hashable, Template] = {}
    templates.update(sorted(people, key=lambda pair: pair[0]))
    return config.matcher.template_set(templates)


def extended(people: TemplateSet, others: Iterable[tuple[str, Template]], config: EnrollmentConfig) -> TemplateSet:
    """Append those of others who are not in the set."""
    new = template_set_of(((name, template) for name, template in others if name not in people.templates), config)
    return people.extended(new) if len(new) else people


def shortlist_steps(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut a list of the nearest people into those compared first, next and last."""
    edges = (0, *SHORTLIST_SIZES, len(numbers))
    yield from (numbers[start:end] for start, end in pairwise(edges) if numbers[start:end])


def read_templates(
    people: Iterable[tuple[Person, list[NewPhoto], bytes | None]], config: EnrollmentConfig, place: str
) -> Iterator[tuple[int, tuple[str, Template]]]:
    """Read the templates of people as a gallery keeps them, by number; people without a photo have none."""
    stored = [(person, photos, span) for person, photos, span in people if photos]
    if any(photo.parameters != config.parameters for _, photos, _ in stored for photo in photos):
        raise BadGallery(place, "a template made with other parameters")
    encoded = [span if span is not None else photos[0].template for _, photos, span in stored]
    templates = decode_templates(encoded, config.matcher, place)
    for (person, photos, span), template in zip(stored, templates, strict=True):
        if span is None and len(photos) > 1:
            template = config.matcher.joined(
                [decode_template(photo.template, config.matcher, place) for photo in photos]
            )
        yield person.id, (person.name, replace(template, lights=read_lights(photos, place)))
