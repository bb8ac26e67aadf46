"""Features, fit and identify at 64 x 64, cell 4, overlap 1, 4 angles, against the textbook loop."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np

from benchmarks import textbook
from lightproof import FaceRecognizer, PatchRCDT
from lightproof.datasets import make_relit_faces
from lightproof.datasets.protocols import yale_test_2
from lightproof.estimators.paper_model import PaperModel
from lightproof.method.aggregate import combine
from lightproof.method.subspace_bank import residuals
from lightproof.types import Array

LIGHTS = ((0, 0), (20, 10), (50, 0), (-70, 0))


class Faces:
    """Rendered people, one frontal photo each enrolled; everything a benchmark needs."""

    def __init__(self, n_people: int = 38, n_probes: int = 128, progress: Any = iter) -> None:
        faces = make_relit_faces(n_people, LIGHTS, size=(64, 64), progress=progress)
        split = yale_test_2(0).split(faces)
        probes = np.concatenate(list(split.probes.values()))
        self.gallery = (faces.images[split.gallery] / 255.0).astype(np.float32)
        self.names = faces.labels[split.gallery]
        repeated = np.resize(probes, n_probes)
        self.probes = (faces.images[repeated] / 255.0).astype(np.float32)
        self.truth = faces.labels[repeated]
        # Both are judged on every third probe: the loop is slow.
        self.judged = slice(0, n_probes, 3)


class Ours:
    """The package in the authors' preset, which is what the textbook loop does; many images at a time."""

    def setup(self, faces: Faces) -> None:
        self.faces = faces
        self.extractor = PatchRCDT().fit(faces.gallery)
        self.recognizer = FaceRecognizer("authors").fit(faces.gallery, faces.names)
        self.vectors = self.extractor.patch_vectors(faces.probes)
        self.n_features, self.n_identify = len(faces.probes), len(faces.probes)

    def time_features(self) -> None:
        self.extractor.patch_vectors(self.faces.probes)

    def time_fit(self) -> None:
        FaceRecognizer("authors").fit(self.faces.gallery, self.faces.names)

    def time_identify(self) -> Array:
        """Features excluded, as in the textbook's turn."""
        model = self.recognizer._model
        assert isinstance(model, PaperModel)
        stack = model.people.stack
        blocks = np.array_split(self.vectors, max(1, len(self.vectors) // 32))
        return np.concatenate([combine(residuals(block, stack), "normalized").argmin(axis=1) for block in blocks])

    def track_accuracy(self) -> float:
        return self.recognizer.score(self.faces.probes[self.faces.judged], self.faces.truth[self.faces.judged])

    def peakmem_identify(self) -> int:
        """Most bytes held at once while 10,000 faces are identified, the faces themselves not counted."""
        many = np.resize((255 * self.faces.probes).astype(np.uint8), (10_000, *self.faces.probes.shape[1:]))
        tracemalloc.start()
        self.recognizer.predict(many)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak


class Textbook:
    """The loop, on a few images."""

    n_features, n_identify = 4, 4

    def setup(self, faces: Faces) -> None:
        self.faces = faces
        self.images = faces.probes.astype(np.float64)
        self.bases = textbook.fit(self._gallery())
        self.vectors = [textbook.features(image) for image in self.images[: self.n_identify]]

    def _gallery(self) -> dict[str, list[list[Array]]]:
        images = self.faces.gallery.astype(np.float64)
        return {str(name): [textbook.features(image)] for name, image in zip(self.faces.names, images, strict=True)}

    def time_features(self) -> None:
        for image in self.images[: self.n_features]:
            textbook.features(image)

    def time_fit(self) -> None:
        """Features included, as in ours."""
        textbook.fit(self._gallery())

    def time_identify(self) -> list[Any]:
        return [textbook.identify(vectors, self.bases) for vectors in self.vectors]

    def track_accuracy(self) -> float:
        named = [textbook.identify(textbook.features(image), self.bases) for image in self.images[self.faces.judged]]
        return float(np.mean(np.array(named) == self.faces.truth[self.faces.judged]))
