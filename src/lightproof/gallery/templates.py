"""A template as bytes, and the parameters it was made with."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np

from lightproof.enrolled import Template
from lightproof.errors import BadGallery
from lightproof.matcher import Matcher
from lightproof.subspaces import PatchSpans, SharedSpan, stand_ins

RECIPE: Final = 2
"""Raised whenever the same photo and settings would make another template: old ones are then never compared."""


LEVEL: Final = 4
"""Bytes of the level, before everything else."""

HEAD: Final = 12
"""Bytes before the directions of a view: three numbers for their shape."""


def written(settings: dict[str, Any]) -> str:
    """Write settings down, the same ones always alike."""
    return json.dumps(settings, sort_keys=True)


def parameters_of(settings: dict[str, Any]) -> str:
    """Sum up all that decides a template."""
    return hashlib.sha256(f"{RECIPE} {written(settings)}".encode()).hexdigest()


def encode(template: Template) -> bytes:
    """Write a template of whole numbers: its level, and for each view the directions, then how strong each is."""
    return np.array(template.level, "<f4").tobytes() + b"".join(map(_encode_spans, template.spans))


def _encode_spans(spans: PatchSpans) -> bytes:
    strengths = np.diagonal(spans.coordinates, axis1=1, axis2=2)
    shape = np.array(spans.own.shape, "<u4").tobytes()
    return shape + spans.own.astype("i1").tobytes() + strengths.astype("<f2").tobytes()


def decode(written: bytes, matcher: Matcher, place: str) -> Template:
    """Read what :func:`encode` wrote.

    Parameters
    ----------
    written : bytes
    matcher : Matcher
        Whose settings the template must have.
    place : str
        The gallery, for the message.
    """
    spans, start, n_patches = [], LEVEL, matcher.extractor.grid_.n_patches
    for view, layout in zip(matcher.views, matcher.layouts, strict=True):
        head = written[start : start + HEAD]
        K, r, D = np.frombuffer(head, "<u4").tolist() if len(head) == HEAD else (0, 0, 0)
        end = start + HEAD + K * r * (D + 2)
        legal = (n_patches, view.n_numbers) == (K, D) and 0 < r <= layout.settings["components"]
        if not legal or end > len(written):
            raise BadGallery(place, f"a damaged template of {len(written)} bytes")
        spans.append(_decode_spans(written, start + HEAD, (K, r, D), layout.shared, place))
        start = end
    level = float(np.frombuffer(written, "<f4", 1)[0])
    if start != len(written):
        raise BadGallery(place, f"a damaged template of {len(written)} bytes")
    _check_finite(level, place)
    return Template(tuple(spans), level)


def _decode_spans(
    written: bytes, start: int, shape: tuple[int, int, int], shared: SharedSpan, place: str
) -> PatchSpans:
    K, r, D = shape
    own = np.frombuffer(written, np.int8, K * r * D, start).reshape(shape)
    strengths = np.frombuffer(written, "<f2", K * r, start + K * r * D).reshape(K, r).astype(np.float16)
    _check_finite(strengths, place)
    return PatchSpans(own, stand_ins(strengths), shared)


def _check_finite(numbers: Any, place: str) -> None:
    if not np.isfinite(numbers).all():
        raise BadGallery(place, "a damaged template with numbers that are not finite")
