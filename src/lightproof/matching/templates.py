"""What a gallery keeps of a person, and the templates of many people, laid out for comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np

from lightproof.core.labels import sampling_key, sort_labels
from lightproof.core.threads import in_threads
from lightproof.matching.kernels import Blocks, lay_out, side_by_side
from lightproof.method.subspace_bank import length_weights
from lightproof.method.subspaces import PatchSpans
from lightproof.types import Array, Floats, Ints

LIGHT_DIGITS: Final = 1
"""Digits of a degree that are kept of the direction of light."""

FRONTAL_LIGHT: Final = ((0.0, 0.0),)


@dataclass(frozen=True, eq=False)
class Template:
    """What a gallery keeps of one person.

    Attributes
    ----------
    spans : tuple of PatchSpans
        Of the photos, one for each view of them.
    levels : tuple of float
        Score bias of a multi-photo template in each of :data:`lightproof.matching.scores.SHAPES`: mean cohort score
        minus that of its single photos, see :meth:`lightproof.matching.matcher.Matcher.joined_people`. 0 for one photo.
    shadow : float
        Share of the face in deep shadow, the least of all photos.
    has_mesh : bool
        Whether every photo was brought to the common shape by a mesh; else the views by the mesh show it as it was cut.
    lights : tuple of (azimuth, elevation)
        Direction of the light on each photo in degrees; photos that do not show it are left out.
    """

    spans: tuple[PatchSpans, ...]
    levels: tuple[float, ...] = (0.0, 0.0, 0.0)
    shadow: float = 0.0
    has_mesh: bool = False
    lights: tuple[tuple[float, float], ...] = ()

    @property
    def repeats_last(self) -> bool:
        """Whether the last view, as the faces came, is the one before, by their eyes: so it is for found faces."""
        return self.spans[-1] is self.spans[-2]


class ViewBank(NamedTuple):
    """The templates of many people in one view: their directions, and the weight of each patch, shape (K, C)."""

    blocks: Blocks
    weights: Floats


@dataclass(frozen=True, eq=False)
class TemplateSet:
    """The templates of many people, in order. Immutable: adding or removing people makes another set.

    Attributes
    ----------
    n_views : int
    templates : dict of label to Template
    total : int, optional
        Number of people enrolled, if these are a shortlist of them.
    parts : tuple of TemplateSet
        The sets that this one was put together from, so that their layout is used again.
    known_agreement : float, optional
        The result of :func:`lightproof.matching.light_penalty.mutual_agreement`, if it was computed before.
    """

    n_views: int
    templates: dict[Hashable, Template]
    total: int | None = None
    parts: tuple[TemplateSet, ...] = ()
    known_agreement: float | None = None

    def __len__(self) -> int:
        return len(self.templates)

    @cached_property
    def n_people(self) -> int:
        """Number of people enrolled."""
        return len(self.templates) if self.total is None else self.total

    @cached_property
    def sampling_keys(self) -> Ints:
        """Keys of the people, shape (C,): those with the smallest are the reference people."""
        if self.parts:
            return np.concatenate([part.sampling_keys for part in self.parts])
        return np.array([sampling_key(name) for name in self.templates], np.int64)

    @property
    def names(self) -> list[Hashable]:
        """Names of the people."""
        return list(self.templates)

    @cached_property
    def views(self) -> tuple[ViewBank, ...]:
        """The templates, laid out for comparison in each view."""
        if self.parts:
            return tuple(_joined_banks(banks) for banks in zip(*(part.views for part in self.parts), strict=True))
        return tuple(in_threads(self._lay_out_view, range(self.n_views)))

    def _lay_out_view(self, view: int) -> ViewBank:
        spans = [template.spans[view] for template in self.templates.values()]
        directions = _stacked_directions(spans)
        # Without people one row of weights will do.
        weights = length_weights(spans) if spans else np.ones((1, 0), np.float32)
        return ViewBank(lay_out(directions), weights)

    @cached_property
    def levels(self) -> Floats:
        """Score bias of each template in each shape, shape (3, C)."""
        return np.array([template.levels for template in self.templates.values()], np.float32).reshape(-1, 3).T

    @cached_property
    def shadows(self) -> Floats:
        """Share of each person's face in deep shadow, shape (C,)."""
        return np.array([template.shadow for template in self.templates.values()], float)

    @cached_property
    def has_mesh(self) -> Array:
        """Whether each person's photos all have a mesh, shape (C,)."""
        return np.array([template.has_mesh for template in self.templates.values()], bool)

    @cached_property
    def came_cut(self) -> Array:
        """Whether some photo of each person came cut out otherwise than by the eyes of its mesh, shape (C,)."""
        return np.array([not template.repeats_last for template in self.templates.values()], bool)

    @cached_property
    def lights(self) -> Floats:
        """Azimuth and elevation of the light on all photos, one person after the other, shape (at least C, 2).

        People whose photos do not show the light count as lit from the front, as most are.
        """
        lights = [light for each in self.templates.values() for light in each.lights or FRONTAL_LIGHT]
        return np.array(lights, float)

    @cached_property
    def first_lights(self) -> Ints:
        """Index of each person's first light, shape (C,)."""
        counts = [len(each.lights or FRONTAL_LIGHT) for each in self.templates.values()]
        return np.cumsum([0, *counts[:-1]])

    def removing(self, name: Hashable) -> Self:
        """Remove one person."""
        kept = {label: template for label, template in self.templates.items() if label != name}
        total = None if self.total is None else self.total - (len(self) - len(kept))
        return replace(self, templates=kept, total=total, parts=(), known_agreement=None)

    def extended(self, other: TemplateSet) -> Self:
        """Append other people; both layouts are used again."""
        return replace(self, templates=self.templates | other.templates, parts=(self, other))

    def merged(self, other: TemplateSet) -> Self:
        """Return the people of both sets, by name."""
        templates = self.templates | other.templates
        return replace(self, templates={name: templates[name] for name in sort_labels(templates)}, parts=())

    def subset(self, indices: Ints) -> Self:
        """Return some of the people, by their indices."""
        names = self.names
        templates = {names[i]: self.templates[names[i]] for i in indices}
        return replace(self, templates=templates, parts=(), known_agreement=None)


def _joined_banks(banks: Sequence[ViewBank]) -> ViewBank:
    # A bank without people has one row of weights, the others as many as there are patches.
    banks = [bank for bank in banks if len(bank.blocks.places)]
    weights = np.concatenate([bank.weights for bank in banks], axis=1)
    return ViewBank(side_by_side([bank.blocks for bank in banks]), weights)


def _stacked_directions(spans: Sequence[PatchSpans]) -> Array:
    """Stack the directions of all people, 0 where a person has fewer, shape (C, K, r, D)."""
    if len({each.own.shape for each in spans}) == 1:
        return np.stack([each.own for each in spans])
    K, _, D = spans[0].own.shape if spans else (0, 0, 0)
    stacked = np.zeros((len(spans), K, max((each.own.shape[1] for each in spans), default=0), D), np.int8)
    for row, each in zip(stacked, spans, strict=True):
        row[:, : each.own.shape[1]] = each.own
    return stacked
