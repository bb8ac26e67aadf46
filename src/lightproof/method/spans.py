"""Photos of many people -> their spans, several people at a time."""

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


def spans_of_samples(samples: Sequence[Floats], shared: SharedSpan, settings: MethodSettings) -> list[PatchSpans]:
    """Span several people, each given by samples of shape (K, L, D)."""
    counts = [each.shape[1] for each in samples]
    return spans_in_turn(counts, lambda i: samples[i], shared, settings)


def spans_in_turn(
    counts: Sequence[int], samples: Callable[[int], Floats], shared: SharedSpan, settings: MethodSettings
) -> list[PatchSpans]:
    """Span everybody, a few at a time of those who have as many photos; ``samples`` gives those of one, (K, L, D)."""
    spans: dict[int, PatchSpans] = {}
    for count in set(counts):
        alike = [i for i, own in enumerate(counts) if own == count]
        for start in range(0, len(alike), PEOPLE_PER_BLOCK):
            some = alike[start : start + PEOPLE_PER_BLOCK]
            spans |= zip(some, spans_alike([samples(i) for i in some], shared, settings), strict=True)
    return [spans[i] for i in range(len(counts))]


def spans_alike(samples: Sequence[Floats], shared: SharedSpan, settings: MethodSettings) -> list[PatchSpans]:
    """Span a few people who have as many samples, (K, L, D) each."""
    if settings.storage != "int8":
        return [span_photos(each, shared) for each in samples]
    patches_last = np.ascontiguousarray(np.stack(samples).transpose(0, 2, 3, 1))
    return compact_spans(patches_last, int(settings.components), shared)
