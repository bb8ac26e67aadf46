"""Faces -> templates, and faces -> evidence: all that a gallery computes, under one set of settings."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from lightproof.cohort import cohort_faces
from lightproof.errors import BadParameter
from lightproof.evidence import (
    Evidence,
    check_comparable,
    evidence_map,
    evidence_of,
    mean_evidence,
    usual_closeness,
)
from lightproof.features import PatchRCDT
from lightproof.images import Images, refuse_blank
from lightproof.people import People, spans_of_photos
from lightproof.settings import FEATURE_SETTINGS, PRESETS, check_settings, plain
from lightproof.subspaces import PatchSpans, SharedSpan
from lightproof.types import Floats

TOGETHER: Final = 6
"""Directions of several photos that are joined at once: so many are joined fast."""

ANYBODY: Final = 20
"""Rendered people who tell how near just anybody comes to a template of several photos."""

COMPARABLE: Final = tuple(name for name, preset in PRESETS.items() if preset["aggregate"] == "bounded")
"""Presets that a gallery can use."""


class Matcher:
    """Makes templates and compares.

    Parameters
    ----------
    settings : dict
        Every setting of a preset; ``aggregate`` must be ``"bounded"``, ``size`` a size.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        check_settings("Gallery", settings)
        check_comparable("Gallery", settings)
        self.settings = plain(settings)
        self.extractor = PatchRCDT(**{name: self.settings[name] for name in FEATURE_SETTINGS})
        self.extractor.lay_grid(self.settings["size"])
        self.shared = SharedSpan.of(self.extractor.translation_)

    @cached_property
    def cohort(self) -> People:
        """The rendered people, enrolled under these settings."""
        spans = self.templates(cohort_faces())
        return self.everybody({f"rendered {i:02d}": span for i, span in enumerate(spans)})

    def templates(self, faces: Images) -> list[PatchSpans]:
        """Make the template of each face alone."""
        refuse_blank(self.extractor.check(faces))
        return spans_of_photos(self.extractor, self.shared, faces, self.settings)

    def joined(self, templates: Sequence[PatchSpans]) -> PatchSpans:
        """Make one template of those of several photos of a person.

        A span of several photos is nearer to everybody, strangers too, than the span of one. By how much is found out
        with rendered people, who are certainly somebody else, and kept as the template's level: the evidence for the
        person is lowered by it, so that nobody is easier to be taken for because they have more photos.
        """
        if len(templates) == 1:
            return templates[0]
        dtype = self.settings["dtype"]
        # Of many photos the strongest directions will do: they differ more among each other than from their copies.
        each = max(1, TOGETHER // len(templates))
        samples = np.concatenate([template.samples()[:, :each] for template in templates], axis=1).astype(dtype)
        nobody = People(self.settings, self.shared, {})
        span = nobody.adding("", samples.transpose(1, 0, 2)[:, None]).spans[""]
        vectors, usual = self._anybody
        evidence = mean_evidence(vectors, self.everybody(dict(enumerate([span, *templates]))), usual)
        return replace(span, level=float(evidence[0] - evidence[1:].mean()))

    @cached_property
    def _anybody(self) -> tuple[Floats, Floats]:
        """Features of some rendered people, and how close just anybody is to them."""
        vectors = self.vectors(cohort_faces()[:ANYBODY])
        return vectors, usual_closeness(vectors, self.cohort)

    def everybody(self, templates: Mapping[Hashable, PatchSpans]) -> People:
        """Lay out everybody's templates for answers, in the order they come."""
        return People(self.settings, self.shared, dict(templates))

    def vectors(self, faces: Images) -> Floats:
        """Features of faces to be compared, shape (n, K, D)."""
        refuse_blank(self.extractor.check(faces))
        return self.extractor.patch_vectors(faces)

    def evidence(self, vectors: Floats, people: People) -> Evidence:
        """What faces say for each person; see :func:`lightproof.evidence.evidence_of`."""
        return evidence_of(vectors, people, self.cohort)

    def evidence_map(self, vector: Floats, people: People) -> Evidence:
        """What each patch of one face says; see :func:`lightproof.evidence.evidence_map`."""
        return evidence_map(vector, people, self.cohort)


def preset_settings(preset: str) -> dict[str, Any]:
    """Return the settings of a preset that a gallery can use."""
    if preset not in COMPARABLE:
        raise BadParameter("Gallery", "preset", f"one of {', '.join(map(repr, COMPARABLE))}", preset)
    return PRESETS[preset]


@lru_cache(maxsize=4)
def matcher_of(settings: str) -> Matcher:
    """Return the matcher for settings written as JSON; it is made once, for the rendered people cost some time."""
    read = json.loads(settings)
    return Matcher(read | {"size": tuple(read["size"])})
