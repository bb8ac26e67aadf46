"""The paper's own estimator behind :class:`lightproof.FaceRecognizer`: the presets ``authors`` and ``paper``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from lightproof.core.images import Images, refuse_blank
from lightproof.core.labels import check_labels
from lightproof.errors import BadModelFile
from lightproof.estimators.model_file import Arrays
from lightproof.estimators.subspace_model import PROBES_PER_BLOCK, People, validated_components
from lightproof.imaging.detection import pictures_of
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import FIXED_COMPONENTS, PAPER_PRESETS, MethodSettings, check_parameter
from lightproof.method.rcdt import PatchRCDTExtractor, check_for, shape_for
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.types import Floats


@dataclass(frozen=True, eq=False)
class PaperModel:
    """The enrolled people, and what makes features. Immutable: adding or removing a person makes a new one."""

    extractor: PatchRCDTExtractor
    people: People

    @classmethod
    def fit(cls, X: Any, y: Any, settings: MethodSettings, *, cropped: bool, seed: int) -> Self:
        """Enroll everybody in ``y``."""
        images = check_for(pictures_of(X, cropped), settings)
        extractor = PatchRCDTExtractor(settings, shape_for(images, settings))
        if settings.size == "as-is":
            extractor.refuse_other_sizes(images)
        refuse_blank(images)
        labels = check_labels(y, len(images))
        vectors = extractor.enrolled_vectors(images, settings.copies, settings.deformations)
        shared = SharedSpan.of(extractor.translation_)
        if settings.components == "validate":
            count = validated_components(vectors, labels, shared, settings, seed)
            settings = replace(settings, components=count)
        people = People.of(vectors, labels, shared, settings)
        _ = people.stack  # laid out now, so that the first answer is not slow
        return cls(extractor, people)

    @property
    def labels(self) -> list[Hashable]:
        """The enrolled people, in order."""
        return list(self.people.spans)

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting."""
        return dict(self.people.settings)

    @property
    def grid(self) -> PatchGrid:
        """The patches."""
        return self.extractor.grid_

    @property
    def with_mesh(self) -> dict[Hashable, bool]:
        """Nobody's photos have a mesh here."""
        return dict.fromkeys(self.people.spans, False)

    def adding(self, label: Hashable, X: Any, cropped: bool) -> Self:
        """Add photos of one person, new or known."""
        images = self.extractor.check(pictures_of(X, cropped))
        refuse_blank(images)
        settings = self.people.settings
        vectors = self.extractor.enrolled_vectors(images, settings.copies, settings.deformations)
        return replace(self, people=self.people.adding(label, vectors))

    def removing(self, label: Hashable) -> Self:
        """Remove one person."""
        return replace(self, people=self.people.removing(label))

    def distances(self, X: Any, cropped: bool) -> Floats:
        """Distance of each image to each person, shape (n, C)."""
        return np.concatenate([added.sum(axis=0) for _, added in self.patches(X, cropped)])

    def patches(self, X: Any, cropped: bool) -> Iterator[tuple[Floats, Floats]]:
        """Yield the distances of the patches of a block of images, and what each adds, both (K, b, C)."""
        images: Images = self.extractor.check(pictures_of(X, cropped))
        refuse_blank(images)
        for start in range(0, len(images), PROBES_PER_BLOCK):
            pictures = self.extractor.unlit(images[start : start + PROBES_PER_BLOCK])
            distances = self.people.distances(self.extractor.describe(pictures))
            yield distances, self.people.contributions(distances)

    def saved(self) -> tuple[dict[str, Any], dict[Hashable, Arrays]]:
        """Return what a file keeps: facts, and arrays of each person."""
        spans = {label: {"own": s.own, "coordinates": s.coordinates} for label, s in self.people.spans.items()}
        return {"settings": self.settings, "shape": [self.grid.height, self.grid.width]}, spans

    @classmethod
    def loaded(cls, facts: dict[str, Any], arrays: dict[Hashable, Arrays], path: Path) -> Self:
        """Read what :meth:`saved` returned."""
        owner = "FaceRecognizer"
        for label, own in arrays.items():
            _check_spans(own, label, path)
        values = {name: facts["settings"][name] for name in PAPER_PRESETS["authors"]}
        settings = MethodSettings.checked(owner, values)
        check_parameter(owner, "components", settings.components, FIXED_COMPONENTS)
        # Checked before anything of that length is made: a header may ask for any number of angles.
        n_numbers = settings.n_angles * (settings.detail if isinstance(settings.detail, int) else settings.cell**2)
        if any(own["own"].shape[2] != n_numbers for own in arrays.values()):
            raise BadModelFile(path, "arrays of other patches than the settings ask for")
        extractor = PatchRCDTExtractor(settings, facts["shape"])
        shared, spans = SharedSpan.of(extractor.translation_), {}
        kind = settings.dtype if settings.storage == "float" else settings.storage
        for label, own in arrays.items():
            directions, coordinates = own["own"], own["coordinates"]
            fits = directions.shape[::2] == (extractor.grid_.n_patches, extractor.n_numbers)
            if not fits or coordinates.shape[2] != len(shared.vectors) + directions.shape[1]:
                raise BadModelFile(path, f"arrays of other patches than the settings ask for, for {label!r}")
            if directions.dtype != np.dtype(kind):
                raise BadModelFile(path, f"{directions.dtype} numbers where the settings say {kind}")
            spans[label] = PatchSpans(directions, coordinates, shared)
        return cls(extractor, People(settings, shared, spans))


def _check_spans(arrays: Arrays, label: Hashable, path: Path) -> None:
    own, coordinates = arrays["own"], arrays["coordinates"]
    fits = own.ndim == coordinates.ndim == 3 and own.shape[0] == coordinates.shape[0]
    # Whole numbers go with half precision, floats with double.
    dtype = np.float16 if own.dtype == np.int8 else np.float64 if own.dtype.kind == "f" else None
    if not fits or own.shape[1] > coordinates.shape[2] or coordinates.dtype != dtype:
        raise BadModelFile(path, f"arrays {own.shape} and {coordinates.shape} that do not fit each other")
    if not (np.isfinite(own).all() and np.isfinite(coordinates).all()):
        raise BadModelFile(path, "numbers that are not finite")
