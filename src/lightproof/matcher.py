"""Faces -> templates, and faces -> evidence: all that a gallery computes, under one set of settings."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from lightproof.agreement import lights_of, tax, taxed
from lightproof.alignment import warp
from lightproof.cohort import cohort_faces
from lightproof.describing import Describer
from lightproof.errors import BadParameter
from lightproof.evidence import (
    Evidence,
    best_evidence,
    best_maps,
    check_comparable,
    evidence_map,
    evidence_of,
    joined_evidence,
    mean_evidence,
    usual_closeness,
)
from lightproof.images import Images, refuse_blank
from lightproof.people import People, spans_of_photos, spans_of_samples
from lightproof.settings import FEATURE_SETTINGS, PRESETS, check_settings, plain
from lightproof.subspaces import PatchSpans, SharedSpan
from lightproof.types import Array, Floats

MOVES: Final[tuple[tuple[float, float, float, float], ...]] = (
    (0, 0, 0, 0),
    *((right / 96, down / 96, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    *((0, 0, growth, 0) for growth in (0.02, -0.02)),
    *((0, 0, 0, angle) for angle in (0.025, -0.025)),
)
"""Similarities that a face is compared under, see :mod:`lightproof.alignment`: as it lies, and moved, scaled and turned
as far as eyes that were found are off. More of them bring strangers nearer, and friends no more."""

FACES: Final = 8
"""Faces whose features after all moves are in memory together."""

TOGETHER: Final = 6
"""Directions of several photos that are joined at once: so many are joined fast."""

ANYBODY: Final = 20
"""Rendered people who tell how near just anybody comes to a template of several photos."""

SINGLE: Final = 4
"""Photos of a person who has several that tell how near anybody comes to a single one."""

COMPARABLE: Final = tuple(name for name, preset in PRESETS.items() if preset["aggregate"] == "bounded")
"""Presets that a gallery can use."""


class Matcher:
    """Makes templates and compares.

    Parameters
    ----------
    settings : dict
        Every setting of a preset; ``aggregate`` must be ``"bounded"``, ``size`` a size.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        check_settings("Gallery", settings)
        check_comparable("Gallery", settings)
        self.settings = plain(settings)
        self.extractor = Describer({name: self.settings[name] for name in FEATURE_SETTINGS}, self.settings["size"])
        self.shared = SharedSpan.of(self.extractor.translation_)

    @cached_property
    def cohort(self) -> People:
        """The rendered people, enrolled under these settings."""
        spans = self.templates(cohort_faces())
        return self.everybody({f"rendered {i:02d}": span for i, span in enumerate(spans)})

    def templates(self, faces: Images) -> list[PatchSpans]:
        """Make the template of each face alone."""
        images = self.extractor.check(faces)
        refuse_blank(images)
        lights = lights_of(images)
        spans = spans_of_photos(self.extractor, self.shared, images, self.settings)
        return [replace(span, lights=_told(light)) for span, light in zip(spans, lights, strict=True)]

    def joined(self, templates: Sequence[PatchSpans]) -> PatchSpans:
        """Make one template of those of several photos of a person; see :meth:`joined_people`."""
        return self.joined_people([templates])[0]

    def joined_people(self, templates: Sequence[Sequence[PatchSpans]]) -> list[PatchSpans]:
        """Make one template for each of several people, of those of their photos.

        A span of several photos is nearer to everybody, strangers too, than the span of one. By how much is found out
        with rendered people, who are certainly somebody else, and kept as the template's level: the evidence for the
        person is lowered by it, so that nobody is easier to be taken for because they have more photos.

        Nobody's template depends on the others beside it.
        """
        several = [i for i, own in enumerate(templates) if len(own) > 1]
        samples = [self._side_by_side(templates[i]) for i in several]
        spans = dict(zip(several, spans_of_samples(samples, self.shared, self.settings), strict=True))
        return [self._levelled(spans[i], own) if i in spans else own[0] for i, own in enumerate(templates)]

    def _side_by_side(self, templates: Sequence[PatchSpans]) -> Floats:
        """The strongest directions of several photos, (K, L, D)."""
        # Of many photos one each will do: they differ more among each other than from their copies.
        each = max(1, TOGETHER // len(templates))
        together = np.concatenate([template.samples(each) for template in templates], axis=1)
        return together.astype(self.settings["dtype"])

    def _levelled(self, span: PatchSpans, templates: Sequence[PatchSpans]) -> PatchSpans:
        """Attach to the span of several photos how much nearer it is to just anybody, and their lights."""
        vectors, usual = self._anybody
        single = [templates[i] for i in np.linspace(0, len(templates) - 1, min(len(templates), SINGLE)).astype(int)]
        evidence = mean_evidence(vectors, self.everybody(dict(enumerate([span, *single]))), usual)
        lights = tuple(light for template in templates for light in template.lights)
        return replace(span, level=float(evidence[0] - evidence[1:].mean()), lights=lights)

    @cached_property
    def _anybody(self) -> tuple[Floats, Floats]:
        """Features of some rendered people, and how close just anybody is to them."""
        vectors = self.vectors(cohort_faces()[:ANYBODY])
        return vectors, usual_closeness(vectors, self.cohort)

    def everybody(self, templates: Mapping[Hashable, PatchSpans]) -> People:
        """Lay out everybody's templates for answers, in the order they come."""
        return People(self.settings, self.shared, dict(templates))

    def vectors(self, faces: Images) -> Floats:
        """Features of faces to be compared, shape (n, K, D)."""
        refuse_blank(self.extractor.check(faces))
        return self.extractor.patch_vectors(faces)

    def compare(self, faces: Images, people: People) -> Evidence:
        """What faces say for each person, enrolled or rendered, at whichever of :data:`MOVES` says most.

        Parameters
        ----------
        faces : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
        people : People

        Returns
        -------
        Evidence
        """
        images = self.extractor.check(faces)
        refuse_blank(images)
        blocks = (images[start : start + FACES] for start in range(0, len(images), FACES))
        said = joined_evidence([best_evidence(self._said(block, people), len(MOVES)) for block in blocks])
        return taxed(said, lights_of(images), people)

    def compare_map(self, face: Array, people: People) -> tuple[Evidence, Evidence]:
        """What one face says, n = 1, and what each of its patches says, (K, C) and (K, Z), at the same moves."""
        images = self.extractor.check([face])
        refuse_blank(images)
        moved = self._moved(images)
        said = self._evidence(moved, people)
        maps = best_maps(said, [evidence_map(each, people, self.cohort) for each in moved])
        best, lights = best_evidence(said, len(MOVES)), lights_of(images)
        # What is taken from each patch is taken from their mean.
        return taxed(best, lights, people), replace(maps, people=maps.people - tax(best, lights, people))

    def compare_vectors(self, vectors: Floats, lights: Floats, people: People) -> Evidence:
        """What faces say of which only features (n, K, D) and lights (n, 2) are left: they cannot be moved."""
        return taxed(self._evidence(vectors, people), lights, people)

    def _said(self, images: Images, people: People) -> Evidence:
        return self._evidence(self._moved(images), people)

    def _evidence(self, vectors: Floats, people: People) -> Evidence:
        return evidence_of(vectors, people, self.cohort)

    def _moved(self, images: Images) -> Floats:
        """Features of some faces after each of the moves, those of one face together, shape (n * moves, K, D)."""
        pictures = np.repeat(self.extractor.unlit(images), len(MOVES), axis=0)
        moves = np.tile(MOVES, (len(images), 1))
        real = moves.any(axis=1)
        pictures[real] = warp(pictures[real], moves[real])
        return self.extractor.describe(pictures)


def _told(light: Floats) -> tuple[tuple[float, float], ...]:
    azimuth, elevation = map(float, light)
    return () if math.isnan(azimuth) else ((azimuth, elevation),)


def preset_settings(preset: str) -> dict[str, Any]:
    """Return the settings of a preset that a gallery can use."""
    if preset not in COMPARABLE:
        raise BadParameter("Gallery", "preset", f"one of {', '.join(map(repr, COMPARABLE))}", preset)
    return PRESETS[preset]


@lru_cache(maxsize=4)
def matcher_of(settings: str) -> Matcher:
    """Return the matcher for settings written as JSON; it is made once, for the rendered people cost some time."""
    read = json.loads(settings)
    return Matcher(read | {"size": tuple(read["size"])})
