"""What a gallery keeps of a person, and everybody who is enrolled, laid out for answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np

from lightproof.core.labels import sampling_key, sort_labels
from lightproof.core.processes import in_threads
from lightproof.matching.kernels import Blocks, lay_out, side_by_side
from lightproof.method.presets import GallerySettings
from lightproof.method.subspace_bank import length_weights
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.types import Array, Floats, Ints

FRONT: Final = ((0.0, 0.0),)

N_REFERENCE_PEOPLE: Final = 56
"""People drawn by lot whom others are measured against; in a smaller gallery all are."""


@dataclass(frozen=True, eq=False)
class Template:
    """What is kept of one person.

    Attributes
    ----------
    spans : tuple of PatchSpans
        Of the photos, one for each view of them: which gradients a patch holds, and where in it they lie.
    level : float
        How much nearer just anybody comes to it than to a single photo, in evidence: see
        :meth:`lightproof.matching.matcher.Matcher.joined`. 0 for one photo.
    lights : tuple of (azimuth, elevation)
        Where the light of each photo came from, in degrees; photos that do not tell are left out.
    """

    spans: tuple[PatchSpans, ...]
    level: float = 0.0
    lights: tuple[tuple[float, float], ...] = ()


class ViewSpec(NamedTuple):
    """How the spans of one view are compared: its settings, and what is in everybody's span."""

    settings: GallerySettings
    shared: SharedSpan


class ViewBank(NamedTuple):
    """Everybody in one view: their directions, and what each patch of each person counts, shape (K, C)."""

    blocks: Blocks
    weights: Floats


@dataclass(frozen=True, eq=False)
class TemplateSet:
    """Everybody, in order. Never changed: adding or removing somebody makes another.

    Attributes
    ----------
    view_specs : sequence of ViewSpec
        One for each view.
    templates : dict of label to Template
    total : int, optional
        How many are enrolled in all, where these are only those worth comparing with.
    parts : tuple of TemplateSet
        Of whom these are made up, if they are laid out already.
    alike : float, optional
        How far the lights of the people agree, if that is known: see :func:`lightproof.matching.light_penalty.mutual_agreement`.
    """

    view_specs: Sequence[ViewSpec]
    templates: dict[Hashable, Template]
    total: int | None = None
    parts: tuple[TemplateSet, ...] = ()
    alike: float | None = None

    def __len__(self) -> int:
        return len(self.templates)

    @property
    def n_people(self) -> int:
        """How many are enrolled in all."""
        return len(self.templates) if self.total is None else self.total

    @cached_property
    def sampling_keys(self) -> Ints:
        """Whom others are measured against is drawn by these, the smallest first, shape (C,)."""
        if self.parts:
            return np.concatenate([part.sampling_keys for part in self.parts])
        return np.array([sampling_key(name) for name in self.templates], np.int64)

    @property
    def names(self) -> list[Hashable]:
        """Whose templates they are."""
        return list(self.templates)

    @cached_property
    def views(self) -> tuple[ViewBank, ...]:
        """Everybody, laid out for answers in each view."""
        if self.parts:
            return tuple(_beside(sides) for sides in zip(*(part.views for part in self.parts), strict=True))
        return tuple(in_threads(self._side, range(len(self.view_specs))))

    def _side(self, view: int) -> ViewBank:
        spans = [template.spans[view] for template in self.templates.values()]
        own = _side_by_side(spans)
        weighed = self.view_specs[view].settings.weights == "length" and spans
        # One row will do where there is nobody to be weighed.
        weights = length_weights(spans) if weighed else np.ones((max(own.shape[1], 1), len(own)), np.float32)
        return ViewBank(lay_out(own), weights)

    @cached_property
    def levels(self) -> Floats:
        """How much nearer just anybody comes to each person's template than to a single photo, shape (C,)."""
        return np.array([template.level for template in self.templates.values()], np.float32)

    @cached_property
    def lights(self) -> Floats:
        """Azimuth and elevation of the light on everybody's photos, one person after the other, shape (at least C, 2).

        Whose photos do not tell counts as lit from the front, as most are.
        """
        return np.array([light for each in self.templates.values() for light in each.lights or FRONT], float)

    @cached_property
    def first_lights(self) -> Ints:
        """Place of each person's first light, shape (C,)."""
        counts = [len(each.lights or FRONT) for each in self.templates.values()]
        return np.cumsum([0, *counts[:-1]])

    def removing(self, name: Hashable) -> Self:
        """Remove one person."""
        kept = {one: template for one, template in self.templates.items() if one != name}
        fewer = None if self.total is None else self.total - (len(self) - len(kept))
        return replace(self, templates=kept, total=fewer, parts=(), alike=None)

    def beside(self, other: TemplateSet) -> Self:
        """Return these and others, who are somebody else; what is laid out stays so."""
        return replace(self, templates=self.templates | other.templates, parts=(self, other))

    def joined(self, other: TemplateSet) -> Self:
        """Return these and others, by name."""
        together = self.templates | other.templates
        return replace(self, templates={name: together[name] for name in sort_labels(together)}, parts=())

    def of(self, places: Ints) -> Self:
        """Return some of them, by their places."""
        names = self.names
        return replace(self, templates={names[i]: self.templates[names[i]] for i in places}, parts=(), alike=None)


def _beside(sides: Sequence[ViewBank]) -> ViewBank:
    # Nobody has one row of weights; they are as many as the others'.
    weights = [side.weights for side in sides if side.blocks.n_people]
    return ViewBank(
        side_by_side([side.blocks for side in sides if side.blocks.n_people]), np.concatenate(weights, axis=1)
    )


def reference_sample(sampling_keys: Ints | None, n_people: int) -> Ints:
    """Places of the :data:`N_REFERENCE_PEOPLE` people with the smallest lots, in order; of all, where they are no more."""
    if n_people <= N_REFERENCE_PEOPLE:
        return np.arange(n_people)
    sampling_keys = np.arange(n_people) if sampling_keys is None else sampling_keys
    return np.sort(np.argsort(sampling_keys, kind="stable")[:N_REFERENCE_PEOPLE])


def _side_by_side(spans: Sequence[PatchSpans]) -> Array:
    """Stack the directions of everybody, 0 where a person has fewer, shape (C, K, r, D)."""
    if len({each.own.shape for each in spans}) == 1:
        return np.stack([each.own for each in spans])
    K, _, D = spans[0].own.shape if spans else (0, 0, 0)
    stacked = np.zeros((len(spans), K, max((each.own.shape[1] for each in spans), default=0), D), np.int8)
    for place, each in zip(stacked, spans, strict=True):
        place[:, : each.own.shape[1]] = each.own
    return stacked
