"""Evaluate a folder of photos as a gallery: who is named, who is taken for somebody else, which strangers get in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from lightproof.core.images import refuse_blank
from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import count
from lightproof.errors import BadLabels, BadParameter
from lightproof.evaluation.comparisons import compare_drawn, compare_enrolled
from lightproof.evaluation.light_groups import light_groups
from lightproof.evaluation.mistakes import Album, Mistake, worst_mistakes
from lightproof.evaluation.rates_by_light import Curves, Figure, Judge
from lightproof.evaluation.trials import Draw, Trials, make_draws, trials_of_draws, trials_of_gallery
from lightproof.gallery.reader import GalleryReader
from lightproof.matching.calibration import ImpostorModel, check_far
from lightproof.matching.light_penalty import lights_of, mean_agreement, mutual_agreement
from lightproof.matching.matcher import matcher_for, preset_settings
from lightproof.types import is_whole

FARS: Final = (0.01, 0.001)
"""Shares of strangers that thresholds are meant to accept by default."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The figures, curves and worst mistakes of an evaluation.

    Attributes
    ----------
    source : str
        What was enrolled, in words.
    n_people, n_photos : int
        Of the faces evaluated.
    n_enrolled, n_strangers : int
        People enrolled, and people left out, in the open-set trials.
    draws : int
        How often photos and strangers were drawn; 1 with a gallery, where nothing is drawn.
    fars : tuple of float
        Shares of strangers that thresholds are meant to accept.
    stranger_questions : int
        Open-set trials with a stranger: a share under one in so many cannot be measured.
    curves : dict of str to Curves
        By light.
    mistakes : tuple of Mistake
        At the gallery's own threshold for the first of ``fars``.
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
        """Return one figure, None if there was no trial."""
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
    gallery: GalleryReader | None = None,
) -> Evaluation:
    """Evaluate photos of people as a gallery.

    Without ``gallery``, each draw enrolls some photos of everybody and probes with all others: with everybody enrolled,
    one against one, and with half of the people left out as strangers. With ``gallery`` nothing is enrolled: people
    whose name it has are known, all others are strangers. Leave out photos that it was made of; it always recognizes
    them.

    Parameters
    ----------
    faces : FaceSet
    preset : {"robust", "fast"}
        Not used with a gallery, which has its own settings.
    photos : int
        Photos enrolled of each person; of a person with too few all but one.
    draws : int
    fars : sequence of float
        Shares of strangers that may be accepted.
    seed : int
    progress : callable
        Wraps the loops, to show how far they are.
    gallery : GalleryReader, optional
        Such as a :class:`~lightproof.gallery.Gallery`.

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
    scores = compare_drawn(matcher, faces.aligned(progress), templates, progress)
    trials = trials_of_draws(scores, {enrolled: i for i, enrolled in enumerate(templates)}, drawn, people)
    return _evaluation(
        faces,
        trials,
        Album(faces.images, faces.files, people, names.tolist(), lambda i, who, _: drawn[i].enrolled[who][0]),
        ImpostorModel.default(trials.n_enrolled, _mean_agreement(faces, drawn)),
        light_groups(faces, progress),
        source=f"{count(photos, 'photo')} a person, preset {preset}",
        draws=draws,
        fars=fars,
        n_strangers=int(drawn[0].strangers.sum()),
    )


def _mean_agreement(faces: FaceSet, draws: Sequence[Draw]) -> float:
    """How far the lights of the people enrolled in the open-set trials agree, on average over the draws."""
    agreements = []
    for draw in draws:
        enrolled = [draw.enrolled[person] for person in np.flatnonzero(~draw.strangers)]
        lights = lights_of(faces.images[[photo for photos in enrolled for photo in photos]])
        # A light that cannot be read counts as light from the front, as in a gallery.
        agreements.append(mean_agreement(np.nan_to_num(lights), np.cumsum([0, *map(len, enrolled[:-1])])))
    return float(np.mean(agreements))


def _of_gallery(faces: FaceSet, gallery: GalleryReader, fars: tuple[float, ...], progress: SizedProgress) -> Evaluation:
    # A gallery has names in composed form; folders on some systems do not.
    labels = [normalize("NFC", str(label)) for label in faces.labels]
    aligned = faces.aligned(progress)
    enrolled = gallery.shortlist_for_all(aligned, sorted(set(labels)))
    if not len(enrolled):
        raise BadLabels("The gallery", "of one or more people", "nobody")
    known = [str(name) for name in enrolled.names]
    names = known + sorted(set(labels) - set(known))
    number = {name: i for i, name in enumerate(names)}
    people = np.array([number[label] for label in labels], dtype=np.intp)
    scores = compare_enrolled(gallery.matcher, aligned, enrolled, progress)

    def other_photo(draw: int, person: int, probe: int) -> int | None:
        """Find another photo of a person in the folder: a gallery need not keep faces."""
        return next((photo for photo in np.flatnonzero(people == person).tolist() if photo != probe), None)

    return _evaluation(
        faces,
        trials_of_gallery(scores, people, len(known)),
        Album(faces.images, faces.files, people, names, other_photo),
        gallery.calibration().impostor_model(enrolled.n_people, mutual_agreement(enrolled)),
        light_groups(faces, progress),
        source=f"a gallery of {count(enrolled.n_people, 'person', 'people')}",
        draws=1,
        fars=fars,
        n_strangers=len(names) - len(known),
    )


def _evaluation(
    faces: FaceSet,
    trials: Trials,
    album: Album,
    impostors: ImpostorModel,
    lights: NDArray[np.str_],
    *,
    source: str,
    draws: int,
    fars: tuple[float, ...],
    n_strangers: int,
) -> Evaluation:
    judge = Judge(trials, album.people, lights, fars, impostors)
    return Evaluation(
        source=source,
        n_people=len(np.unique(album.people)),
        n_photos=len(faces),
        n_enrolled=trials.n_enrolled,
        n_strangers=n_strangers,
        draws=draws,
        fars=fars,
        stranger_questions=len(trials.strangers),
        figures=tuple(judge.figures()),
        curves=judge.curves(),
        mistakes=tuple(worst_mistakes(trials, impostors, fars[0], album)),
    )
