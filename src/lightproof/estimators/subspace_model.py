"""Photos of many people -> their spans, and how many components to keep."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np

from lightproof.core.labels import sort_labels, training_part
from lightproof.method.aggregate import AGGREGATES, RELATIVE
from lightproof.method.presets import MethodSettings
from lightproof.method.spans import span_alike, span_people
from lightproof.method.subspace_bank import SubspaceStack, length_weights, relative_residuals, residuals, stack_spans
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.types import Array, Floats

PROBES_PER_BLOCK: Final = 32
"""Probes compared together: memory stays bounded."""


@dataclass(frozen=True, eq=False)
class People:
    """The enrolled people, under one set of settings. Immutable: adding or removing a person makes a new one.

    ``shared`` is the span of the translation vectors; ``spans`` has the order of the labels.
    """

    settings: MethodSettings
    shared: SharedSpan
    spans: dict[Hashable, PatchSpans]

    @classmethod
    def of(cls, vectors: Floats, labels: Sequence[Hashable], shared: SharedSpan, settings: MethodSettings) -> Self:
        """Span everybody's photos; ``vectors`` has shape (n, copies, K, D), ``labels`` length n."""
        photos: dict[Hashable, list[int]] = {}
        for i, label in enumerate(labels):
            photos.setdefault(label, []).append(i)
        rows = list(photos.values())
        spans = span_people(list(map(len, rows)), lambda i: _side_by_side(vectors[rows[i]]), shared, settings)
        return cls(settings, shared, _ordered(dict(zip(photos, spans, strict=True))))

    @cached_property
    def stack(self) -> SubspaceStack:
        """Everybody's bases, laid out on first use."""
        components = self.settings.components
        assert not isinstance(components, str)  # :func:`validated_components` chose the number
        return stack_spans(list(self.spans.values()), components, self.settings.span)

    @cached_property
    def weights(self) -> Floats | None:
        """Weight of each patch of each person, shape (K, C); None if all weigh the same."""
        return length_weights(list(self.spans.values())) if self.settings.weights == "length" else None

    def adding(self, label: Hashable, vectors: Floats) -> Self:
        """Add photos of one person, new or known; ``vectors`` has shape (L, copies, K, D)."""
        samples = _side_by_side(vectors)
        if label in self.spans:
            samples = np.concatenate([self.spans[label].samples().astype(samples.dtype), samples], axis=1)
        (span,) = span_alike([samples], self.shared, self.settings)
        return replace(self, spans=_ordered(self.spans | {label: span}))

    def removing(self, label: Hashable) -> Self:
        """Remove one person."""
        return replace(self, spans={name: spans for name, spans in self.spans.items() if name != label})

    def nearest(self, vectors: Floats) -> Array:
        """Index of the nearest person of each image, (n, K, D) -> (n,)."""
        blocks = [vectors[start : start + PROBES_PER_BLOCK] for start in range(0, len(vectors), PROBES_PER_BLOCK)]
        added = (self.contributions(self.distances(block)) for block in blocks)
        return np.concatenate([each.sum(axis=0).argmin(axis=1) for each in added])

    def distances(self, vectors: Floats) -> Floats:
        """Distance of each patch to each person, relative if the aggregate asks for that, (n, K, D) -> (K, n, C)."""
        measured = relative_residuals if self.settings.aggregate in RELATIVE else residuals
        return measured(vectors, self.stack)

    def contributions(self, distances: Floats) -> Floats:
        """Contribution of each patch to the decision, shape (K, n, C)."""
        return self._weighed(distances, np.s_[:, None, :])

    def contributions_of(self, person: int, distances: Floats) -> Floats:
        """Contribution of each patch for one person alone, by a rule that needs no others, shape (K,)."""
        return self._weighed(distances, np.s_[:, person])

    def _weighed(self, distances: Floats, chosen: tuple[Any, ...]) -> Floats:
        """Aggregate distances, and weigh only how far the contributions lie below 1, by the chosen weights.

        The weights of a person add up to the number of patches, so the ranking stays; but a patch that is far from two
        people then adds 1 to both, and does not favor the person for whom it weighs less.
        """
        added = AGGREGATES[self.settings.aggregate](distances)
        if self.weights is None:
            return added
        added = added - 1
        added *= self.weights[chosen].astype(added.dtype)
        added += 1
        return added


def validated_components(
    vectors: Floats, labels: Sequence[Hashable], shared: SharedSpan, settings: MethodSettings, seed: int
) -> int:
    """Choose the number of components by the paper's rule: the smallest that names most of the held-back photos.

    It counts basis vectors, translation vectors included. ``vectors`` has shape (n, copies, K, D), the photos
    themselves first; ``seed`` draws the photos to hold back.
    """
    training = training_part(labels, seed)
    enrolled = [label for label, marked in zip(labels, training, strict=True) if marked]
    people = People.of(vectors[training], enrolled, shared, settings)
    index = {label: i for i, label in enumerate(people.spans)}
    truth = np.array([index[label] for label in labels])[~training]
    best, chosen = -1.0, 1
    for count in range(1, max(int(spans.rank.max()) for spans in people.spans.values()) + 1):
        fewer = replace(people, settings=replace(settings, components=count))
        accuracy = float(np.mean(fewer.nearest(vectors[~training, 0]) == truth))
        if accuracy > best:
            best, chosen = accuracy, count
    return chosen


def _side_by_side(vectors: Floats) -> Floats:
    """Lay the photos of one person and their copies side by side in each patch, (L, copies, K, D) -> (K, -1, D)."""
    return vectors.reshape(-1, *vectors.shape[2:]).transpose(1, 0, 2)


def _ordered(spans: dict[Hashable, PatchSpans]) -> dict[Hashable, PatchSpans]:
    return {label: spans[label] for label in sort_labels(spans)}
