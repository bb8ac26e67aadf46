"""A template as bytes, and back: the one format of spans, in galleries and in files of recognizers."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from lightproof.matching.templates import LIGHT_DIGITS, Template
from lightproof.matching.views import FaceView, discriminants, name_of
from lightproof.method.presets import EngineSettings
from lightproof.method.subspaces import PatchSpans, SharedSpan, stand_ins
from lightproof.types import Array

RECIPE_VERSION: Final = 4
"""Raised whenever the same photo and settings would make another template: old ones are then never compared."""

FACTS: Final = "<6f??"
"""What comes before everything else: the three levels, the share of the face in deep shadow, azimuth and elevation of
the light (nan if unknown, or of several photos), whether it has a mesh, and whether the last view is the same as the
one before and left out."""

FACTS_BYTES: Final = struct.calcsize(FACTS)

HEAD_BYTES: Final = 12
"""Bytes before the directions of a view: three numbers for their shape."""


def settings_json(settings: EngineSettings) -> str:
    """Write settings as JSON; equal settings give equal text."""
    return json.dumps(settings.as_dict(), sort_keys=True)


@cache
def parameters_of(settings: EngineSettings) -> str:
    """Return a hash of all that decides a template."""
    known = discriminants()
    decisive = [known[name_of(view)][:, :, : view.numbers].tobytes() for view in settings.views]
    parts = [f"{RECIPE_VERSION} {settings_json(settings)}".encode(), *decisive]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def encode_template(template: Template) -> bytes:
    """Write a template: its facts, and for each view the directions in whole numbers, then their strengths."""
    light = template.lights[0] if len(template.lights) == 1 else (math.nan, math.nan)
    facts = struct.pack(FACTS, *template.levels, template.shadow, *light, template.has_mesh, template.repeats_last)
    return facts + b"".join(map(_encode_spans, template.spans[: len(template.spans) - template.repeats_last]))


def _encode_spans(spans: PatchSpans) -> bytes:
    strengths = np.diagonal(spans.coordinates, axis1=1, axis2=2)
    shape = struct.pack("<3I", *spans.own.shape)
    return shape + spans.own.astype("i1", copy=False).tobytes() + strengths.astype("<f2", copy=False).tobytes()


def decode_templates(encoded: Sequence[bytes], views: Sequence[FaceView]) -> list[Template]:
    """Read what :func:`encode_template` wrote under the same views; what is damaged raises :class:`ValueError`."""
    # Templates of the same length and shape are read together.
    groups: dict[tuple[int, bytes], list[int]] = {}
    for i, each in enumerate(encoded):
        groups.setdefault((len(each), each[FACTS_BYTES - 1 : FACTS_BYTES + HEAD_BYTES]), []).append(i)
    templates: dict[int, Template] = {}
    for group in groups.values():
        templates |= zip(group, _decode_group([encoded[i] for i in group], views), strict=True)
    return [templates[i] for i in range(len(encoded))]


def _decode_group(encoded: Sequence[bytes], all_views: Sequence[FaceView]) -> list[Template]:
    rows = np.frombuffer(b"".join(encoded), np.uint8).reshape(len(encoded), -1)
    views, start, repeats_last = [], FACTS_BYTES, bool(encoded[0][FACTS_BYTES - 1 : FACTS_BYTES] > b"\0")
    for view in all_views[: len(all_views) - repeats_last]:
        heads = rows[:, start : start + HEAD_BYTES]
        K, r, D = heads[0].copy().view("<u4").tolist() if heads.shape[1] == HEAD_BYTES else (0, 0, 0)
        end = start + HEAD_BYTES + K * r * (D + 2)
        legal = (view.n_patches, view.n_numbers) == (K, D) and 0 < r <= view.settings.components
        if not legal or end > rows.shape[1] or (heads != heads[0]).any():
            raise ValueError(f"a damaged template of {rows.shape[1]} bytes")
        views.append(_decode_spans(rows[:, start + HEAD_BYTES : end], (K, r, D), view.shared))
        start = end
    if start != rows.shape[1]:
        raise ValueError(f"a damaged template of {rows.shape[1]} bytes")
    if repeats_last:
        views.append(views[-1])
    facts = [struct.unpack(FACTS, each[:FACTS_BYTES]) for each in encoded]
    _check_finite([numbers[:4] for numbers in facts])
    return [
        Template(spans, levels=tuple(levels), shadow=shadow, has_mesh=has_mesh, lights=_lights(azimuth, elevation))
        for spans, (*levels, shadow, azimuth, elevation, has_mesh, _) in zip(
            zip(*views, strict=True), facts, strict=True
        )
    ]


def _lights(azimuth: float, elevation: float) -> tuple[tuple[float, float], ...]:
    known = math.isfinite(azimuth) and math.isfinite(elevation)
    return ((round(azimuth, LIGHT_DIGITS), round(elevation, LIGHT_DIGITS)),) if known else ()


def _decode_spans(rows: Array, shape: tuple[int, int, int], shared: SharedSpan) -> list[PatchSpans]:
    """Read the directions of many people in one view, then their strengths."""
    (K, r, D), n = shape, len(rows)
    own = rows[:, : K * r * D].view(np.int8).reshape(n, *shape)
    strengths = rows[:, K * r * D :].copy().view("<f2").reshape(n, K, r).astype(np.float16)
    _check_finite(strengths)
    samples = stand_ins(strengths)
    # Copies, so that nobody's template keeps in memory what was read beside it.
    return [PatchSpans(own[i].copy(), samples[i].copy(), shared) for i in range(n)]


def _check_finite(numbers: Any) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError("a damaged template with numbers that are not finite")
