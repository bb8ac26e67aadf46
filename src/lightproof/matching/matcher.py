"""Faces -> templates, and probes x templates -> scores: all that a gallery computes, under one set of settings."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from lightproof.core.images import Images, refuse_blank, stacked
from lightproof.core.threads import one_core
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
from lightproof.method.rcdt import IMAGES_PER_BLOCK, PatchRCDTExtractor, check_for
from lightproof.method.spans import span_people
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.method.warps import warp, with_copies
from lightproof.types import Array, Floats

PROBE_WARPS: Final[tuple[tuple[float, float, float, float], ...]] = (
    (0, 0, 0, 0),
    *((right / 96, down / 96, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    *((0, 0, growth, 0) for growth in (0.02, -0.02)),
    *((0, 0, 0, angle) for angle in (0.025, -0.025)),
)
"""Similarities that a probe is compared under, see :mod:`lightproof.method.warps`: as it lies, and moved, scaled and
turned as far as found eyes are off. More of them raise the scores of strangers, and not those of genuine matches."""

PROBES_PER_BLOCK: Final = 8
"""Probes whose features under all warps are in memory together."""

PIXELS_PER_BLOCK: Final = 55_000
"""Pixels of the faces whose templates are made together: so many stay in the processor's cache."""

JOINED_DIRECTIONS: Final = 6
"""Directions of several photos that are joined at once: so many are joined fast."""

N_LEVEL_PROBES: Final = 20
"""Rendered people whose scores set the level of a multi-photo template."""

MAX_LEVEL_PHOTOS: Final = 4
"""Single photos that such a template is compared with."""


class LastScores(NamedTuple):
    """People that probes were compared with, the scores, and how the probes compare with the cohort."""

    people: TemplateSet
    scores: Scores
    cohort_stats: list[list[CohortStats]]


@dataclass(eq=False)
class ProbeSet:
    """Photos to be compared with templates."""

    vectors: Views
    """Their features in each view, (n * n_warps, K, D); the warps of one photo lie together."""
    lights: Floats
    """Azimuth and elevation in degrees, (n, 2); nan where the photo does not show it."""
    n_warps: int
    last: LastScores | None = None
    """The last scores against a set that was put together from others: it may be extended."""


class Matcher:
    """Makes templates and compares.

    A photo is seen in two views: which gradients each patch holds (``extractor``), and where in it they lie. Given is
    every setting of a gallery, such as those in :data:`lightproof.method.presets.GALLERIES`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = GallerySettings.checked("Matcher", settings)
        self.faces_per_block = max(1, PIXELS_PER_BLOCK // math.prod(self.settings.shape))
        self.extractor = PatchRCDTExtractor(self.settings, self.settings.shape)
        placed = PatchDCT(self.settings, self.extractor.grid_)
        self.views: tuple[PatchRCDTExtractor | PatchDCT, ...] = (self.extractor, placed)
        # The cosines leave out what a constant gradient adds: the spans share nothing.
        nothing = [SharedSpan.of(np.zeros((0, view.n_numbers))) for view in self.views]
        settings_of_views = (self.settings, replace(self.settings, components=self.settings.placed_components))
        self.view_specs: tuple[ViewSpec, ...] = tuple(map(ViewSpec, settings_of_views, nothing))

    @cached_property
    def cohort(self) -> TemplateSet:
        """The rendered people, enrolled under these settings."""
        templates = self.templates(cohort_faces())
        return self.template_set({f"rendered {i:02d}": template for i, template in enumerate(templates)})

    @cached_property
    def encoder(self) -> BinaryEncoder:
        """The encoder of templates and probes as binary codes."""
        return BinaryEncoder(self.settings, self.cohort)

    def templates(self, faces: Images) -> list[Template]:
        """Make the template of each face alone."""
        images = stacked(check_for(faces, self.settings))
        refuse_blank(images)
        starts = range(0, len(images), self.faces_per_block)
        spans = [own for start in starts for own in self._spans(images[start : start + self.faces_per_block])]
        lights: list[tuple[float, float]] = [(float(azimuth), float(up)) for azimuth, up in lights_of(images)]
        return [
            Template(own, lights=() if math.isnan(light[0]) else (light,))
            for own, light in zip(spans, lights, strict=True)
        ]

    def _spans(self, images: Images) -> Iterable[tuple[PatchSpans, ...]]:
        """Span a few faces, each alone with its copies, in every view."""
        fields = self.extractor.gradients_(with_copies(self.extractor.unlit(images), self.settings.copies))
        return zip(
            *(
                compact_spans(view.samples(fields), int(spec.settings.components), spec.shared)
                for view, spec in zip(self.views, self.view_specs, strict=True)
            ),
            strict=True,
        )

    def joined(self, templates: Sequence[Template]) -> Template:
        """Make one template of those of several photos of a person; see :meth:`joined_people`."""
        return self.joined_people([templates])[0]

    def joined_people(self, templates: Sequence[Sequence[Template]]) -> list[Template]:
        """Make one template for each of several people, given the templates of their photos.

        A span of several photos is nearer to everybody, strangers too, than the span of one. Rendered people, who are
        certainly somebody else, show by how much. That is kept as the template's level and lowers its scores, so that
        no person is easier to impersonate for having more photos.

        Each template depends on the photos of its own person alone.
        """
        multiple = [own for own in templates if len(own) > 1]
        views = [self._joined_in_view(i, multiple) for i in range(len(self.views))]
        spans = (Template(spans) for spans in zip(*views, strict=True))
        joined = map(self._with_level, spans, multiple)
        return [next(joined) if len(own) > 1 else own[0] for own in templates]

    def _joined_in_view(self, i: int, templates: Sequence[Sequence[Template]]) -> list[PatchSpans]:
        """Span the strongest directions of the photos of each of several people."""
        samples = []
        for own in templates:
            # Of many photos one direction each will do: they differ more from each other than from their copies.
            n_directions = max(1, JOINED_DIRECTIONS // len(own))
            directions = np.concatenate([template.spans[i].samples(n_directions) for template in own], axis=1)
            samples.append(directions.astype(self.settings.dtype))
        settings, shared = self.view_specs[i]
        return span_people([each.shape[1] for each in samples], samples.__getitem__, shared, settings)

    def _with_level(self, joined: Template, templates: Sequence[Template]) -> Template:
        """Add the level and the lights of the photos to the template of several photos."""
        vectors, closeness = self._level_probes
        chosen = np.linspace(0, len(templates) - 1, min(len(templates), MAX_LEVEL_PHOTOS)).astype(int)
        compared = self.template_set(dict(enumerate([joined, *(templates[i] for i in chosen)])))
        scores = mean_scores(vectors, compared, closeness)
        lights = tuple(light for template in templates for light in template.lights)
        return replace(joined, level=float(scores[0] - scores[1:].mean()), lights=lights)

    @cached_property
    def _level_probes(self) -> tuple[Views, list[Floats]]:
        """Features of some rendered people, and their closeness to the cohort."""
        vectors = self.vectors(cohort_faces()[:N_LEVEL_PROBES])
        return vectors, cohort_closeness(vectors, self.cohort)

    def template_set(self, templates: Mapping[Hashable, Template]) -> TemplateSet:
        """Put templates together for comparison, in their order."""
        return TemplateSet(self.view_specs, dict(templates))

    def vectors(self, faces: Images) -> Views:
        """Features of faces to be compared, shape (n, K, D) in each view."""
        images = check_for(faces, self.settings)
        refuse_blank(images)
        starts = range(0, len(images), IMAGES_PER_BLOCK)
        pictures = [self.extractor.unlit(images[start : start + IMAGES_PER_BLOCK]) for start in starts]
        return [np.concatenate([view.describe(block) for block in pictures]) for view in self.views]

    def compare(self, faces: Images, people: TemplateSet) -> Scores:
        """Score faces against each person, enrolled or rendered, at the best of :data:`PROBE_WARPS`."""
        images = check_for(faces, self.settings)
        refuse_blank(images)
        blocks = (images[start : start + PROBES_PER_BLOCK] for start in range(0, len(images), PROBES_PER_BLOCK))
        return stack_probes([self.score_probes(self.probes(block), people) for block in blocks])

    def probes(self, faces: Images) -> ProbeSet:
        """Make probes of a few faces, for :meth:`score_probes`: describe them under each of the warps."""
        images = check_for(faces, self.settings)
        refuse_blank(images)
        with one_core():
            pictures = np.repeat(self.extractor.unlit(images), len(PROBE_WARPS), axis=0)
            warps = np.tile(PROBE_WARPS, (len(images), 1))
            moved = warps.any(axis=1)
            pictures[moved] = warp(pictures[moved], warps[moved])
            vectors = [view.describe(pictures) for view in self.views]
            return ProbeSet(vectors, lights_of(images), len(PROBE_WARPS))

    def score_probes(self, probes: ProbeSet, people: TemplateSet) -> Scores:
        """Score probes against people, as :meth:`compare` does.

        If ``people`` extends the set scored last, only the new people are scored: the score of a person does not
        depend on the others.
        """
        last = probes.last
        if last is not None and last.people is people:
            return last.scores
        stats = cohort_stats(probes.vectors, self.cohort) if last is None else last.cohort_stats
        extends = last is not None and bool(people.parts) and last.people is people.parts[0]
        new = people.parts[1] if extends else people
        scores = penalized(best_over_warps(scores_against(new, stats), probes.n_warps), probes.lights, new)
        if last is not None and extends:
            scores = append_people(last.scores, scores, people)
        if people.parts:
            probes.last = LastScores(people, scores, stats)
        return scores

    def compare_map(self, face: Array, people: TemplateSet) -> tuple[Scores, Scores]:
        """Score one face, n = 1, and each of its patches at the same warps, (K, C) and (K, Z)."""
        probe = self.probes([face])
        scores = probe_scores(probe.vectors, people, self.cohort)
        warps = [patch_scores(views, people, self.cohort) for views in zip(*probe.vectors, strict=True)]
        best, maps = best_over_warps(scores, probe.n_warps), patch_scores_at_best(scores, warps)
        # The penalty lowers the mean over the patches: so it lowers each of them.
        penalty = light_penalty(best, probe.lights, people)
        return penalized(best, probe.lights, people), replace(maps, people=maps.people - penalty)

    def compare_vectors(self, vectors: Views, lights: Floats, people: TemplateSet) -> Scores:
        """Score faces given by their features, (n, K, D) in each view, and lights (n, 2), without warps."""
        return self.score_probes(ProbeSet(vectors, lights, 1), people)


def preset_settings(preset: str) -> GallerySettings:
    """Return the settings of a preset that a gallery can use."""
    if preset not in GALLERIES:
        raise BadParameter("Gallery", "preset", f"one of {', '.join(map(repr, GALLERIES))}", preset)
    return GALLERIES[preset]


@lru_cache(maxsize=4)
def matcher_for(settings: GallerySettings) -> Matcher:
    """Return the matcher for some settings; it is made once, because its cohort takes some time."""
    return Matcher(settings)
