"""How well strangers do in this gallery, found out from its own people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Final, Protocol, Self

import numpy as np

from lightproof.errors import BadGallery
from lightproof.gallery.enrollment import light_of
from lightproof.gallery.store import Change, NewPhoto, Store
from lightproof.gallery.template_codec import decode
from lightproof.imaging.decode import read_grey
from lightproof.matching.calibration import ImpostorModel, check_far, normalized_scores
from lightproof.matching.matcher import PROBES_PER_BLOCK, Matcher, ProbeSet
from lightproof.matching.scores import Scores, stack_probes
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats, is_whole

FAR: Final = 0.001
"""Share of strangers accepted where nobody said otherwise."""

MOST: Final = 300
"""People taken for strangers, at most."""

RELIT: Final = 4
"""Copies of a kept face under other lights."""


class Near(Protocol):
    """Tells whom photos are to be compared with."""

    def __call__(self, *asked: ProbeSet, without: str | None = None) -> TemplateSet:
        """Those people; see :meth:`lightproof.gallery.shortlist.PeopleIndex.near`."""


@dataclass(frozen=True)
class Calibration:
    """What was found out.

    Attributes
    ----------
    far : float
        Share of strangers that may be accepted.
    shift : float
        How much farther strangers lead here than is usual.
    people : int
        How many were enrolled.
    strangers, relit : int
        How many photos, and relit copies of them, were compared with everybody else.
    """

    far: float
    shift: float = 0.0
    people: int = 0
    strangers: int = 0
    relit: int = 0

    @classmethod
    def read(cls, written: str | None, far: float, place: str) -> Self:
        """Read what was written in a gallery; if nothing was, all is as usual."""
        if written is None:
            return cls(far)
        try:
            known = json.loads(written)
            # What another version found out means something else here; the rate that was asked for stays.
            read = cls(**known) if known.keys() == asdict(cls(far)).keys() else cls(known["far"])
            counts = (read.people, read.strangers, read.relit)
            sound = math.isfinite(read.shift) and all(is_whole(count, 0) for count in counts)
            check_far("calibrate", read.far)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            sound = False
        if not sound:
            raise BadGallery(place, "a calibration that cannot be read (see: lightproof calibrate)")
        return read

    def written(self) -> str:
        """Write it down."""
        return json.dumps(asdict(self))

    def among(self, n_people: int, alike: float = 0.0) -> ImpostorModel:
        """How well strangers do among so many people, whose lights agree so far: it may be other people by now."""
        return ImpostorModel.default(n_people, alike).shifted(self.shift)


def calibrated(best: Sequence[Floats], far: float, n_people: int, alike: float = 0.0) -> Calibration:
    """Compare the leads of strangers' best matches with what is usual.

    Parameters
    ----------
    best : list of ndarray of shape (photos,)
        Of each person's photo and its relit copies.
    far : float
    n_people : int
        How many people each was compared with.
    alike : float
        How far the lights of these people agree.
    """
    together = np.concatenate([*best, np.zeros(0)])
    shift = ImpostorModel.default(n_people, alike).estimated_shift(together, len(best))
    return Calibration(far, shift, n_people + 1, len(best), len(together) - len(best))


def best_of_others(near: Near, matcher: Matcher, store: Store, most: int = MOST) -> Iterator[Floats]:
    """Take a photo of each of some people for a stranger's: the lead of the best match among everybody else.

    Parameters
    ----------
    near : callable
        Whom photos are compared with, somebody left out: see :meth:`lightproof.gallery.shortlist.PeopleIndex.near`.
    matcher : Matcher
    store : Store
    most : int
        People to be taken, drawn by lot.

    Yields
    ------
    ndarray of shape (photos,)
        Of the photo, and of its relit copies if the face is kept.
    """
    rng = np.random.default_rng(0)
    with store.reading() as view:
        for person, photos, _ in view.templates_of_people(view.reference_sample(most), faces=True):
            asked = _asked_relit(matcher, photos[0], rng, store.place)
            yield normalized_scores(matcher.score_probes(asked, near(asked, without=person.name))).max(axis=1)


def evidence_of_photos(matcher: Matcher, people: TemplateSet, photos: Sequence[NewPhoto], gallery: str) -> Scores:
    """What photos that are kept say, in their order; see :func:`asked_of_photos`."""
    return stack_probes([matcher.score_probes(asked, people) for asked in asked_of_photos(matcher, photos, gallery)])


def asked_of_photos(matcher: Matcher, photos: Sequence[NewPhoto], gallery: str) -> list[ProbeSet]:
    """Ask about photos that are kept, in their order; of a face that is not kept the template stands in for it.

    Parameters
    ----------
    matcher : Matcher
    photos : sequence of NewPhoto
        One or more.
    gallery : str
        Its place, for the message.
    """
    asked = []
    for kept, some in groupby(((photo, _kept_face(photo)) for photo in photos), key=lambda pair: pair[1] is not None):
        pairs = list(some)
        for part in (pairs[start : start + PROBES_PER_BLOCK] for start in range(0, len(pairs), PROBES_PER_BLOCK)):
            if kept:
                asked.append(matcher.probes([face for _, face in part if face is not None]))
            else:
                asked.append(_asked_of_templates(matcher, [photo for photo, _ in part], gallery))
    return asked


def _kept_face(photo: NewPhoto) -> Array | None:
    face = None if photo.face is None else read_grey(photo.face, where="a kept face")
    # Shades that lay close together may have become one when the face was written down: nothing is left to compare.
    return None if face is None or face.min() == face.max() else face


def _asked_of_templates(matcher: Matcher, photos: Sequence[NewPhoto], gallery: str) -> ProbeSet:
    templates = [decode(photo.template, matcher, gallery) for photo in photos]
    views = zip(*(template.spans for template in templates), strict=True)
    own = [np.stack([spans.directions[:, 0] for spans in view]).astype(matcher.settings.dtype) for view in views]
    lights = np.array([light_of(photo.light, gallery) or (np.nan, np.nan) for photo in photos])
    return ProbeSet(own, lights, 1)


def _asked_relit(matcher: Matcher, photo: NewPhoto, rng: np.random.Generator, gallery: str) -> ProbeSet:
    """Ask about a photo, and its relit copies if the face is kept."""
    if photo.face is None:
        return _asked_of_templates(matcher, [photo], gallery)
    face = read_grey(photo.face, where="a kept face")
    return matcher.probes([copy for copy in (face, *relit_copies(face, rng)) if copy.min() < copy.max()])


def relit_copies(face: Array, rng: np.random.Generator) -> Array:
    """Put a face under other lights: the model of the paper, with a slope as steep as a lamp from the side makes."""
    # Only here: workers that enroll start sooner without it.
    from lightproof.method.illumination import relight

    images = np.repeat(face[None].astype(np.float64), RELIT, axis=0)
    slope = rng.uniform(-160, 160, (RELIT, 2))
    alpha = rng.uniform(0.3, 1.2, RELIT)
    relit = relight(images, alpha, -slope.sum(axis=1) / 2, slope)
    return np.clip(np.rint(relit), 0, 255).astype(np.uint8)


def unlearn(change: Change) -> None:
    """Forget what was found out with the help of people who are gone; the rate that was asked for stays."""
    found = change.facts().get("calibration")
    try:
        kept = Calibration(Calibration.read(found, FAR, change.place).far).written() if found is not None else None
    except BadGallery:
        # What cannot be read may hold something of them.
        kept = None
    change.set_fact("calibration", kept)
