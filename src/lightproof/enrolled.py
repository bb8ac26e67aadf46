"""What a gallery keeps of a person, and everybody who is enrolled, laid out for answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

import numpy as np

from lightproof.people import People
from lightproof.subspaces import PatchSpans, SharedSpan
from lightproof.types import Floats, Ints

FRONT: Final = ((0.0, 0.0),)


@dataclass(frozen=True, eq=False)
class Template:
    """What is kept of one person.

    Attributes
    ----------
    spans : tuple of PatchSpans
        Of the photos, one for each view of them: which gradients a patch holds, and where in it they lie.
    level : float
        How much nearer just anybody comes to it than to a single photo, in evidence: see
        :meth:`lightproof.matcher.Matcher.joined`. 0 for one photo.
    lights : tuple of (azimuth, elevation)
        Where the light of each photo came from, in degrees; photos that do not tell are left out.
    """

    spans: tuple[PatchSpans, ...]
    level: float = 0.0
    lights: tuple[tuple[float, float], ...] = ()


class Layout(NamedTuple):
    """How the spans of one view are compared: its settings, and what is in everybody's span."""

    settings: dict[str, Any]
    shared: SharedSpan


@dataclass(frozen=True, eq=False)
class Enrolled:
    """Everybody, in order. Never changed: adding or removing somebody makes another.

    Attributes
    ----------
    layouts : sequence of Layout
        One for each view.
    templates : dict of label to Template
    """

    layouts: Sequence[Layout]
    templates: dict[Hashable, Template]

    def __len__(self) -> int:
        return len(self.templates)

    @property
    def names(self) -> list[Hashable]:
        """Whose templates they are."""
        return list(self.templates)

    @cached_property
    def views(self) -> tuple[People, ...]:
        """Everybody's spans in each view."""
        return tuple(
            People(*layout, {name: template.spans[i] for name, template in self.templates.items()})
            for i, layout in enumerate(self.layouts)
        )

    @cached_property
    def levels(self) -> Floats:
        """How much nearer just anybody comes to each person's template than to a single photo, shape (C,)."""
        return np.array([template.level for template in self.templates.values()], np.float32)

    @cached_property
    def lights(self) -> Floats:
        """Azimuth and elevation of the light on everybody's photos, one person after the other, shape (at least C, 2).

        Whose photos do not tell counts as lit from the front, as most are.
        """
        return np.array([light for each in self.templates.values() for light in each.lights or FRONT], float)

    @cached_property
    def first_lights(self) -> Ints:
        """Place of each person's first light, shape (C,)."""
        counts = [len(each.lights or FRONT) for each in self.templates.values()]
        return np.cumsum([0, *counts[:-1]])

    def removing(self, name: Hashable) -> Self:
        """Remove one person."""
        return replace(self, templates={one: kept for one, kept in self.templates.items() if one != name})
