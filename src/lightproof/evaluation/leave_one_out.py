"""How well a gallery recognizes its own photos, by light: each is left out in turn and becomes a probe."""

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
from lightproof.gallery.calibrate import MAX_STRANGERS, probes_of_photos, scores_of_photos
from lightproof.gallery.codec import decode_template
from lightproof.gallery.decision import Calibration, match_of, verdict
from lightproof.gallery.enrollment import read_light, read_lights
from lightproof.gallery.reader import GalleryReader
from lightproof.gallery.store import NewPhoto
from lightproof.matching.calibration import check_far, normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher
from lightproof.matching.templates import Template, TemplateSet
from lightproof.metrics import share_by_person
from lightproof.types import Floats, Ints

PHOTOS_PER_PERSON: Final = 8
"""Probes of a person, at most."""

MIN_PEOPLE: Final = 20
"""With fewer people the note says that intervals are wide."""


@dataclass(frozen=True)
class Counted:
    """How many photos of how many, the people on them, and the 95 % interval of the share.

    The interval draws people again, not photos; it is None if one person is too few.
    """

    count: int
    of: int
    people: int = 0
    low: float | None = None
    high: float | None = None

    @classmethod
    def over(cls, hits: Sequence[bool], people: Sequence[str]) -> Self:
        """Count the hits among photos, given the person on each."""
        if not hits:
            return cls(0, 0)
        low, high = (None if math.isnan(end) else end for end in share_by_person(np.array(hits), np.array(people)))
        return cls(sum(hits), len(hits), len(set(people)), low, high)

    @property
    def share(self) -> float | None:
        """The share, 0 to 1; None of no photos."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True)
class InLight:
    """Photos under one kind of light: a key of :data:`lightproof.evaluation.light_groups.LIGHTS`, and its title there.

    ``named`` are photos left out of their person's template whose best match is the right person, ``found`` those that
    are accepted, too. ``strangers`` are photos taken for somebody else when their person is left out altogether.
    """

    light: str
    words: str
    named: Counted
    found: Counted
    strangers: Counted


@dataclass(frozen=True)
class Within:
    """The figures of a gallery on its own photos.

    Attributes
    ----------
    far, threshold : float
        Share of strangers that may be accepted, and the score from which on a match is accepted.
    calibrated : bool
        Whether the gallery is calibrated; if so, on the very people who are strangers here.
    people : int
        Enrolled, with a photo.
    asked, strangers_asked : int
        Photos left out of their person's template, if other photos of the person remain, and photos whose person was
        left out, if somebody else is enrolled.
    lights : tuple of InLight
        All photos, then those under each kind of light that there is.
    from_faces : bool
        Whether every photo was compared as it is, and no template stood in for one.
    note : str
        A sentence on what the figures rest on.
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
        """Return the figures as :meth:`lightproof.evaluation.Evaluation.rows` does, but for those of no photos."""
        return [figure.as_dict() for group in self.lights for figure in self._figures(group)]

    def _figures(self, group: InLight) -> Iterator[Figure]:
        for measure, threshold, far, photos in (
            ("rank-1", None, None, group.named),
            ("found", "used", self.far, group.found),
            ("strangers accepted", "used", self.far, group.strangers),
        ):
            if photos.share is not None:
                ends = photos.low, photos.high
                counts = photos.people, photos.of, photos.of
                yield Figure(measure, group.light, threshold, far, photos.share, *ends, *counts)


def evaluate_within(gallery: GalleryReader, *, far: float | None = None, progress: SizedProgress = iter) -> Within:
    """Find out how well a gallery recognizes its own photos.

    Up to :data:`PHOTOS_PER_PERSON` photos of everybody, or of :data:`lightproof.gallery.calibrate.MAX_STRANGERS`
    people, are probes twice. First the photo is left out of the template of its person, if other photos remain: the
    answer is that of a gallery which never had the photo. Then its person is left out, and the photo is a stranger's.
    Nothing is changed.

    Photos that were taken at one go are alike: they are found more easily than those of another day.

    Parameters
    ----------
    gallery : GalleryReader
        Such as a :class:`~lightproof.gallery.Gallery`.
    far : float, optional
        Share of strangers that may be accepted; that of the gallery by default.
    progress : callable
        Wraps the loop over people, to show how far it is.

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
    calibration = gallery.calibration()
    rate = calibration.far if far is None else check_far("evaluate_within", far)
    n_people = gallery.follow()
    outcomes: list[_LeftOutPhoto] = []
    with gallery.store.reading() as view:
        drawn = view.reference_sample(MAX_STRANGERS)
        names = sorted(view.names_of(drawn).values())
        photos_of_people = ((who.name, photos) for who, photos, _ in view.templates_of_people(drawn, faces=True))
        # A progress bar may need all steps at once, but not everybody's photos.
        for _, (name, photos) in zip(progress(names), photos_of_people, strict=False):
            outcomes += _leave_out(gallery, calibration, rate, name, photos)
    return Within(
        far=rate,
        threshold=float(score_of(np.asarray(rate))),
        calibrated=calibration.strangers > 0,
        people=n_people,
        asked=sum(outcome.named is not None for outcome in outcomes),
        strangers_asked=sum(outcome.accepted is not None for outcome in outcomes),
        lights=tuple(_in_lights(outcomes)),
        from_faces=bool(outcomes) and all(outcome.face for outcome in outcomes),
        note=_note(outcomes, n_people),
    )


class _LeftOutPhoto(NamedTuple):
    """The answers for one photo; ``face`` is whether the face was compared, and no template in its place.

    ``named`` and ``found`` are None if the person has no other photo, ``accepted`` if nobody else is enrolled.
    """

    person: str
    light: str
    face: bool
    named: bool | None
    found: bool | None
    accepted: bool | None


def _leave_out(
    gallery: GalleryReader, calibration: Calibration, far: float, name: str, photos: Sequence[NewPhoto]
) -> list[_LeftOutPhoto]:
    """Leave out some photos of a person, all of whose photos are given."""
    some, matcher, place = evenly(len(photos)), gallery.matcher, gallery.place
    people = gallery.shortlist(*probes_of_photos(matcher, [photos[i] for i in some], place), including=[name])
    leads = leads_left_out(matcher, people, name, photos, some, place)

    def accepted_among(people: TemplateSet, leads: Floats) -> list[bool]:
        impostors = calibration.impostor_model(people.n_people, mutual_agreement(people))
        # The distance of a match has no part in the verdict.
        return [verdict(match_of(lead, math.nan, impostors), far).same for lead in leads.max(axis=1)]

    named: list[bool | None] = [None] * len(some)
    found, accepted = named, named
    if leads.photo is not None:
        names = people.names
        named = [names[best] == name for best in leads.photo.argmax(axis=1)]
        # The gallery judges with all its photos: one light more or less hardly moves it.
        found = [right and same for right, same in zip(named, accepted_among(people, leads.photo), strict=True)]
    if leads.person is not None:
        accepted = [*accepted_among(people.removing(name), leads.person)]
    directions = np.array([read_light(photos[i].light, place) or (math.nan, math.nan) for i in some]).reshape(-1, 2)
    lights = groups_of(*directions.T).tolist()
    faces = [photos[i].face is not None for i in some]
    return [_LeftOutPhoto(name, *answers) for answers in zip(lights, faces, named, found, accepted, strict=True)]


class LeftOut(NamedTuple):
    """The leads of everybody on n photos of a person.

    ``photo``, shape (n, C), has each photo left out of its person's template; it is None for an only photo. ``person``,
    shape (n, C - 1), has the person left out; it is None if nobody else is enrolled.
    """

    photo: Floats | None
    person: Floats | None


def leads_left_out(
    matcher: Matcher, people: TemplateSet, name: str, photos: Sequence[NewPhoto], some: Ints, place: str
) -> LeftOut:
    """Compare some photos of a person, each left out of the template, and with the person left out.

    The scores of the others do not depend on who else is enrolled: only the person's own column changes.

    Parameters
    ----------
    people : TemplateSet
        Everybody, as they are enrolled.
    photos : sequence of NewPhoto
        All photos of the person.
    some : ndarray of shape (n,)
        Positions of the photos to compare.
    place : str
        Of the gallery, for the message.
    """
    column, probes = people.names.index(name), [photos[i] for i in some]
    scores = scores_of_photos(matcher, people, probes, place)
    without_photo = None
    without_person = normalized_scores(scores.without(column)) if len(people) > 1 else None
    if len(photos) > 1:
        remade = matcher.template_set({i: _without(i, photos, matcher, place) for i in some.tolist()})
        own = scores.people.copy()
        own[:, column] = np.diagonal(scores_of_photos(matcher, remade, probes, place).people)
        without_photo = normalized_scores(replace(scores, people=own))
    return LeftOut(without_photo, without_person)


def _without(i: int, photos: Sequence[NewPhoto], matcher: Matcher, place: str) -> Template:
    """Make the template that the gallery would keep of a person if one of the photos had never been there."""
    others = [photo for j, photo in enumerate(photos) if j != i]
    joined = matcher.joined([decode_template(photo.template, matcher, place) for photo in others])
    return replace(joined, lights=read_lights(others, place))


def evenly(n_photos: int) -> Ints:
    """Choose the probes among the photos of a person, evenly from all."""
    return np.linspace(0, n_photos - 1, min(n_photos, PHOTOS_PER_PERSON)).astype(int)


def _in_lights(outcomes: Sequence[_LeftOutPhoto]) -> Iterator[InLight]:
    for light, words in LIGHTS.items():
        some = [outcome for outcome in outcomes if light in ("all", outcome.light)]
        if some or light == "all":
            yield InLight(light, words, *(_counted(some, answer) for answer in ("named", "found", "accepted")))


def _counted(outcomes: Sequence[_LeftOutPhoto], answer: str) -> Counted:
    answered = [outcome for outcome in outcomes if getattr(outcome, answer) is not None]
    return Counted.over([getattr(outcome, answer) for outcome in answered], [outcome.person for outcome in answered])


def _note(outcomes: Sequence[_LeftOutPhoto], n_people: int) -> str:
    """Say what the figures rest on."""
    if not n_people:
        return "Nobody is enrolled: there is nothing to ask."
    names = [outcome.person for outcome in outcomes if outcome.named is not None]
    people = len(set(names))
    if not names:
        start = "Nobody has two photos, so none could be left out of the others"
        strangers = f"; there were only strangers to ask about. {_compared(outcomes)}" if n_people > 1 else ""
        return f"{start}{strangers}."
    start = f"{count(len(names), 'photo')} of {count(people, 'person', 'people')} were each left out and asked about"
    few = "; of so few people the intervals are wide" if people < MIN_PEOPLE else ""
    return f"{start}; only people with two or more photos can be. {_compared(outcomes)}{few}."


def _compared(outcomes: Sequence[_LeftOutPhoto]) -> str:
    without = sum(not outcome.face for outcome in outcomes)
    if not without:
        return "Faces are kept here, so the photos themselves were compared"
    if without == len(outcomes):
        return "Faces are not kept here, so templates stood in for the photos"
    if without == 1:
        return "1 face was not kept, so its template stood in for it"
    return f"{without:,} faces were not kept, so their templates stood in for them"
