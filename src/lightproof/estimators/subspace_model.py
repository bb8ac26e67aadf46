"""Photos of many people -> their spans, and how many components to keep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from lightproof.core.labels import sort_labels
from lightproof.errors import BadLabels
from lightproof.method.aggregate import RELATIVE, contributions
from lightproof.method.quantization import compact_spans
from lightproof.method.subspace_bank import SubspaceStack, length_weights, relative_residuals, residuals, stack_spans
from lightproof.method.subspaces import PatchSpans, SharedSpan, span_photos
from lightproof.types import Array, Floats

BLOCK = 32
"""Probes compared at a time: memory stays bounded however many there are."""

PEOPLE = 6
"""People spanned at a time: their numbers stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class People:
    """Everybody enrolled, under one set of settings. Never changed: adding or removing somebody makes another.

    Attributes
    ----------
    settings : dict
        ``components``, ``span``, ``storage``, ``aggregate`` and ``weights`` are used here.
    shared : SharedSpan
        Of the translation vectors.
    spans : dict of label to PatchSpans
        In the order of the labels.
    """

    settings: dict[str, Any]
    shared: SharedSpan
    spans: dict[Hashable, PatchSpans]

    @classmethod
    def of(cls, vectors: Floats, labels: Sequence[Hashable], shared: SharedSpan, settings: dict[str, Any]) -> Self:
        """Span everybody's photos; ``vectors`` has shape (n, copies, K, D), ``labels`` length n."""
        photos: dict[Hashable, list[int]] = {}
        for i, label in enumerate(labels):
            photos.setdefault(label, []).append(i)
        rows = list(photos.values())
        spans = _spans_in_turn(list(map(len, rows)), lambda i: _side_by_side(vectors[rows[i]]), shared, settings)
        return cls(settings, shared, _ordered(dict(zip(photos, spans, strict=True))))

    @cached_property
    def stack(self) -> SubspaceStack:
        """Everybody's bases, laid out when first asked for."""
        return stack_spans(list(self.spans.values()), self.settings["components"], self.settings["span"])

    @cached_property
    def weights(self) -> Floats | None:
        """What each patch of each person counts, shape (K, C); None if all count alike."""
        return length_weights(list(self.spans.values())) if self.settings["weights"] == "length" else None

    def adding(self, label: Hashable, vectors: Floats) -> Self:
        """Add photos of one person, new or known; ``vectors`` has shape (L, copies, K, D)."""
        samples = _side_by_side(vectors)
        if label in self.spans:
            samples = np.concatenate([self.spans[label].samples().astype(samples.dtype), samples], axis=1)
        return replace(self, spans=_ordered(self.spans | {label: _span(samples, self.shared, self.settings)}))

    def removing(self, label: Hashable) -> Self:
        """Remove one person."""
        return replace(self, spans={name: spans for name, spans in self.spans.items() if name != label})

    def nearest(self, vectors: Floats) -> Array:
        """Place of the nearest person of each image, (n, K, D) -> (n,)."""
        blocks = [vectors[start : start + BLOCK] for start in range(0, len(vectors), BLOCK)]
        added = (self.contributions(self.distances(block)) for block in blocks)
        return np.concatenate([each.sum(axis=0).argmin(axis=1) for each in added])

    def distances(self, vectors: Floats) -> Floats:
        """Distance of each patch to everybody, as the rule that sums them takes it, (n, K, D) -> (K, n, C)."""
        measured = relative_residuals if self.settings["aggregate"] in RELATIVE else residuals
        return measured(vectors, self.stack)

    def contributions(self, distances: Floats) -> Floats:
        """What each patch adds to the decision, shape (K, n, C)."""
        added = contributions(distances, self.settings["aggregate"])
        return added if self.weights is None else _weighed(added, self.weights[:, None, :])

    def contributions_of(self, person: int, distances: Floats) -> Floats:
        """What each patch adds for one person alone, by a rule that needs no others, shape (K,)."""
        added = contributions(distances, self.settings["aggregate"])
        return added if self.weights is None else _weighed(added, self.weights[:, person])


def spans_of_samples(samples: Sequence[Floats], shared: SharedSpan, settings: dict[str, Any]) -> list[PatchSpans]:
    """Span several people, each given by samples of shape (K, L, D)."""
    counts = [each.shape[1] for each in samples]
    return _spans_in_turn(counts, lambda i: samples[i], shared, settings)


def validated_components(
    vectors: Floats, labels: Sequence[Hashable], shared: SharedSpan, settings: dict[str, Any], seed: int
) -> int:
    """Choose the paper's number of components: the smallest that names most of the photos held back.

    Parameters
    ----------
    vectors : ndarray of shape (n, copies, K, D)
        The photos themselves first, then their copies.
    labels : sequence of length n
    shared : SharedSpan
    settings : dict
        ``components`` is what is being chosen.
    seed : int
        Of the split.

    Returns
    -------
    int
        Basis vectors, translation vectors included.
    """
    training = training_part(labels, seed)
    known = [label for label, marked in zip(labels, training, strict=True) if marked]
    people = People.of(vectors[training], known, shared, settings)
    place = {label: i for i, label in enumerate(people.spans)}
    truth = np.array([place[label] for label in labels])[~training]
    best, chosen = -1.0, 1
    for count in range(1, max(int(spans.rank.max()) for spans in people.spans.values()) + 1):
        fewer = replace(people, settings=settings | {"components": count})
        accuracy = float(np.mean(fewer.nearest(vectors[~training, 0]) == truth))
        if accuracy > best:
            best, chosen = accuracy, count
    return chosen


def training_part(labels: Sequence[Hashable], seed: int, single: str = "refused") -> Array:
    """Mark two thirds of each person's photos, drawn at random, shape (n,); the others validate.

    Parameters
    ----------
    labels : sequence of length n
    seed : int
    single : {"refused", "trains"}
        What becomes of the only photo of somebody.
    """
    people = list(dict.fromkeys(labels))
    if len(people) < 2:
        raise BadLabels("y", "of 2 or more people for components='validate'", f"{len(people)}")
    rng = np.random.default_rng(seed)
    marked = np.zeros(len(labels), bool)
    for person in people:
        photos = [i for i, label in enumerate(labels) if label == person]
        if len(photos) < 2 and single == "refused":
            raise BadLabels(f"Label {person!r}", "on 2 or more images for components='validate'", str(len(photos)))
        marked[rng.permutation(photos)[: max(1, len(photos) * 2 // 3)]] = True
    return marked


def _weighed(added: Floats, weights: Floats) -> Floats:
    """Weigh what patches add below 1, in place of all of it.

    The weights of a person add up to the number of patches, so the sum is the same; but a patch that is far from two
    people then adds 1 to both, and does not speak for the one in whose photo it weighs less.
    """
    added = added - 1
    added *= weights.astype(added.dtype)
    added += 1
    return added


def _side_by_side(vectors: Floats) -> Floats:
    """Lay the photos of one person and their copies side by side in each patch, (L, copies, K, D) -> (K, -1, D)."""
    return vectors.reshape(-1, *vectors.shape[2:]).transpose(1, 0, 2)


def _span(samples: Floats, shared: SharedSpan, settings: dict[str, Any]) -> PatchSpans:
    return _spans_alike([samples], shared, settings)[0]


def _spans_in_turn(
    counts: Sequence[int], samples: Callable[[int], Floats], shared: SharedSpan, settings: dict[str, Any]
) -> list[PatchSpans]:
    """Span everybody, a few at a time of those who have as many photos; ``samples`` gives those of one, (K, L, D)."""
    spans: dict[int, PatchSpans] = {}
    for count in set(counts):
        alike = [i for i, own in enumerate(counts) if own == count]
        for start in range(0, len(alike), PEOPLE):
            some = alike[start : start + PEOPLE]
            spans |= zip(some, _spans_alike([samples(i) for i in some], shared, settings), strict=True)
    return [spans[i] for i in range(len(counts))]


def _spans_alike(samples: Sequence[Floats], shared: SharedSpan, settings: dict[str, Any]) -> list[PatchSpans]:
    """Span a few people who have as many samples, (K, L, D) each."""
    if settings["storage"] != "int8":
        return [span_photos(each, shared) for each in samples]
    patches_last = np.ascontiguousarray(np.stack(samples).transpose(0, 2, 3, 1))
    return compact_spans(patches_last, settings["components"], shared)


def _ordered(spans: dict[Hashable, PatchSpans]) -> dict[Hashable, PatchSpans]:
    return {label: spans[label] for label in sort_labels(spans)}
