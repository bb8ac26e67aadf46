"""Faces -> templates, and probes x templates -> scores: the engine, under one preset."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final, TypeAlias, TypeVar

import numpy as np

from lightproof.core.images import check_images, refuse_blank, stacked, to_bytes
from lightproof.core.threads import one_core
from lightproof.errors import BadParameter
from lightproof.imaging.detection import FACE_SIZE, AlignedFace
from lightproof.imaging.lighting import shadow_shares
from lightproof.matching.binary_codes import BinaryEncoder
from lightproof.matching.cohort import cohort_faces
from lightproof.matching.light_penalty import light_penalty, lights_of, penalized
from lightproof.matching.patch_maps import PatchMaps, patch_maps, perfect_scores
from lightproof.matching.scores import (
    Cohorts,
    CohortStats,
    LastScores,
    ProbeSet,
    Scores,
    append_people,
    cohort_stats,
    mean_scores,
    scores_against,
    stack_probes,
)
from lightproof.matching.templates import LIGHT_DIGITS, Template, TemplateSet
from lightproof.matching.views import FaceView, view_of
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import ENGINES, EngineSettings, ViewSettings
from lightproof.method.quantization import compact_spans
from lightproof.method.spans import span_people
from lightproof.method.subspaces import PatchSpans
from lightproof.method.warps import warp, with_copies
from lightproof.types import Array, Floats, Ints

T = TypeVar("T")

Faces: TypeAlias = Array | Sequence[AlignedFace | Array]
"""Faces as they are compared; mere arrays have no mesh."""

PROBE_WARPS: Final[tuple[tuple[float, float, float, float], ...]] = (
    (0, 0, 0, 0),
    *((right / 96, down / 96, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    *((0, 0, growth, 0) for growth in (0.02, -0.02)),
    *((0, 0, 0, angle) for angle in (0.025, -0.025)),
)
"""Similarities that a probe is compared under in the views by the eyes, see :mod:`lightproof.method.warps`: as it lies,
and moved, scaled and turned as far as found eyes are off. More of them raise the scores of strangers, and not those of
genuine matches."""

PROBES_PER_BLOCK: Final = 8
"""Probes whose features under all warps are in memory together."""

FACES_PER_BLOCK: Final = 6
"""Faces whose templates are made together: so many stay in the processor's cache."""

JOINED_DIRECTIONS: Final = 6
"""Directions of several photos that are joined at once: so many are joined fast."""

N_LEVEL_PROBES: Final = 20
"""Rendered people whose scores set the level of a multi-photo template."""

MAX_LEVEL_PHOTOS: Final = 4
"""Single photos that such a template is compared with."""


class Matcher:
    """Makes templates and compares, with the settings of a preset: see :data:`lightproof.method.presets.ENGINES`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.views: tuple[FaceView, ...] = tuple(map(view_of, settings.views))
        self.warps = PROBE_WARPS if settings.warps else PROBE_WARPS[:1]

    @property
    def grid(self) -> PatchGrid:
        """The finest patches."""
        return max((view.extractor.grid_ for view in self.views), key=lambda grid: grid.n_patches)

    @cached_property
    def covering(self) -> list[Ints]:
        """For each view, the patch that covers each of the finest patches, (K,)."""
        row, column = np.divmod(np.arange(self.grid.n_patches), self.grid.columns)
        covers = []
        for view in self.views:
            grid = view.extractor.grid_
            down, across = self.grid.rows // grid.rows, self.grid.columns // grid.columns
            covers.append((row // down) * grid.columns + column // across)
        return covers

    @cached_property
    def cohorts(self) -> Cohorts:
        """The rendered people, enrolled under these settings: with a mesh, and as faces without one."""
        faces = cohort_faces()
        plain = [AlignedFace(face.image) for face in faces]
        with_mesh, without = (
            self.template_set({f"rendered {i:02d}": template for i, template in enumerate(self.templates(each))})
            for each in (faces, plain)
        )
        return Cohorts(with_mesh, without)

    @property
    def cohort(self) -> TemplateSet:
        """The rendered people with a mesh."""
        return self.cohorts.with_mesh

    @cached_property
    def encoder(self) -> BinaryEncoder:
        """The encoder of templates and probes as binary codes."""
        return BinaryEncoder([view.settings for view in self.views], self.cohorts)

    def templates(self, faces: Faces) -> list[Template]:
        """Make the template of each face alone."""
        aligned = self._checked(faces)
        starts = range(0, len(aligned), FACES_PER_BLOCK)
        spans = [own for start in starts for own in self._spans(aligned[start : start + FACES_PER_BLOCK])]
        grey = to_bytes([face.image for face in aligned], FACE_SIZE)
        return [
            Template(
                own,
                shadow=float(shadow),
                has_mesh=face.has_mesh,
                lights=() if math.isnan(light[0]) else ((_degrees(light[0]), _degrees(light[1])),),
            )
            for own, face, shadow, light in zip(spans, aligned, shadow_shares(grey), lights_of(grey), strict=True)
        ]

    def _checked(self, faces: Faces) -> list[AlignedFace]:
        """Refuse pictures that cannot be compared; return the others, mere arrays as faces without a mesh."""
        given = list(faces)
        images = [face.image if isinstance(face, AlignedFace) else face for face in given]
        checked = check_images(images, self.grid.cell, unit=True)
        refuse_blank(checked)
        return [
            face if isinstance(face, AlignedFace) else AlignedFace(image)
            for face, image in zip(given, checked, strict=True)
        ]

    def _spans(self, faces: Sequence[AlignedFace]) -> list[tuple[PatchSpans, ...]]:
        """Span a few faces, each alone with its copies, in every view."""

        def spans_in(view: FaceView, pictures: Floats) -> list[PatchSpans]:
            samples = view.samples(with_copies(pictures, view.settings.method.copies))
            return compact_spans(samples, view.settings.components, view.shared)

        return list(zip(*self._in_views(faces, spans_in), strict=True))

    def _in_views(self, faces: Sequence[AlignedFace], work: Callable[[FaceView, Floats], Sequence[T]]) -> list[list[T]]:
        """Bring faces to the shape and size of each view, take the light out, and work on them: a result a face.

        What is the same picture in two shapes is worked on once.
        """
        done: dict[ViewSettings, list[T]] = {}
        pictures: dict[tuple[str, tuple[int, int]], Floats] = {}
        for view in self.views:
            settings = view.settings
            twin = replace(settings, shape="eyes")
            same = [settings.shape == "crop" and face.picture("eyes") is face.image for face in faces]
            others = [face for face, known in zip(faces, same, strict=True) if not (known and twin in done)]
            made: Iterator[T] = iter(())
            if others:
                key = settings.shape, settings.size
                if key not in pictures:
                    pictures[key] = view.unlit(stacked([face.picture(settings.shape) for face in others]))
                made = iter(work(view, pictures[key]))
            results = (done[twin][i] if known and twin in done else next(made) for i, known in enumerate(same))
            done[settings] = list(results)
        return list(done.values())

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
        spans = (
            Template((*spans[:-1], spans[-2] if all(template.repeats_last for template in own) else spans[-1]))
            for own, spans in zip(multiple, zip(*views, strict=True), strict=True)
        )
        joined = map(self._with_level, spans, multiple)
        return [next(joined) if len(own) > 1 else own[0] for own in templates]

    def _joined_in_view(self, i: int, templates: Sequence[Sequence[Template]]) -> list[PatchSpans]:
        """Span the strongest directions of the photos of each of several people."""
        samples = []
        for own in templates:
            # Of many photos one direction each will do: they differ more from each other than from their copies.
            n_directions = max(1, JOINED_DIRECTIONS // len(own))
            directions = np.concatenate([template.spans[i].samples(n_directions) for template in own], axis=1)
            samples.append(directions.astype(np.float32))
        view, counts = self.views[i], [each.shape[1] for each in samples]
        return span_people(counts, samples.__getitem__, view.shared, view.settings.method)

    def _with_level(self, joined: Template, templates: Sequence[Template]) -> Template:
        """Add to the template of several photos their levels, and what is known of the photos."""
        has_mesh = all(template.has_mesh for template in templates)
        chosen = np.linspace(0, len(templates) - 1, min(len(templates), MAX_LEVEL_PHOTOS)).astype(int)
        compared = self.template_set(dict(enumerate([joined, *(templates[i] for i in chosen)])))
        means = mean_scores(compared, *self._level_probes[has_mesh])
        return replace(
            joined,
            levels=tuple((means[:, 0] - means[:, 1:].mean(axis=1)).tolist()),
            shadow=min(template.shadow for template in templates),
            has_mesh=has_mesh,
            lights=tuple(light for template in templates for light in template.lights),
        )

    @cached_property
    def _level_probes(self) -> tuple[tuple[ProbeSet, list[list[CohortStats]]], ...]:
        """Some rendered people as probes, and how they compare with the cohort: without a mesh, and with one."""
        faces = cohort_faces()[:N_LEVEL_PROBES]
        kinds = (self.probes(each, warps=False) for each in ([AlignedFace(face.image) for face in faces], faces))
        return tuple((probes, cohort_stats(probes, self.cohorts)) for probes in kinds)

    def template_set(self, templates: Mapping[Hashable, Template]) -> TemplateSet:
        """Put templates together for comparison, in their order."""
        return TemplateSet(len(self.views), dict(templates))

    def compare(self, faces: Faces, people: TemplateSet) -> Scores:
        """Score faces against each person, enrolled or rendered, at the best of the warps."""
        aligned = self._checked(faces)
        blocks = (aligned[start : start + PROBES_PER_BLOCK] for start in range(0, len(aligned), PROBES_PER_BLOCK))
        return stack_probes([self.score_probes(self.probes(block), people) for block in blocks])

    def probes(self, faces: Faces, *, warps: bool = True) -> ProbeSet:
        """Make probes of a few faces, for :meth:`score_probes`: describe them, under each of the warps if wanted."""
        aligned = self._checked(faces)
        similarities = np.array(self.warps if warps else self.warps[:1], float)

        def vectors_in(view: FaceView, pictures: Floats) -> list[Floats]:
            if view.settings.shape == "mesh" or len(similarities) == 1:
                return list(view.vectors(pictures)[:, None])
            vectors = view.vectors(_warped(pictures, similarities))
            return list(vectors.reshape(len(pictures), len(similarities), *vectors.shape[1:]))

        with one_core():
            vectors = [np.concatenate(own) for own in self._in_views(aligned, vectors_in)]
            grey = to_bytes([face.image for face in aligned], FACE_SIZE)
            return ProbeSet(
                vectors,
                [view.settings.shape for view in self.views],
                len(similarities),
                lights_of(grey),
                shadow_shares(grey),
                np.array([face.has_mesh for face in aligned], bool),
                np.array([face.came_cut for face in aligned], bool),
            )

    def probes_of_templates(self, templates: Sequence[Template], lights: Floats) -> ProbeSet:
        """Make probes of templates of single photos, where the faces were not kept: their strongest directions."""
        views = zip(*(template.spans for template in templates), strict=True)
        return ProbeSet(
            [np.stack([spans.directions[:, 0] for spans in view]).astype(np.float32) for view in views],
            [view.settings.shape for view in self.views],
            1,
            lights,
            np.array([template.shadow for template in templates]),
            np.array([template.has_mesh for template in templates], bool),
            np.array([not template.repeats_last for template in templates], bool),
        )

    def score_probes(self, probes: ProbeSet, people: TemplateSet) -> Scores:
        """Score probes against people, as :meth:`compare` does.

        If ``people`` extends the set scored last, only the new people are scored: the score of a person does not
        depend on the others.
        """
        last = probes.last
        if last is not None and last.people is people:
            return last.scores
        stats = cohort_stats(probes, self.cohorts) if last is None else last.cohort_stats
        extends = last is not None and bool(people.parts) and last.people is people.parts[0]
        new = people.parts[1] if extends else people
        scores = penalized(scores_against(new, probes, stats), probes, new)
        if last is not None and extends:
            scores = append_people(last.scores, scores, people)
        if people.parts:
            probes.last = LastScores(people, scores, stats)
        return scores

    def compare_map(self, face: AlignedFace | Array, people: TemplateSet) -> tuple[Scores, PatchMaps]:
        """Score one face, n = 1, and each of its finest patches at the same warps."""
        probe = self.probes([face])
        scores = scores_against(people, probe, cohort_stats(probe, self.cohorts))
        maps = patch_maps(people, probe, self.cohorts, self.covering)
        # The penalty lowers the mean over the patches: so it lowers each of them.
        lowered = replace(maps.scores, people=maps.scores.people - light_penalty(scores, probe, people))
        return penalized(scores, probe, people), maps._replace(scores=lowered)

    def distances(self, faces: Faces, people: TemplateSet) -> Floats:
        """How far the score of each person is below that of a perfect match, shape (n, C)."""
        aligned = self._checked(faces)
        blocks = []
        for start in range(0, len(aligned), PROBES_PER_BLOCK):
            probes = self.probes(aligned[start : start + PROBES_PER_BLOCK])
            perfect = perfect_scores(probes, self.cohorts)[:, None]
            blocks.append(perfect - self.score_probes(probes, people).people)
        return np.concatenate(blocks)


def _degrees(angle: float) -> float:
    return round(float(angle), LIGHT_DIGITS)


def _warped(pictures: Floats, similarities: Floats) -> Floats:
    """Put each picture under each similarity, (n, h, w) -> (n * warps, h, w)."""
    repeated = np.repeat(pictures, len(similarities), axis=0)
    warps = np.tile(similarities, (len(pictures), 1))
    moved = warps.any(axis=1)
    repeated[moved] = warp(repeated[moved], warps[moved])
    return repeated


def preset_settings(preset: str) -> EngineSettings:
    """Return the settings of a preset that a gallery can use."""
    if preset not in ENGINES:
        raise BadParameter("Gallery", "preset", f"one of {', '.join(map(repr, ENGINES))}", preset)
    return ENGINES[preset]


@lru_cache(maxsize=4)
def matcher_for(settings: EngineSettings) -> Matcher:
    """Return the matcher for some settings; it is made once, because its cohort takes some time."""
    return Matcher(settings)
