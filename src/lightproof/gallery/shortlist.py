"""Whom a photo is compared with, as the store has them now: everybody, or of many those worth comparing with."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Final

import numpy as np

from lightproof.errors import BadGallery
from lightproof.gallery.enrollment import EnrollmentConfig, lights_of
from lightproof.gallery.store import NewPhoto, Person, Store, View
from lightproof.gallery.template_codec import decode, decode_all
from lightproof.matching.hamming_index import MAX_CANDIDATES, HammingIndex
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import ProbeSet
from lightproof.matching.templates import N_REFERENCE_PEOPLE, Template, TemplateSet
from lightproof.types import Array

SMALL: Final = 1000
"""Up to so many people everybody's template is in memory, and everybody is compared with."""

STEPS: Final = (8, 64)
"""People found by their codes who are compared with first, and next; the others only where none of these may be it."""

SPARE: Final = 8
"""Rivals beyond those that are needed: somebody may be left out of a comparison. With them they fill a block."""


@dataclass
class _Crowd:
    """What is in memory of many people: their codes, and the templates of those whom others are measured against."""

    index: HammingIndex
    count: int = 0
    rivals: dict[int, tuple[int, str, Template]] = field(default_factory=dict)
    laid_out: TemplateSet | None = None


class PeopleIndex:
    """Follows a store: people are read when they are new or have changed, and no sooner than somebody asks.

    Parameters
    ----------
    store : Store
    config : EnrollmentConfig
        Of the gallery: templates of other parameters are refused.
    """

    def __init__(self, store: Store, config: EnrollmentConfig) -> None:
        self._store, self._way = store, config
        self._revision = -1
        self._templates: dict[int, tuple[str, Template]] = {}
        self._people: TemplateSet | None = config.matcher.template_set({})
        self._crowd: _Crowd | None = None
        # Two threads that follow at once would each miss what the other has read.
        self._alone = Lock()

    def follow(self) -> int:
        """Take on what has changed; return how many people with photos there are."""
        with self._alone:
            if self._store.revision() != self._revision:
                with self._store.reading() as view:
                    self._follow(view)
            return self._crowd.count if self._crowd is not None else len(self._templates)

    def everybody(self) -> TemplateSet:
        """Return everybody who is enrolled, by name, however much memory that takes."""
        self.follow()
        with self._alone:
            if self._people is not None:
                return self._people
            with self._store.reading() as view:
                return by_name((kept for _, kept in self._read(view.templates())), self._way)

    def is_large(self) -> bool:
        """Whether there are so many people that not everybody is compared with."""
        self.follow()
        return self._people is None

    def sample(self) -> TemplateSet:
        """Return those whom everybody is measured against: all, or of many those drawn by lot."""
        self.follow()
        with self._alone:
            return self._people if self._people is not None else self._rivals()

    def near(
        self, *asked: ProbeSet, including: Iterable[str] = (), without: str | None = None, most: int | None = None
    ) -> TemplateSet:
        """Return those whom photos are to be compared with, by name.

        That is everybody in a small gallery. In a large one it is the people drawn by lot whom others are measured
        against, and those whose codes are nearest to any of the photos: every answer about them is that of a comparison
        with everybody.

        Parameters
        ----------
        *asked : ProbeSet
            Of one or more photos each.
        including : iterable of str
            People to be compared with in any case, where they are enrolled.
        without : str, optional
            Somebody who is to be left out, as if never enrolled.
        most : int, optional
            People who are nearest to one photo; by default as many as an answer looks at, at most.
        """
        self.follow()
        with self._alone:
            if self._people is not None:
                people = self._people
            else:
                near = {person for some in asked for person in self._nearest(some, most)}
                people = self._beside_rivals(self._rivals(), near, including)
        return people if without is None else people.removing(without)

    def shortlists(self, asked: ProbeSet) -> Iterator[TemplateSet]:
        """Yield those whom one photo is to be compared with, ever more of them: mostly the first few are enough."""
        self.follow()
        with self._alone:
            everybody = self._people
            near, people = ([], everybody) if everybody is not None else (self._nearest(asked), self._rivals())
        if everybody is not None:
            yield everybody
        for some in steps(near):
            with self._alone:
                people = self._beside_rivals(people, set(some), [])
            yield people

    def _rivals(self) -> TemplateSet:
        crowd = self._crowd
        assert crowd is not None
        assert crowd.laid_out is not None
        return crowd.laid_out

    def _nearest(self, asked: ProbeSet, most: int | None = None) -> list[int]:
        """Numbers of the people, so many at most, whose codes are nearest to each of some photos, the nearest first."""
        crowd, encoder = self._crowd, self._way.matcher.encoder
        assert crowd is not None
        photos = encoder.encode_probes(asked.vectors, asked.n_warps)
        found = (crowd.index.search(photo, most or MAX_CANDIDATES) for photo in photos)
        return [person for each in found for person in each.people.tolist()]

    def _beside_rivals(self, people: TemplateSet, numbers: Set[int], including: Iterable[str]) -> TemplateSet:
        if names := list(including):
            # A number stays with a person, whatever happens before the templates are read.
            with self._store.reading() as view:
                numbers = {*numbers, *view.ids_of(names).values()}
        found = self._read(self._store.comparison_data(numbers))
        return beside(people, (kept for _, kept in found), self._way)

    def _read(
        self, people: Iterable[tuple[Person, list[NewPhoto], bytes | None]]
    ) -> Iterator[tuple[int, tuple[str, Template]]]:
        return templates_in(people, self._way, self._store.place)

    def _follow(self, view: View) -> None:
        if view.is_larger(SMALL):
            self._follow_many(view)
        else:
            self._follow_few(view)
        self._revision = view.revision()

    def _follow_few(self, view: View) -> None:
        since = self._revision if self._crowd is None else -1
        names = {person.id: person.name for person in view.people()}
        known = {number: kept for number, kept in self._templates.items() if number in names}
        changed, _ = view.changed(since)
        for number in changed:  # also somebody whose photos are all gone
            known.pop(number, None)
        known |= self._read(view.templates(since=since))
        self._templates, self._crowd = known, None
        self._people = by_name(((names[number], kept) for number, (_, kept) in known.items()), self._way)

    def _follow_many(self, view: View) -> None:
        encoder = self._way.matcher.encoder
        crowd = self._crowd if self._crowd is not None else _Crowd(HammingIndex(encoder.n_first))
        since = self._revision if self._crowd is not None else -1
        if since >= 0:
            changed, gone = view.changed(since)
            crowd.index.remove([*changed, *gone])
        for people, codes in view.codes(since):
            crowd.index.add(people, codes_in(codes, encoder.n_words, self._store.place))
        crowd.count = crowd.index.n_people
        drawn = view.reference_sample(N_REFERENCE_PEOPLE + SPARE)
        kept = {number: rival for number, rival in crowd.rivals.items() if drawn.get(number) == rival[0]}
        for number, (name, template) in self._read(view.templates_of_people(drawn.keys() - kept.keys())):
            kept[number] = (drawn[number], name, template)
        crowd.rivals = kept
        rivals = by_name(((name, template) for _, name, template in kept.values()), self._way)
        crowd.laid_out = replace(rivals, total=crowd.count, known_agreement=mutual_agreement(rivals))
        self._crowd, self._people, self._templates = crowd, None, {}


def codes_in(codes: Sequence[bytes], words: int, place: str) -> Array:
    """Read codes as a gallery keeps them, (n, words), uint64; the place is for the message."""
    if any(len(code) != 8 * words for code in codes):
        raise BadGallery(place, "a damaged code")
    return np.frombuffer(b"".join(codes), "<u8").reshape(-1, words)


def by_name(people: Iterable[tuple[str, Template]], config: EnrollmentConfig) -> TemplateSet:
    """Lay people out in the order of their names."""
    templates: dict[Hashable, Template] = {}
    templates.update(sorted(people, key=lambda pair: pair[0]))
    return config.matcher.template_set(templates)


def beside(people: TemplateSet, others: Iterable[tuple[str, Template]], config: EnrollmentConfig) -> TemplateSet:
    """Put those of others beside people who are not among them."""
    new = by_name(((name, template) for name, template in others if name not in people.templates), config)
    return people.extended(new) if len(new) else people


def steps(near: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut a list of the nearest people: those who are compared with first, and those only if need be."""
    edges = (0, *STEPS, len(near))
    yield from (near[start:end] for start, end in pairwise(edges) if near[start:end])


def templates_in(
    people: Iterable[tuple[Person, list[NewPhoto], bytes | None]], config: EnrollmentConfig, place: str
) -> Iterator[tuple[int, tuple[str, Template]]]:
    """Make templates of what is kept of people; somebody who was entered before there was a photo has none.

    Yields
    ------
    number : int
    (name, template)
    """
    found = [(person, photos, span) for person, photos, span in people if photos]
    for _, photos, _ in found:
        if any(photo.parameters != config.parameters for photo in photos):
            raise BadGallery(place, "a template made with other parameters")
    whole = [span if span is not None else photos[0].template for _, photos, span in found]
    templates = decode_all(whole, config.matcher, place)
    for (person, photos, span), template in zip(found, templates, strict=True):
        if span is None and len(photos) > 1:
            template = config.matcher.joined([decode(photo.template, config.matcher, place) for photo in photos])
        yield person.id, (person.name, replace(template, lights=lights_of(photos, place)))
