"""Samples of many people -> their spans, several people at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from lightproof.method.presets import MethodSettings
from lightproof.method.quantization import compact_spans
from lightproof.method.subspaces import PatchSpans, SharedSpan, span_photos
from lightproof.types import Floats

PEOPLE_PER_BLOCK: Final = 6
"""People spanned together: their numbers stay in the processor's cache."""


def span_people(
    counts: Sequence[int], samples_of: Callable[[int], Floats], shared: SharedSpan, settings: MethodSettings
) -> list[PatchSpans]:
    """Span several people; ``samples_of`` gives the samples of the i-th, (K, counts[i], D)."""
    spans: dict[int, PatchSpans] = {}
    for count in set(counts):
        people = [i for i, own in enumerate(counts) if own == count]
        for start in range(0, len(people), PEOPLE_PER_BLOCK):
            block = people[start : start + PEOPLE_PER_BLOCK]
            spans |= zip(block, span_alike([samples_of(i) for i in block], shared, settings), strict=True)
    return [spans[i] for i in range(len(counts))]


def span_alike(samples: Sequence[Floats], shared: SharedSpan, settings: MethodSettings) -> list[PatchSpans]:
    """Span a few people who have equally many samples, (K, L, D) each."""
    if settings.storage != "int8":
        return [span_photos(each, shared) for each in samples]
    patches_last = np.ascontiguousarray(np.stack(samples).transpose(0, 2, 3, 1))
    return compact_spans(patches_last, int(settings.components), shared)
