"""Try a folder of photos as a gallery: who is named, who is taken for somebody else, which strangers get in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from unicodedata import normalize

import numpy as np

from lightproof.core.images import refuse_blank
from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.errors import BadLabels, BadParameter
from lightproof.evaluation.comparisons import compare_drawn, compare_enrolled
from lightproof.evaluation.light_groups import light_groups
from lightproof.evaluation.mistakes import Album, Mistake, worst_mistakes
from lightproof.evaluation.rates_by_light import Curves, Figure, Judge
from lightproof.evaluation.splits import Draw, make_draws
from lightproof.evaluation.trials import Trials, trials_of_draws, trials_of_gallery
from lightproof.matching.calibration import ImpostorModel, check_far
from lightproof.matching.light_penalty import lights_of, mean_agreement, mutual_agreement
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Ints, is_whole

FARS: Final = (0.01, 0.001)
"""Shares of strangers that thresholds are meant to accept, if nobody says."""


class KnownStrangers(Protocol):
    """What a gallery knows about strangers."""

    def among(self, n_people: int, alike: float = 0.0) -> ImpostorModel:
        """How well they do among so many people."""


class KnownPeople(Protocol):
    """What is asked of a gallery."""

    @property
    def matcher(self) -> Matcher:
        """Compares under the gallery's settings."""

    def near_all(self, images: Array, including: Sequence[str]) -> TemplateSet:
        """Everybody enrolled who is worth comparing with any of many faces, by name."""

    def calibration(self) -> KnownStrangers:
        """How well strangers do in it, as far as it knows."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What came out.

    Attributes
    ----------
    source : str
        What was enrolled, in words.
    n_people, n_photos : int
        Of the faces evaluated.
    n_enrolled, n_strangers : int
        People enrolled, and people left out, where strangers are asked about.
    draws : int
        How often photos and strangers were drawn; 1 with a gallery, where nothing is drawn.
    fars : tuple of float
        Shares of strangers that thresholds are meant to accept.
    stranger_questions : int
        How often a stranger was asked about: a share under one in so many cannot be measured.
    figures : tuple of Figure
    curves : dict of str to Curves
        By light.
    mistakes : tuple of Mistake
        The worst, at the gallery's own threshold for the first of ``fars``.
    """

    source: str
    n_people: int
    n_photos: int
    n_enrolled: int
    n_strangers: int
    draws: int
    fars: tuple[float, ...]
    stranger_questions: int
    figures: tuple[Figure, ...]
    curves: dict[str, Curves]
    mistakes: tuple[Mistake, ...]

    def figure(
        self, measure: str, light: str = "all", threshold: str | None = None, far: float | None = None
    ) -> Figure | None:
        """Return one figure, None where there was nothing to ask."""
        wanted = (measure, light, threshold, far)
        return next((f for f in self.figures if (f.measure, f.light, f.threshold, f.far) == wanted), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return every figure and every mistake shown, one dictionary each."""
        return [figure.as_dict() for figure in self.figures] + [mistake.as_dict() for mistake in self.mistakes]


def evaluate(
    faces: FaceSet,
    *,
    preset: str = "robust",
    photos: int = 1,
    draws: int = 5,
    fars: Sequence[float] = FARS,
    seed: int = 0,
    progress: SizedProgress = iter,
    gallery: KnownPeople | None = None,
) -> Evaluation:
    """Try photos of people as a gallery.

    Without a gallery, in each draw some photos of everybody are enrolled and all others asked about: with everybody
    enrolled, one against one, and with half of the people left out as strangers. With one, nothing is enrolled: photos
    of people whose name it has are known, all others are strangers. Photos that it was made of should not be among
    them; they are always recognized.

    Parameters
    ----------
    faces : FaceSet
    preset : {"robust", "fast"}
        Not used with a gallery, which has its own settings.
    photos : int
        Photos enrolled of each person; somebody with too few gets all but one enrolled.
    draws : int
    fars : sequence of float
        Shares of strangers that may be accepted.
    seed : int
    progress : callable
        Wraps the loops, to show how far they are.
    gallery : KnownPeople, optional

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> faces = make_relit_faces(4, [(0, 0), (10, 0), (30, 10)], size=(72, 63))
    >>> found = evaluate(faces, preset="fast", draws=2)
    >>> found.figure("rank-1").value
    1.0
    """
    for name, value, least in (("photos", photos, 1), ("draws", draws, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise BadParameter("evaluate", name, f"a whole number of at least {least}", value)
    rates = tuple(check_far("evaluate", far) for far in fars)
    if not rates:
        raise BadParameter("evaluate", "fars", "one or more shares", fars)
    if not len(faces):
        legal = "of two or more people" if gallery is None else "of one or more people"
        raise BadLabels("The faces to evaluate", legal, "no photo")
    refuse_blank(faces.images)
    if gallery is None:
        return _of_draws(faces, preset, photos, draws, rates, seed, progress)
    return _of_gallery(faces, gallery, rates, progress)


def _of_draws(
    faces: FaceSet, preset: str, photos: int, draws: int, fars: tuple[float, ...], seed: int, progress: SizedProgress
) -> Evaluation:
    names, people = np.unique(faces.labels, return_inverse=True)
    drawn = make_draws(people, photos, draws, seed)
    matcher = matcher_for(preset_settings(preset))
    templates = list(dict.fromkeys(enrolled for draw in drawn for enrolled in draw.enrolled))
    evidence = compare_drawn(matcher, faces.images, templates, progress)
    columns = {enrolled: i for i, enrolled in enumerate(templates)}
    trials = trials_of_draws(evidence, columns, drawn, people)
    album = Album(faces.images, faces.files, people, names.tolist(), lambda i, who, _: drawn[i].enrolled[who][0])
    source = f"{photos} photo{'s' * (photos != 1)} a person, preset {preset}"
    out = int(drawn[0].strangers.sum())
    usual = ImpostorModel.default(trials.n_enrolled, _alike(faces, drawn))
    return _told(faces, trials, album, usual, fars, progress, source, draws, out)


def _alike(faces: FaceSet, draws: Sequence[Draw]) -> float:
    """How far the lights of those who are enrolled among strangers agree, on average over the draws."""
    found = []
    for draw in draws:
        enrolled = [draw.enrolled[person] for person in np.flatnonzero(~draw.strangers)]
        lights = lights_of(faces.images[[photo for photos in enrolled for photo in photos]])
        # What cannot be told counts as light from the front, as in a gallery.
        found.append(mean_agreement(np.nan_to_num(lights), np.cumsum([0, *map(len, enrolled[:-1])])))
    return float(np.mean(found))


def _of_gallery(faces: FaceSet, gallery: KnownPeople, fars: tuple[float, ...], progress: SizedProgress) -> Evaluation:
    # A gallery has names in composed form; folders on some systems do not.
    labels = [normalize("NFC", str(label)) for label in faces.labels]
    enrolled = gallery.near_all(faces.images, sorted(set(labels)))
    if not len(enrolled):
        raise BadLabels("The gallery", "of one or more people", "nobody")
    known = [str(name) for name in enrolled.names]
    names = known + sorted(set(labels) - set(known))
    place = {name: i for i, name in enumerate(names)}
    people = np.array([place[label] for label in labels], dtype=np.intp)
    evidence = compare_enrolled(gallery.matcher, faces.images, enrolled, progress)
    trials = trials_of_gallery(evidence, people, len(known))
    usual = gallery.calibration().among(enrolled.n_people, mutual_agreement(enrolled))
    album = Album(faces.images, faces.files, people, names, lambda _, who, asked: _another(people, who, asked))
    source = f"a gallery of {enrolled.n_people} {'person' if enrolled.n_people == 1 else 'people'}"
    return _told(faces, trials, album, usual, fars, progress, source, 1, len(names) - len(known))


def _another(people: Ints, who: int, asked: int) -> int | None:
    """Find another photo of a person in the folder: a gallery need not keep faces."""
    hers = np.flatnonzero(people == who)
    return next((photo for photo in hers.tolist() if photo != asked), None)


def _told(
    faces: FaceSet,
    trials: Trials,
    album: Album,
    usual: ImpostorModel,
    fars: tuple[float, ...],
    progress: SizedProgress,
    source: str,
    draws: int,
    n_strangers: int,
) -> Evaluation:
    judge = Judge(trials, album.people, light_groups(faces, progress), fars, usual)
    return Evaluation(
        source=source,
        n_people=_distinct(album.people),
        n_photos=len(faces),
        n_enrolled=trials.n_enrolled,
        n_strangers=n_strangers,
        draws=draws,
        fars=fars,
        stranger_questions=len(trials.strangers),
        figures=tuple(judge.figures()),
        curves=judge.curves(),
        mistakes=tuple(worst_mistakes(trials, usual, fars[0], album)),
    )


def _distinct(people: Ints) -> int:
    return len(np.unique(people))
