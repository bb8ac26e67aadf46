"""How a gallery writes down its settings and templates, and reads them back."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Final

import numpy as np

from lightproof.errors import BadGallery, UserError
from lightproof.gallery.store import Change, Store
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.templates import Template
from lightproof.method.presets import GALLERIES, GallerySettings
from lightproof.method.subspaces import PatchSpans, SharedSpan, stand_ins
from lightproof.types import Array

RECIPE_VERSION: Final = 3
"""Raised whenever the same photo and settings would make another template: old ones are then never compared."""

LEVEL_BYTES: Final = 4
"""Bytes of the level, before everything else."""

HEAD_BYTES: Final = 12
"""Bytes before the directions of a view: three numbers for their shape."""

UNFINISHED: Final = "one that nobody has finished making"


def settings_json(settings: Mapping[str, Any]) -> str:
    """Write settings as JSON; equal settings give equal text."""
    return json.dumps(dict(settings), sort_keys=True)


def parameters_of(settings: Mapping[str, Any]) -> str:
    """Return a hash of all that decides a template."""
    return hashlib.sha256(f"{RECIPE_VERSION} {settings_json(settings)}".encode()).hexdigest()


def preset_of(settings: GallerySettings) -> str | None:
    """Return the name of settings, if they have one."""
    return next((name for name, each in GALLERIES.items() if each == settings), None)


def has_settings(place: str | PathLike[str], timeout: float) -> bool:
    """Tell whether a gallery is there; none is made."""
    if not Store.exists(place, timeout=timeout):
        return False
    with Store.open(place, create=False, timeout=timeout) as store:
        return "settings" in store.facts()


def write_new(store: Store, preset: str, keep: bool) -> None:
    """Write the settings of a new gallery, unless somebody else was faster."""
    with store.writing() as change:
        if "settings" not in change.facts():
            write_preset(change, preset)
            change.set_fact("keep", "yes" if keep else "no")


def write_preset(change: Change, preset: str) -> None:
    """Write the settings that templates are made with."""
    settings = preset_settings(preset)
    change.set_fact("settings", settings_json(settings))
    change.set_fact("parameters", parameters_of(settings))
    # A later version has other settings by the same name: the name tells it what to rebuild the templates with.
    change.set_fact("preset", preset)


def read_settings(store: Store, preset: str | None, keep: bool | None) -> tuple[GallerySettings, bool]:
    """Read the settings of a gallery, and whether it keeps photos; refuse other ones than those wanted, if any are."""
    facts, place = store.facts(), store.place
    try:
        read = json.loads(facts["settings"])
        read["size"] = tuple(read["size"])
        if facts.get("parameters") != parameters_of(read):
            raise BadGallery(place, "templates of another version (see: lightproof rebuild)")
        # Settings that no gallery can have are refused here, not at the first question.
        settings = GallerySettings.checked("Gallery", read)
    except BadGallery:
        raise
    except (KeyError, TypeError, ValueError, RecursionError, UserError):
        raise BadGallery(place, "settings that cannot be read (see: lightproof rebuild)") from None
    kept = facts.get("keep") == "yes"
    if preset is not None and preset_settings(preset) != settings:
        own = preset_of(settings) or "other settings"
        raise BadGallery(place, f"one made with {own!r}, not {preset!r} (see: lightproof rebuild)")
    if keep is not None and keep != kept:
        raise BadGallery(place, f"one that {'keeps' if kept else 'does not keep'} photos")
    return settings, kept


def encode_template(template: Template) -> bytes:
    """Write a template: its level, and for each view the directions in whole numbers, then their strengths."""
    return struct.pack("<f", template.level) + b"".join(map(_encode_spans, template.spans))


def _encode_spans(spans: PatchSpans) -> bytes:
    strengths = np.diagonal(spans.coordinates, axis1=1, axis2=2)
    shape = struct.pack("<3I", *spans.own.shape)
    return shape + spans.own.astype("i1", copy=False).tobytes() + strengths.astype("<f2", copy=False).tobytes()


def decode_template(encoded: bytes, matcher: Matcher, place: str) -> Template:
    """Read what :func:`encode_template` wrote; see :func:`decode_templates`."""
    return decode_templates([encoded], matcher, place)[0]


def decode_templates(encoded: Sequence[bytes], matcher: Matcher, place: str) -> list[Template]:
    """Read what :func:`encode_template` wrote under a matcher's settings; messages name the place of the gallery."""
    # Templates of the same length and shape are read together.
    groups: dict[tuple[int, bytes], list[int]] = {}
    for i, each in enumerate(encoded):
        groups.setdefault((len(each), each[LEVEL_BYTES : LEVEL_BYTES + HEAD_BYTES]), []).append(i)
    templates: dict[int, Template] = {}
    for group in groups.values():
        templates |= zip(group, _decode_group([encoded[i] for i in group], matcher, place), strict=True)
    return [templates[i] for i in range(len(encoded))]


def _decode_group(encoded: Sequence[bytes], matcher: Matcher, place: str) -> Iterable[Template]:
    rows = np.frombuffer(b"".join(encoded), np.uint8).reshape(len(encoded), -1)
    views, start, n_patches = [], LEVEL_BYTES, matcher.extractor.grid_.n_patches
    for view, spec in zip(matcher.views, matcher.view_specs, strict=True):
        heads = rows[:, start : start + HEAD_BYTES]
        K, r, D = heads[0].copy().view("<u4").tolist() if heads.shape[1] == HEAD_BYTES else (0, 0, 0)
        end = start + HEAD_BYTES + K * r * (D + 2)
        legal = (n_patches, view.n_numbers) == (K, D) and 0 < r <= int(spec.settings.components)
        if not legal or end > rows.shape[1] or (heads != heads[0]).any():
            raise BadGallery(place, f"a damaged template of {rows.shape[1]} bytes")
        views.append(_decode_spans(rows[:, start + HEAD_BYTES : end], (K, r, D), spec.shared, place))
        start = end
    if start != rows.shape[1]:
        raise BadGallery(place, f"a damaged template of {rows.shape[1]} bytes")
    levels = rows[:, :LEVEL_BYTES].copy().view("<f4")[:, 0]
    _check_finite(levels, place)
    return map(Template, zip(*views, strict=True), levels.tolist())


def _decode_spans(rows: Array, shape: tuple[int, int, int], shared: SharedSpan, place: str) -> list[PatchSpans]:
    """Read the directions of many people in one view, then their strengths."""
    (K, r, D), n = shape, len(rows)
    own = rows[:, : K * r * D].view(np.int8).reshape(n, *shape)
    strengths = rows[:, K * r * D :].copy().view("<f2").reshape(n, K, r).astype(np.float16)
    _check_finite(strengths, place)
    samples = stand_ins(strengths)
    return [PatchSpans(own[i], samples[i], shared) for i in range(n)]


def _check_finite(numbers: Any, place: str) -> None:
    if not np.isfinite(numbers).all():
        raise BadGallery(place, "a damaged template with numbers that are not finite")
