"""How well a gallery recognizes its own photos, by light: each is left out in turn, and asked about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np

from lightproof.core.progress import SizedProgress
from lightproof.datasets.file_readers import count
from lightproof.evaluation.light_groups import LIGHTS, groups_of
from lightproof.evaluation.rates_by_light import Figure
from lightproof.gallery.calibrate import MOST, Calibration, asked_of_photos, evidence_of_photos
from lightproof.gallery.decision import far_asked, verdict
from lightproof.gallery.enrollment import light_of, lights_of
from lightproof.gallery.reader import GalleryReader
from lightproof.gallery.results import mark
from lightproof.gallery.store import NewPhoto
from lightproof.gallery.template_codec import decode
from lightproof.matching.calibration import ImpostorModel, normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher
from lightproof.matching.templates import Template, TemplateSet
from lightproof.metrics import share_by_person
from lightproof.types import Floats, Ints

PHOTOS: Final = 8
"""Photos of a person that are asked about, at most."""

FEW: Final = 20
"""People asked about, below which it is said that intervals are wide."""


@dataclass(frozen=True)
class Counted:
    """How many photos of how many.

    Attributes
    ----------
    count, of : int
    people : int
        Who is on these photos, counted once.
    low, high : float or None
        The 95 % interval of the share, with people drawn again and not photos; None where one person is too few.
    """

    count: int
    of: int
    people: int = 0
    low: float | None = None
    high: float | None = None

    @classmethod
    def over(cls, hits: Sequence[bool], people: Sequence[str]) -> Self:
        """Count the hits among photos, given who is on each."""
        if not hits:
            return cls(0, 0)
        low, high = (None if math.isnan(end) else end for end in share_by_person(np.array(hits), np.array(people)))
        return cls(sum(hits), len(hits), len(set(people)), low, high)

    @property
    def share(self) -> float | None:
        """Which share that is, 0 to 1; None where there was nothing to count."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True)
class InLight:
    """Photos under one kind of light.

    Attributes
    ----------
    light, words : str
        A key of :data:`lightproof.evaluation.light_groups.LIGHTS`, and what it is called there.
    named : Counted
        Left out of its person's template: the best match is the right person.
    found : Counted
        And it is accepted.
    strangers : Counted
        With its person left out altogether: it is taken for somebody else.
    """

    light: str
    words: str
    named: Counted
    found: Counted
    strangers: Counted


@dataclass(frozen=True)
class Within:
    """What came out.

    Attributes
    ----------
    far : float
        Share of strangers that may be accepted.
    threshold : float
        The score from which on a match is accepted.
    calibrated : bool
        Whether the gallery is. If so, on the very people who are strangers here.
    people : int
        Enrolled, with a photo.
    asked : int
        Photos left out of their person's template: only those of people with two or more.
    strangers_asked : int
        Photos asked about with their person left out: none where nobody else is enrolled.
    lights : tuple of InLight
        All photos, then those under each kind of light that there is.
    from_faces : bool
        Whether every photo was compared as it is, and no template stood in for one.
    note : str
        What the figures rest on.
    """

    far: float
    threshold: float
    calibrated: bool
    people: int
    asked: int
    strangers_asked: int
    lights: tuple[InLight, ...]
    from_faces: bool
    note: str

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures in the form of :meth:`lightproof.evaluation.Evaluation.rows`, where there was a photo."""
        return [figure.as_dict() for one in self.lights for figure in self._figures(one)]

    def _figures(self, one: InLight) -> Iterator[Figure]:
        yield from _figure("rank-1", one.light, None, None, one.named)
        yield from _figure("found", one.light, "used", self.far, one.found)
        yield from _figure("strangers accepted", one.light, "used", self.far, one.strangers)


def _figure(measure: str, light: str, threshold: str | None, far: float | None, photos: Counted) -> Iterator[Figure]:
    if photos.share is not None:
        ends = photos.low, photos.high
        yield Figure(measure, light, threshold, far, photos.share, *ends, photos.people, photos.of, photos.of)


def evaluate_within(gallery: GalleryReader, *, far: float | None = None, progress: SizedProgress = iter) -> Within:
    """Find out how well a gallery recognizes its own photos.

    Up to :data:`PHOTOS` photos of everybody, or of :data:`lightproof.gallery.calibrate.MOST` people, are asked about
    twice. First each is left out of the template of its person, where others are left to make one: the answer is that
    of a gallery which never had the photo. Then its person is left out, and it is a stranger's. Nothing is changed.

    Photos that were taken at one go are alike: they are found more easily than those of another day.

    Parameters
    ----------
    gallery : GalleryReader
        Such as a :class:`~lightproof.gallery.Gallery`.
    far : float, optional
        Share of strangers that may be accepted; that of the gallery by default.
    progress : callable
        Wraps the loop over people, to show how far it is.

    Returns
    -------
    Within

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> from lightproof.gallery import Gallery
    >>> from tempfile import TemporaryDirectory
    >>> faces = make_relit_faces(3, [(0, 0), (10, 10)], size=(72, 63)).images
    >>> with TemporaryDirectory() as folder, Gallery.open(f"{folder}/office.gallery", preset="fast") as gallery:
    ...     for i, name in enumerate(["Ada", "Ben", "Cleo"]):
    ...         _ = gallery.enroll(name, faces[2 * i : 2 * i + 2])
    ...     everything = evaluate_within(gallery).lights[0]
    >>> everything.named.count, everything.named.of, everything.strangers.count
    (6, 6, 0)
    """
    known = gallery.calibration()
    rate = far_asked("evaluate_within", far, known)
    n_people = gallery.follow()
    outcomes: list[_Outcome] = []
    with gallery.store.reading() as view:
        drawn = view.drawn(MOST)
        names = sorted(view.names_of(drawn).values())
        theirs = ((who.name, own) for who, own, _ in view.templates_of_people(drawn, faces=True))
        # Whoever shows how far it is may want to know all steps at once, but not everybody's photos.
        for _, (name, photos) in zip(progress(names), theirs, strict=False):
            outcomes += _Questions(gallery, known, rate).about(name, photos)
    return Within(
        far=rate,
        threshold=float(score_of(np.asarray(rate))),
        calibrated=known.strangers > 0,
        people=n_people,
        asked=sum(one.named is not None for one in outcomes),
        strangers_asked=sum(one.accepted is not None for one in outcomes),
        lights=tuple(_in_lights(outcomes)),
        from_faces=bool(outcomes) and all(one.face for one in outcomes),
        note=_note(outcomes, n_people),
    )


class _Outcome(NamedTuple):
    """What came of one photo: whom it shows, the group of its light, whether its face was compared; then the answers.

    ``named`` and ``found`` are None where no other photo is left, ``accepted`` where no other person is.
    """

    person: str
    light: str
    face: bool
    named: bool | None
    found: bool | None
    accepted: bool | None


@dataclass(frozen=True, eq=False)
class _Questions:
    """What is the same for every photo."""

    gallery: GalleryReader
    known: Calibration
    far: float

    def about(self, name: str, photos: Sequence[NewPhoto]) -> list[_Outcome]:
        """Ask about some photos of a person, all of whose photos are given."""
        some, matcher, place = evenly(len(photos)), self.gallery.matcher, self.gallery.place
        asked = asked_of_photos(matcher, [photos[i] for i in some], place)
        people = self.gallery.near(*asked, including=[name])
        ahead = leads_left_out(matcher, people, name, photos, some, place)
        right = self._recognized(people, name, ahead.photo) if ahead.photo is not None else [(None, None)] * len(some)
        accepted = self._let_in(people, name, ahead.person) if ahead.person is not None else [None] * len(some)
        unread = (math.nan, math.nan)
        directions = np.array([light_of(photos[i].light, place) or unread for i in some]).reshape(-1, 2)
        lights = groups_of(*directions.T).tolist()
        faces = [photos[i].face is not None for i in some]
        return [
            _Outcome(name, light, face, *known, let_in)
            for light, face, known, let_in in zip(lights, faces, right, accepted, strict=True)
        ]

    def _strangers(self, people: TemplateSet) -> ImpostorModel:
        return self.known.among(people.n_people, mutual_agreement(people))

    def _recognized(self, people: TemplateSet, name: str, ahead: Floats) -> list[tuple[bool, bool]]:
        """Whether each photo is rightly named, and accepted besides."""
        # What the gallery judges by, with all its photos: one light more or less hardly moves it.
        names, strangers = people.names, self._strangers(people)
        named = [names[best] == name for best in ahead.argmax(axis=1)]
        reached = [self._accepts(lead, strangers) for lead in ahead.max(axis=1)]
        return [(right, right and enough) for right, enough in zip(named, reached, strict=True)]

    def _let_in(self, people: TemplateSet, name: str, ahead: Floats) -> list[bool]:
        """Whether each photo is accepted as somebody by those who are left."""
        strangers = self._strangers(people.removing(name))
        return [self._accepts(lead, strangers) for lead in ahead.max(axis=1)]

    def _accepts(self, lead: float, strangers: ImpostorModel) -> bool:
        # How far away a match is has no part in it.
        return verdict(mark(lead, math.nan, strangers), self.far).same


class LeftOut(NamedTuple):
    """How far everybody is ahead on some photos of a person.

    Attributes
    ----------
    photo : ndarray of shape (n, C) or None
        Each photo left out of its person's template; None where it is the only one.
    person : ndarray of shape (n, C - 1) or None
        The person left out; None where nobody else is enrolled.
    """

    photo: Floats | None
    person: Floats | None


def leads_left_out(
    matcher: Matcher, people: TemplateSet, name: str, photos: Sequence[NewPhoto], some: Ints, place: str
) -> LeftOut:
    """Ask about some photos of a person, each left out of the template, and with the person left out.

    What a photo says for the others does not depend on who else is enrolled: only the person's own column changes.

    Parameters
    ----------
    matcher : Matcher
    people : TemplateSet
        Everybody, as they are enrolled.
    name : str
        One of them.
    photos : sequence of NewPhoto
        All photos of the person.
    some : ndarray of shape (n,)
        Places of those that are asked about.
    place : str
        Of the gallery, for the message.
    """
    column, asked = people.names.index(name), [photos[i] for i in some]
    said = evidence_of_photos(matcher, people, asked, place)
    by_others = by_all = None
    if len(people) > 1:
        by_others = normalized_scores(said.without(column))
    if len(photos) > 1:
        remade = matcher.template_set({i: _without(i, photos, matcher, place) for i in some.tolist()})
        known = said.people.copy()
        known[:, column] = np.diagonal(evidence_of_photos(matcher, remade, asked, place).people)
        by_all = normalized_scores(replace(said, people=known))
    return LeftOut(by_all, by_others)


def _without(i: int, photos: Sequence[NewPhoto], matcher: Matcher, place: str) -> Template:
    """Make the template that the gallery would keep of a person if one of the photos had never been there."""
    others = [photo for j, photo in enumerate(photos) if j != i]
    joined = matcher.joined([decode(photo.template, matcher, place) for photo in others])
    return replace(joined, lights=lights_of(others, place))


def evenly(n_photos: int) -> Ints:
    """Choose the photos of a person that are asked about, evenly from all."""
    return np.linspace(0, n_photos - 1, min(n_photos, PHOTOS)).astype(int)


def _in_lights(outcomes: Sequence[_Outcome]) -> Iterator[InLight]:
    for light, words in LIGHTS.items():
        some = [one for one in outcomes if light in ("all", one.light)]
        if some or light == "all":
            named, found, strangers = (_counted(some, question) for question in ("named", "found", "accepted"))
            yield InLight(light, words, named, found, strangers)


def _counted(outcomes: Sequence[_Outcome], question: str) -> Counted:
    asked = [one for one in outcomes if getattr(one, question) is not None]
    return Counted.over([getattr(one, question) for one in asked], [one.person for one in asked])


def _note(outcomes: Sequence[_Outcome], n_people: int) -> str:
    """Say what the figures rest on."""
    if not n_people:
        return "Nobody is enrolled: there is nothing to ask."
    asked = [one for one in outcomes if one.named is not None]
    people = len({one.person for one in asked})
    if not asked:
        said = "Nobody has two photos, so none could be left out of the others"
        return f"{said}; there were only strangers to ask about. {_compared(outcomes)}." if n_people > 1 else f"{said}."
    said = f"{count(len(asked), 'photo')} of {count(people, 'person', 'people')} were each left out and asked about"
    few = "; of so few people the intervals are wide" if people < FEW else ""
    return f"{said}; only people with two or more photos can be. {_compared(outcomes)}{few}."


def _compared(outcomes: Sequence[_Outcome]) -> str:
    without = sum(not one.face for one in outcomes)
    if not without:
        return "Faces are kept here, so the photos themselves were compared"
    if without == len(outcomes):
        return "Faces are not kept here, so templates stood in for the photos"
    if without == 1:
        return "1 face was not kept, so its template stood in for it"
    return f"{without:,} faces were not kept, so their templates stood in for them"
