"""Photos against templates: all the evidence, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lightproof.core.progress import SizedProgress
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import Scores, stack_probes
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats

TEMPLATES: Final = 256
"""Templates compared with at a time; features of photos are cheap and made again for the next ones."""

PHOTOS: Final = 64
"""Photos compared at a time."""


def compare_drawn(
    matcher: Matcher, images: Array, enrolled: Sequence[tuple[int, ...]], progress: SizedProgress
) -> Scores:
    """Compare every photo with templates made of some of them.

    Parameters
    ----------
    matcher : Matcher
    images : ndarray of shape (n, h, w), uint8
    enrolled : sequence of tuple of int
        Photos that each template is made of.
    progress : callable

    Returns
    -------
    Scores
        ``people`` has a column for each template.
    """
    known = np.empty((len(images), len(enrolled)), np.float32)
    made_up = np.empty((len(images), len(matcher.cohort)), np.float32)
    people, made = matcher.template_set({}), -1
    for first, start in progress(_steps(len(enrolled), len(images))):
        if first != made:
            people, made = _people(matcher, images, enrolled[first : first + TEMPLATES]), first
        said = matcher.compare(images[start : start + PHOTOS], people)
        known[start : start + PHOTOS, first : first + TEMPLATES] = said.people
        made_up[start : start + PHOTOS] = said.cohort
    return Scores(known, made_up)


def compare_enrolled(matcher: Matcher, images: Array, people: TemplateSet, progress: SizedProgress) -> Scores:
    """Compare every photo with people who are enrolled already."""
    blocks = [images[start : start + PHOTOS] for start in range(0, len(images), PHOTOS)]
    return stack_probes([matcher.compare(block, people) for block in progress(blocks)])


def pair_leads(evidence: Scores) -> Floats:
    """Lead of each person as if they alone were enrolled, as two photos are compared, shape (n, C)."""
    cohort = evidence.cohort.astype(np.float64)
    # With nobody else enrolled the lead is a straight line over the evidence: two points of it are enough.
    zero, one = (normalized_scores(Scores(np.full((len(cohort), 1), value), cohort)) for value in (0.0, 1.0))
    return np.asarray((zero + evidence.people * (one - zero)).astype(np.float32))


def _steps(n_templates: int, n_photos: int) -> list[tuple[int, int]]:
    return [(first, start) for first in range(0, n_templates, TEMPLATES) for start in range(0, n_photos, PHOTOS)]


def _people(matcher: Matcher, images: Array, enrolled: Sequence[tuple[int, ...]]) -> TemplateSet:
    photos = sorted({photo for group in enrolled for photo in group})
    alone = dict(zip(photos, matcher.templates(images[photos]), strict=True))
    return matcher.template_set({group: matcher.joined([alone[photo] for photo in group]) for group in enrolled})
