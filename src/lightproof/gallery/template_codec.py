"""A template as bytes, and the parameters it was made with."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from lightproof.errors import BadGallery
from lightproof.matching.matcher import Matcher
from lightproof.matching.templates import Template
from lightproof.method.subspaces import PatchSpans, SharedSpan, stand_ins
from lightproof.types import Array

RECIPE: Final = 3
"""Raised whenever the same photo and settings would make another template: old ones are then never compared."""


LEVEL: Final = 4
"""Bytes of the level, before everything else."""

HEAD: Final = 12
"""Bytes before the directions of a view: three numbers for their shape."""


def written(settings: Mapping[str, Any]) -> str:
    """Write settings down, the same ones always alike."""
    return json.dumps(dict(settings), sort_keys=True)


def parameters_of(settings: Mapping[str, Any]) -> str:
    """Sum up all that decides a template."""
    return hashlib.sha256(f"{RECIPE} {written(settings)}".encode()).hexdigest()


def encode(template: Template) -> bytes:
    """Write a template of whole numbers: its level, and for each view the directions, then how strong each is."""
    return struct.pack("<f", template.level) + b"".join(map(_encode_spans, template.spans))


def _encode_spans(spans: PatchSpans) -> bytes:
    strengths = np.diagonal(spans.coordinates, axis1=1, axis2=2)
    shape = struct.pack("<3I", *spans.own.shape)
    return shape + spans.own.astype("i1", copy=False).tobytes() + strengths.astype("<f2", copy=False).tobytes()


def decode(written: bytes, matcher: Matcher, place: str) -> Template:
    """Read what :func:`encode` wrote; see :func:`decode_all`."""
    return decode_all([written], matcher, place)[0]


def decode_all(written: Sequence[bytes], matcher: Matcher, place: str) -> list[Template]:
    """Read what :func:`encode` wrote, many templates at a time.

    Parameters
    ----------
    written : sequence of bytes
    matcher : Matcher
        Whose settings the templates must have.
    place : str
        The gallery, for the message.
    """
    templates: dict[int, Template] = {}
    for head in {_head(each) for each in written}:
        alike = [i for i, each in enumerate(written) if _head(each) == head]
        templates |= zip(alike, _decode_alike([written[i] for i in alike], matcher, place), strict=True)
    return [templates[i] for i in range(len(written))]


def _head(written: bytes) -> tuple[int, bytes]:
    """What templates must have in common to be read together."""
    return len(written), written[LEVEL : LEVEL + HEAD]


def _decode_alike(written: Sequence[bytes], matcher: Matcher, place: str) -> Iterable[Template]:
    """Read templates of one length."""
    rows = np.frombuffer(b"".join(written), np.uint8).reshape(len(written), -1)
    views, start, n_patches = [], LEVEL, matcher.extractor.grid_.n_patches
    for view, layout in zip(matcher.views, matcher.view_specs, strict=True):
        heads = rows[:, start : start + HEAD]
        K, r, D = heads[0].copy().view("<u4").tolist() if heads.shape[1] == HEAD else (0, 0, 0)
        end = start + HEAD + K * r * (D + 2)
        legal = (n_patches, view.n_numbers) == (K, D) and 0 < r <= int(layout.settings.components)
        if not legal or end > rows.shape[1] or (heads != heads[0]).any():
            raise BadGallery(place, f"a damaged template of {rows.shape[1]} bytes")
        views.append(_decode_spans(rows[:, start + HEAD : end], (K, r, D), layout.shared, place))
        start = end
    if start != rows.shape[1]:
        raise BadGallery(place, f"a damaged template of {rows.shape[1]} bytes")
    levels = rows[:, :LEVEL].copy().view("<f4")[:, 0]
    _check_finite(levels, place)
    return map(Template, zip(*views, strict=True), levels.tolist())


def _decode_spans(rows: Array, shape: tuple[int, int, int], shared: SharedSpan, place: str) -> list[PatchSpans]:
    """Read the directions of many people in one view, then how strong each is."""
    (K, r, D), n = shape, len(rows)
    own = rows[:, : K * r * D].view(np.int8).reshape(n, *shape)
    strengths = rows[:, K * r * D :].copy().view("<f2").reshape(n, K, r).astype(np.float16)
    _check_finite(strengths, place)
    samples = stand_ins(strengths)
    return [PatchSpans(own[i], samples[i], shared) for i in range(n)]


def _check_finite(numbers: Any, place: str) -> None:
    if not np.isfinite(numbers).all():
        raise BadGallery(place, "a damaged template with numbers that are not finite")
