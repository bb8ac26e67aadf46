"""Faces -> templates, and faces -> evidence: all that a gallery computes, under one set of settings."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from lightproof.core.images import Images, refuse_blank, stacked
from lightproof.core.processes import one_core
from lightproof.errors import BadParameter
from lightproof.matching.binary_codes import BinaryEncoder
from lightproof.matching.cohort import cohort_faces
from lightproof.matching.light_penalty import light_penalty, lights_of, penalized
from lightproof.matching.scores import (
    CohortStats,
    Scores,
    Views,
    append_people,
    best_over_warps,
    cohort_closeness,
    cohort_stats,
    mean_scores,
    patch_scores,
    patch_scores_at_best,
    probe_scores,
    scores_against,
    stack_probes,
)
from lightproof.matching.templates import Template, TemplateSet, ViewSpec
from lightproof.method.dct import PatchDCT
from lightproof.method.presets import GALLERIES, GallerySettings
from lightproof.method.quantization import compact_spans
from lightproof.method.rcdt import BLOCK, PatchRCDTExtractor
from lightproof.method.spans import spans_of_samples
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.method.warps import warp, with_copies
from lightproof.types import Array, Floats

MOVES: Final[tuple[tuple[float, float, float, float], ...]] = (
    (0, 0, 0, 0),
    *((right / 96, down / 96, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    *((0, 0, growth, 0) for growth in (0.02, -0.02)),
    *((0, 0, 0, angle) for angle in (0.025, -0.025)),
)
"""Similarities that a face is compared under, see :mod:`lightproof.method.warps`: as it lies, and moved, scaled and turned
as far as eyes that were found are off. More of them bring strangers nearer, and friends no more."""

FACES: Final = 8
"""Faces whose features after all moves are in memory together."""

PIXELS: Final = 55_000
"""Pixels of the faces whose templates are made together: so many stay in the processor's cache."""

TOGETHER: Final = 6
"""Directions of several photos that are joined at once: so many are joined fast."""

ANYBODY: Final = 20
"""Rendered people who tell how near just anybody comes to a template of several photos."""

SINGLE: Final = 4
"""Photos of a person who has several that tell how near anybody comes to a single one."""


class LastScores(NamedTuple):
    """People whom photos were compared with, what the photos said, and what is usual for them."""

    people: TemplateSet
    scores: Scores
    cohort_stats: list[list[CohortStats]]


@dataclass(eq=False)
class ProbeSet:
    """Photos that are asked about.

    Attributes
    ----------
    vectors : sequence of ndarray of shape (n * moves, K, D)
        Their features in each view, those of one photo after each of its moves together.
    lights : ndarray of shape (n, 2)
        Azimuth and elevation in degrees; nan where it cannot be told.
    moves : int
    before : LastScores, optional
        Whom they were compared with last of those who came beside others: more may come beside them.
    """

    vectors: Views
    lights: Floats
    moves: int
    before: LastScores | None = None


class Matcher:
    """Makes templates and compares.

    A photo is seen in two views: which gradients each patch holds (``extractor``), and where in it they lie.

    Parameters
    ----------
    settings : GallerySettings or mapping
        Every setting of a gallery, such as those in :data:`lightproof.method.presets.GALLERIES`.

    Attributes
    ----------
    together : int
        Faces whose templates are made at a time.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = GallerySettings.checked("Matcher", settings)
        self.together = max(1, PIXELS // math.prod(self.settings.shape))
        self.extractor = PatchRCDTExtractor(self.settings, self.settings.shape)
        self.views: tuple[PatchRCDTExtractor | PatchDCT, ...] = (
            self.extractor,
            PatchDCT(self.settings, self.extractor.grid_),
        )
        placed = replace(self.settings, components=self.settings.placed_components)
        # What a constant gradient adds is in nobody's span: the cosines have left it out.
        nothing = [SharedSpan.of(np.zeros((0, view.n_numbers))) for view in self.views]
        self.view_specs: tuple[ViewSpec, ...] = (ViewSpec(self.settings, nothing[0]), ViewSpec(placed, nothing[1]))

    @cached_property
    def cohort(self) -> TemplateSet:
        """The rendered people, enrolled under these settings."""
        templates = self.templates(cohort_faces())
        return self.template_set({f"rendered {i:02d}": template for i, template in enumerate(templates)})

    @cached_property
    def encoder(self) -> BinaryEncoder:
        """What makes codes of templates and of photos that are asked about."""
        return BinaryEncoder(self.settings, self.cohort)

    def templates(self, faces: Images) -> list[Template]:
        """Make the template of each face alone."""
        images = stacked(self.extractor.check(faces))
        refuse_blank(images)
        blocks = (images[start : start + self.together] for start in range(0, len(images), self.together))
        spans = (spans for block in blocks for spans in self._spans(block))
        return [Template(each, lights=_told(light)) for each, light in zip(spans, lights_of(images), strict=True)]

    def _spans(self, images: Images) -> Iterable[tuple[PatchSpans, ...]]:
        """Span a few faces, each alone with its copies, in every view."""
        fields = self.extractor.gradients(with_copies(self.extractor.unlit(images), self.settings.copies))
        return zip(
            *(
                compact_spans(view.samples(fields), int(layout.settings.components), layout.shared)
                for view, layout in zip(self.views, self.view_specs, strict=True)
            ),
            strict=True,
        )

    def joined(self, templates: Sequence[Template]) -> Template:
        """Make one template of those of several photos of a person; see :meth:`joined_people`."""
        return self.joined_people([templates])[0]

    def joined_people(self, templates: Sequence[Sequence[Template]]) -> list[Template]:
        """Make one template for each of several people, of those of their photos.

        A span of several photos is nearer to everybody, strangers too, than the span of one. By how much is found out
        with rendered people, who are certainly somebody else, and kept as the template's level: the evidence for the
        person is lowered by it, so that nobody is easier to be taken for because they have more photos.

        Nobody's template depends on the others beside it.
        """
        several = [own for own in templates if len(own) > 1]
        views = [self._joined_in_view(i, several) for i in range(len(self.views))]
        joined = (Template(spans) for spans in zip(*views, strict=True))
        levelled = map(self._levelled, joined, several)
        return [next(levelled) if len(own) > 1 else own[0] for own in templates]

    def _joined_in_view(self, i: int, templates: Sequence[Sequence[Template]]) -> list[PatchSpans]:
        """Span the strongest directions of the photos of each of several people."""
        samples = []
        for own in templates:
            # Of many photos one each will do: they differ more among each other than from their copies.
            each = max(1, TOGETHER // len(own))
            together = np.concatenate([template.spans[i].samples(each) for template in own], axis=1)
            samples.append(together.astype(self.settings.dtype))
        settings, shared = self.view_specs[i]
        return spans_of_samples(samples, shared, settings)

    def _levelled(self, joined: Template, templates: Sequence[Template]) -> Template:
        """Attach to the template of several photos how much nearer it is to just anybody, and their lights."""
        vectors, usual = self._anybody
        single = [templates[i] for i in np.linspace(0, len(templates) - 1, min(len(templates), SINGLE)).astype(int)]
        evidence = mean_scores(vectors, self.template_set(dict(enumerate([joined, *single]))), usual)
        lights = tuple(light for template in templates for light in template.lights)
        return replace(joined, level=float(evidence[0] - evidence[1:].mean()), lights=lights)

    @cached_property
    def _anybody(self) -> tuple[Views, list[Floats]]:
        """Features of some rendered people, and how close just anybody is to them."""
        vectors = self.vectors(cohort_faces()[:ANYBODY])
        return vectors, cohort_closeness(vectors, self.cohort)

    def template_set(self, templates: Mapping[Hashable, Template]) -> TemplateSet:
        """Lay out everybody's templates for answers, in the order they come."""
        return TemplateSet(self.view_specs, dict(templates))

    def vectors(self, faces: Images) -> Views:
        """Features of faces to be compared, shape (n, K, D) in each view."""
        images = self.extractor.check(faces)
        refuse_blank(images)
        blocks = (images[start : start + BLOCK] for start in range(0, len(images), BLOCK))
        parts = [self._described(self.extractor.unlit(block)) for block in blocks]
        return [np.concatenate(view) for view in zip(*parts, strict=True)]

    def _described(self, pictures: Floats) -> Views:
        return [view.describe(pictures) for view in self.views]

    def compare(self, faces: Images, people: TemplateSet) -> Scores:
        """What faces say for each person, enrolled or rendered, at whichever of :data:`MOVES` says most.

        Parameters
        ----------
        faces : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
        people : TemplateSet

        Returns
        -------
        Scores
        """
        images = self.extractor.check(faces)
        refuse_blank(images)
        blocks = (images[start : start + FACES] for start in range(0, len(images), FACES))
        return stack_probes([self.score_probes(self._probes(block), people) for block in blocks])

    def probes(self, faces: Images) -> ProbeSet:
        """Make ready to compare a few faces, with whomever: :meth:`score_probes` tells what they say."""
        images = self.extractor.check(faces)
        refuse_blank(images)
        return self._probes(images)

    def score_probes(self, asked: ProbeSet, people: TemplateSet) -> Scores:
        """What photos say for each person, as :meth:`compare` does.

        Where people come beside some who came beside others, and whom the photos were compared with last, only those
        who are new are compared: what is said for one does not depend on the others.
        """
        before = asked.before
        if before is not None and before.people is people:
            return before.scores
        usual = before.cohort_stats if before is not None else cohort_stats(asked.vectors, self.cohort)
        if before is not None and people.parts and before.people is people.parts[0]:
            said = append_people(before.scores, self._score(asked, people.parts[1], usual), people)
        else:
            said = self._score(asked, people, usual)
        if people.parts:
            asked.before = LastScores(people, said, usual)
        return said

    def _score(self, asked: ProbeSet, people: TemplateSet, usual: list[list[CohortStats]]) -> Scores:
        return penalized(best_over_warps(scores_against(people, usual), asked.moves), asked.lights, people)

    def compare_map(self, face: Array, people: TemplateSet) -> tuple[Scores, Scores]:
        """What one face says, n = 1, and what each of its patches says, (K, C) and (K, Z), at the same moves."""
        asked = self.probes([face])
        said, lights = self._evidence(asked.vectors, people), asked.lights
        every = [patch_scores(views, people, self.cohort) for views in zip(*asked.vectors, strict=True)]
        best = best_over_warps(said, asked.moves)
        maps = patch_scores_at_best(said, every)
        # What is taken from each patch is taken from their mean.
        return penalized(best, lights, people), replace(maps, people=maps.people - light_penalty(best, lights, people))

    def compare_vectors(self, vectors: Views, lights: Floats, people: TemplateSet) -> Scores:
        """What faces say of which only features, (n, K, D) in each view, and lights (n, 2) are left: none is moved."""
        return self.score_probes(ProbeSet(vectors, lights, 1), people)

    def _probes(self, images: Images) -> ProbeSet:
        with one_core():
            return ProbeSet(self._moved(images), lights_of(images), len(MOVES))

    def _evidence(self, vectors: Views, people: TemplateSet) -> Scores:
        return probe_scores(vectors, people, self.cohort)

    def _moved(self, images: Images) -> Views:
        """Features of some faces after each of the moves, those of one face together: (n * moves, K, D) in a view."""
        pictures = np.repeat(self.extractor.unlit(images), len(MOVES), axis=0)
        moves = np.tile(MOVES, (len(images), 1))
        real = moves.any(axis=1)
        pictures[real] = warp(pictures[real], moves[real])
        return self._described(pictures)


def _told(light: Floats) -> tuple[tuple[float, float], ...]:
    azimuth, elevation = map(float, light)
    return () if math.isnan(azimuth) else ((azimuth, elevation),)


def preset_settings(preset: str) -> GallerySettings:
    """Return the settings of a preset that a gallery can use."""
    if preset not in GALLERIES:
        raise BadParameter("Gallery", "preset", f"one of {', '.join(map(repr, GALLERIES))}", preset)
    return GALLERIES[preset]


@lru_cache(maxsize=4)
def matcher_for(settings: GallerySettings) -> Matcher:
    """Return the matcher for some settings; it is made once, for the rendered people cost some time."""
    return Matcher(settings)
