"""How many examples a property is tried with."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **others: Any) -> settings:
    """Settings of a property that needs fewer or more examples than the usual 100; profiles scale it alike."""
    return settings(max_examples=max(2, count * settings.default.max_examples // 100), **others)
