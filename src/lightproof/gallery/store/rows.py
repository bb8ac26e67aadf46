"""Plain data -> rows of the tables, checked: what goes in must come out again from either database."""

from __future__ import annotations

from types import UnionType
from typing import Any

from lightproof.errors import BadParameter
from lightproof.gallery.store.person_names import check_name, storable
from lightproof.gallery.store.records import NewPhoto, Refusal
from lightproof.gallery.store.schema import now

_PHOTO: dict[str, type | UnionType] = {
    "hash": str,
    "parameters": str,
    "template": bytes,
    "source": str | None,
    "folder": str | None,
    "light": str | None,
    "face": bytes | None,
    "code": bytes | None,
}
_REFUSAL: dict[str, type | UnionType] = {
    "hash": str,
    "person": str | None,
    "source": str,
    "folder": str | None,
    "parameters": str,
    "reason": str,
    "added": str,
}


def photo_row(photo: NewPhoto) -> dict[str, Any]:
    """All of a photo but whose it is; its code goes into a table of its own."""
    return _row(photo, _PHOTO)


def refusal_row(refusal: Refusal) -> dict[str, Any]:
    """All of a refusal, with the present time if it has none."""
    row = _row(refusal, _REFUSAL)
    person = None if refusal.person is None else check_name(refusal.person)
    return {**row, "person": person, "added": refusal.added or now()}


def check_kind(owner: str, name: str, value: object, kind: type | UnionType) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise BadParameter(owner, name, f"of type {getattr(kind, '__name__', kind)}", value)


def _row(record: NewPhoto | Refusal, kinds: dict[str, type | UnionType]) -> dict[str, Any]:
    row = {}
    for field, kind in kinds.items():
        value = getattr(record, field)
        check_kind(type(record).__name__, field, value, kind)
        row[field] = storable(value) if isinstance(value, str) else value
    return row
