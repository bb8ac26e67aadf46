"""A template as bytes, and the parameters it was made with."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np

from lightproof.errors import BadGallery
from lightproof.matcher import Matcher
from lightproof.subspaces import PatchSpans

RECIPE: Final = 1
"""Raised whenever the same photo and settings would make another template: old ones are then never compared."""


HEAD: Final = 16
"""Bytes before the directions: three numbers for the shape, one for the level."""


def written(settings: dict[str, Any]) -> str:
    """Write settings down, the same ones always alike."""
    return json.dumps(settings, sort_keys=True)


def parameters_of(settings: dict[str, Any]) -> str:
    """Sum up all that decides a template."""
    return hashlib.sha256(f"{RECIPE} {written(settings)}".encode()).hexdigest()


def encode(template: PatchSpans) -> bytes:
    """Write a template of whole numbers: the directions, then how strong each is."""
    strengths = np.diagonal(template.coordinates, axis1=1, axis2=2)
    shape = np.array(template.own.shape, "<u4").tobytes()
    return (
        shape
        + np.array(template.level, "<f4").tobytes()
        + template.own.astype("i1").tobytes()
        + strengths.astype("<f2").tobytes()
    )


def decode(written: bytes, matcher: Matcher, place: str) -> PatchSpans:
    """Read what :func:`encode` wrote.

    Parameters
    ----------
    written : bytes
    matcher : Matcher
        Whose settings the template must have.
    place : str
        The gallery, for the message.
    """
    patches, numbers = matcher.extractor.grid_.n_patches, matcher.extractor.translation_.shape[1]
    K, r, D = np.frombuffer(written[:12], "<u4").tolist() if len(written) >= HEAD else (0, 0, 0)
    whole = HEAD + K * r * D + 2 * K * r
    if (patches, numbers) != (K, D) or not 0 < r <= matcher.settings["components"] or len(written) != whole:
        raise BadGallery(place, f"a damaged template of {len(written)} bytes")
    level = float(np.frombuffer(written, "<f4", 1, 12)[0])
    own = np.frombuffer(written, np.int8, K * r * D, HEAD).reshape(K, r, D)
    strengths = np.frombuffer(written, "<f2", K * r, HEAD + K * r * D).reshape(K, r).astype(np.float16)
    if not (np.isfinite(strengths).all() and np.isfinite(level)):
        raise BadGallery(place, "a damaged template with numbers that are not finite")
    return PatchSpans(own, strengths[:, :, None] * np.eye(r, dtype=np.float16), matcher.shared, level)
