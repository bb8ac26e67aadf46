"""How well strangers match in this gallery, measured on its own people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

import numpy as np

from lightproof.errors import BadGallery
from lightproof.gallery.codec import decode_template
from lightproof.gallery.decision import FAR, Calibration
from lightproof.gallery.enrollment import read_kept_face, read_light
from lightproof.gallery.store import Change, NewPhoto, Store
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import ImpostorModel, normalized_scores
from lightproof.matching.matcher import PROBES_PER_BLOCK, Matcher
from lightproof.matching.scores import ProbeSet, Scores, stack_probes
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats

MAX_STRANGERS: Final = 300
"""Maximum number of people who play strangers."""

N_RELIT_COPIES: Final = 4
"""Copies of a kept face under other lights."""


class Shortlister(Protocol):
    """Returns the people that probes are compared with."""

    def __call__(self, *probes: ProbeSet, without: str | None = None) -> TemplateSet:
        """See :meth:`lightproof.gallery.shortlist.PeopleIndex.shortlist`."""


def calibrated(leads: Sequence[Floats], far: float, n_people: int, agreement: float = 0.0) -> Calibration:
    """Compare the :func:`impostor_leads` among so many people, whose lights agree so far, with the default model."""
    together = np.concatenate([*leads, np.zeros(0)])
    shift = ImpostorModel.default(n_people, agreement).estimated_shift(together, len(leads))
    return Calibration(far, shift, n_people + 1, len(leads), len(together) - len(leads))


def impostor_leads(
    shortlist: Shortlister, matcher: Matcher, store: Store, limit: int = MAX_STRANGERS
) -> Iterator[Floats]:
    """Let some people, drawn at random, play strangers: compare a photo of each with everybody else.

    Yield the lead of the best match of the photo, and of its relit copies if the face is kept, shape (photos,).
    """
    rng = np.random.default_rng(0)
    with store.reading() as view:
        for person, photos, _ in view.templates_of_people(view.reference_sample(limit), faces=True):
            probes = _relit_probes(matcher, photos[0], rng, store.place)
            people = shortlist(probes, without=person.name)
            yield normalized_scores(matcher.score_probes(probes, people)).max(axis=1)


def scores_of_photos(matcher: Matcher, people: TemplateSet, photos: Sequence[NewPhoto], gallery: str) -> Scores:
    """Score photos that are kept, in their order; see :func:`probes_of_photos`."""
    return stack_probes([matcher.score_probes(probes, people) for probes in probes_of_photos(matcher, photos, gallery)])


def probes_of_photos(matcher: Matcher, photos: Sequence[NewPhoto], gallery: str) -> list[ProbeSet]:
    """Make probes of photos that are kept, in their order; the template stands in for a face that is not kept."""
    probes = []
    pairs = ((photo, _kept_face(photo)) for photo in photos)
    for has_face, group in groupby(pairs, key=lambda pair: pair[1] is not None):
        members = list(group)
        for start in range(0, len(members), PROBES_PER_BLOCK):
            block = members[start : start + PROBES_PER_BLOCK]
            if has_face:
                probes.append(matcher.probes([face for _, face in block if face is not None]))
            else:
                probes.append(_probes_of_templates(matcher, [photo for photo, _ in block], gallery))
    return probes


def _kept_face(photo: NewPhoto) -> AlignedFace | None:
    face = None if photo.face is None else read_kept_face(photo.face, "a kept face")
    # Rounding may have made close shades equal: then nothing is left to compare.
    return face if face is not None and shows_something(face) else None


def shows_something(face: AlignedFace) -> bool:
    """Tell whether no picture of a face is one even grey."""
    return all(picture is None or picture.min() < picture.max() for picture in (face.image, face.eyes, face.shaped))


def _probes_of_templates(matcher: Matcher, photos: Sequence[NewPhoto], gallery: str) -> ProbeSet:
    templates = [decode_template(photo.template, matcher, gallery) for photo in photos]
    lights = np.array([read_light(photo.light, gallery) or (np.nan, np.nan) for photo in photos])
    return matcher.probes_of_templates(templates, lights)


def _relit_probes(matcher: Matcher, photo: NewPhoto, rng: np.random.Generator, gallery: str) -> ProbeSet:
    """Make probes of a photo, and of its relit copies if the face is kept."""
    if photo.face is None:
        return _probes_of_templates(matcher, [photo], gallery)
    face = read_kept_face(photo.face, "a kept face")
    return matcher.probes([copy for copy in (face, *relit_copies(face, rng)) if shows_something(copy)])


def relit_copies(face: AlignedFace, rng: np.random.Generator) -> list[AlignedFace]:
    """Put a face under other lights, by the paper's model, with a slope as steep as a lamp from the side makes."""
    # Imported here because workers that enroll start sooner without it.
    from lightproof.method.illumination import relight

    slope = rng.uniform(-160, 160, (N_RELIT_COPIES, 2))
    alpha = rng.uniform(0.3, 1.2, N_RELIT_COPIES)

    def relit(picture: Array) -> Array:
        images = np.repeat(picture[None].astype(np.float64), N_RELIT_COPIES, axis=0)
        return np.clip(np.rint(relight(images, alpha, -slope.sum(axis=1) / 2, slope)), 0, 255).astype(np.uint8)

    images = relit(face.image)
    if face.eyes is None or face.shaped is None:
        return list(map(AlignedFace, images))
    if not face.came_cut:
        return list(map(AlignedFace.found, images, relit(face.shaped)))
    copies = zip(images, relit(face.eyes), relit(face.shaped), strict=True)
    return [AlignedFace(image, eyes=eyes, shaped=shaped) for image, eyes, shaped in copies]


def discard_measurements(change: Change) -> None:
    """Discard what was measured on people who are gone; the rate stays."""
    written = change.facts().get("calibration")
    try:
        kept = Calibration(Calibration.read(written, FAR, change.place).far).written() if written is not None else None
    except BadGallery:
        # What cannot be read may hold something of them.
        kept = None
    change.set_fact("calibration", kept)
