"""The engine of galleries behind :class:`lightproof.FaceRecognizer`: the presets ``robust`` and ``fast``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from lightproof.core.images import check_images, refuse_blank
from lightproof.core.labels import check_labels, sort_labels
from lightproof.errors import BadModelFile
from lightproof.estimators.model_file import Arrays
from lightproof.imaging.detection import AlignedFace, Portrait, align_crop, portraits_of
from lightproof.matching.matcher import Matcher
from lightproof.matching.template_codec import decode_templates, encode_template, parameters_of
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.patches import PatchGrid
from lightproof.types import Floats

FACES_PER_BLOCK: Final = 32
"""Arrays that get their meshes together: memory stays bounded."""


@dataclass(frozen=True, eq=False)
class EngineModel:
    """The enrolled people. Immutable: adding or removing a person makes a new one.

    ``photos`` has the templates of everybody's photos, in the order of the labels.
    """

    matcher: Matcher
    photos: dict[Hashable, list[Template]]

    @classmethod
    def fit(cls, matcher: Matcher, X: Any, y: Any, cropped: bool) -> Self:
        """Enroll everybody in ``y``."""
        templates = _templates(matcher, X, cropped)
        photos: dict[Hashable, list[Template]] = {}
        for label, template in zip(check_labels(y, len(templates)), templates, strict=True):
            photos.setdefault(label, []).append(template)
        model = cls(matcher, {label: photos[label] for label in sort_labels(photos)})
        _ = model.people.views  # laid out now, so that the first answer is not slow
        return model

    @cached_property
    def people(self) -> TemplateSet:
        """The templates of the people, laid out for comparison."""
        joined = self.matcher.joined_people(list(self.photos.values()))
        return self.matcher.template_set(dict(zip(self.photos, joined, strict=True)))

    def adding(self, label: Hashable, X: Any, cropped: bool) -> Self:
        """Add photos of one person, new or known."""
        new = [*self.photos.get(label, []), *_templates(self.matcher, X, cropped)]
        photos = self.photos | {label: new}
        return replace(self, photos={name: photos[name] for name in sort_labels(photos)})

    def removing(self, label: Hashable) -> Self:
        """Remove one person."""
        return replace(self, photos={name: own for name, own in self.photos.items() if name != label})

    def distances(self, X: Any, cropped: bool) -> Floats:
        """How far each person is from a perfect match, shape (n, C)."""
        return np.concatenate([self.matcher.distances(faces, self.people) for faces in faces_of(X, cropped)])

    def patches(self, X: Any, cropped: bool) -> Iterator[tuple[Floats, Floats]]:
        """Yield for each image how far each patch is from each person, and what it adds to distances, (K, 1, C)."""
        for faces in faces_of(X, cropped):
            for face in faces:
                _, maps = self.matcher.compare_map(face, self.people)
                assert maps.scores.distances is not None
                added = (maps.perfect[:, None] - maps.scores.people) / len(maps.perfect)
                yield maps.scores.distances[:, None], added[:, None]

    @property
    def labels(self) -> list[Hashable]:
        """The enrolled people, in order."""
        return list(self.photos)

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting."""
        return self.matcher.settings.as_dict()

    @property
    def grid(self) -> PatchGrid:
        """The finest patches."""
        return self.matcher.grid

    @property
    def with_mesh(self) -> dict[Hashable, bool]:
        """Whether all photos of each person have a mesh."""
        return {label: all(template.has_mesh for template in own) for label, own in self.photos.items()}

    def saved(self) -> tuple[dict[str, Any], dict[Hashable, Arrays]]:
        """Return what a file keeps: facts, and the templates of everybody's photos."""
        encoded = {label: [encode_template(template) for template in own] for label, own in self.photos.items()}
        arrays: dict[Hashable, Arrays] = {
            label: {
                "templates": np.frombuffer(b"".join(own), np.uint8),
                "lengths": np.array([len(each) for each in own], np.int64),
            }
            for label, own in encoded.items()
        }
        return {"settings": self.settings, "parameters": parameters_of(self.matcher.settings)}, arrays

    @classmethod
    def loaded(cls, matcher: Matcher, facts: dict[str, Any], arrays: dict[Hashable, Arrays], path: Path) -> Self:
        """Read what :meth:`saved` returned."""
        if facts["parameters"] != parameters_of(matcher.settings):
            raise BadModelFile(path, "templates of another version")
        photos: dict[Hashable, list[Template]] = {}
        for label, own in arrays.items():
            lengths, contents = own["lengths"], own["templates"]
            whole = lengths.ndim == contents.ndim == 1 and lengths.dtype == np.int64 and contents.dtype == np.uint8
            if not whole or not len(lengths) or (lengths <= 0).any() or lengths.sum() != len(contents):
                raise BadModelFile(path, "templates that are cut off")
            encoded = [part.tobytes() for part in np.split(contents, np.cumsum(lengths)[:-1])]
            try:
                photos[label] = decode_templates(encoded, matcher.views)
            except ValueError as problem:
                raise BadModelFile(path, str(problem)) from None
        return cls(matcher, photos)


def _templates(matcher: Matcher, X: Any, cropped: bool) -> list[Template]:
    return [template for faces in faces_of(X, cropped) for template in matcher.templates(faces)]


def faces_of(X: Any, cropped: bool) -> Iterator[list[AlignedFace]]:
    """Yield pictures as they are compared, some at a time; arrays are faces already, and get their meshes here.

    Everything is checked before the first is yielded.
    """
    if isinstance(X, Sequence | np.ndarray) and len(X) and isinstance(X[0], AlignedFace):
        yield list(X)
        return
    pictures = portraits_of(X, cropped)
    found = {i: each for i, each in enumerate(pictures) if isinstance(each, Portrait)} if pictures is not X else {}
    images = check_images(
        [found[i].image if i in found else each for i, each in enumerate(pictures)] if found else X, unit=True
    )
    refuse_blank(images)
    for start in range(0, len(images), FACES_PER_BLOCK):
        block = range(start, min(start + FACES_PER_BLOCK, len(images)))
        yield [found[i].aligned if i in found else align_crop(images[i]) for i in block]
