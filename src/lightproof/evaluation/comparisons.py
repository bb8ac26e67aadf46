"""Photos against templates: all scores, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lightproof.core.progress import SizedProgress
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import Scores, stack_probes
from lightproof.matching.templates import TemplateSet
from lightproof.types import Floats

TEMPLATES_PER_BLOCK: Final = 256
"""Templates held at a time; features of photos are cheap and computed again for the next block."""

PHOTOS_PER_BLOCK: Final = 64
"""Photos compared at a time."""


def compare_drawn(
    matcher: Matcher, faces: Sequence[AlignedFace], enrolled: Sequence[tuple[int, ...]], progress: SizedProgress
) -> Scores:
    """Compare every photo with templates, each made of some of them: one column of ``people`` for each template."""
    people_scores = np.empty((len(faces), len(enrolled)), np.float32)
    cohort_scores = np.empty((len(faces), len(matcher.cohort)), np.float32)
    templates, block = matcher.template_set({}), -1
    firsts = range(0, len(enrolled), TEMPLATES_PER_BLOCK)
    for first, start in progress([(first, start) for first in firsts for start in _starts(faces)]):
        columns, rows = slice(first, first + TEMPLATES_PER_BLOCK), slice(start, start + PHOTOS_PER_BLOCK)
        if first != block:
            templates, block = _templates(matcher, faces, enrolled[columns]), first
        scores = matcher.compare(faces[rows], templates)
        people_scores[rows, columns] = scores.people
        cohort_scores[rows] = scores.cohort
    return Scores(people_scores, cohort_scores)


def compare_enrolled(
    matcher: Matcher, faces: Sequence[AlignedFace], people: TemplateSet, progress: SizedProgress
) -> Scores:
    """Compare every photo with people who are enrolled already."""
    blocks = [faces[start : start + PHOTOS_PER_BLOCK] for start in _starts(faces)]
    return stack_probes([matcher.compare(block, people) for block in progress(blocks)])


def pair_leads(scores: Scores) -> Floats:
    """Lead of each person as if they alone were enrolled, as two photos are compared, shape (n, C)."""
    cohort = scores.cohort.astype(np.float64)
    # With nobody else enrolled the lead is a straight line over the score: two points of it are enough.
    zero, one = (normalized_scores(Scores(np.full((len(cohort), 1), value), cohort)) for value in (0.0, 1.0))
    return np.asarray((zero + scores.people * (one - zero)).astype(np.float32))


def _starts(faces: Sequence[AlignedFace]) -> range:
    return range(0, len(faces), PHOTOS_PER_BLOCK)


def _templates(matcher: Matcher, faces: Sequence[AlignedFace], enrolled: Sequence[tuple[int, ...]]) -> TemplateSet:
    photos = sorted({photo for group in enrolled for photo in group})
    single = dict(zip(photos, matcher.templates([faces[photo] for photo in photos]), strict=True))
    return matcher.template_set({group: matcher.joined([single[photo] for photo in group]) for group in enrolled})
