"""FAISS on 512 numbers a person, flat and HNSW, to compare a large gallery with.

The numbers are a seeded random projection of what a template is made of, the first direction of every patch in every
view, as float32. Needs faiss-cpu.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Final

import numpy as np

from lightproof.gallery import Gallery, crowd_name
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.matcher import Matcher
from lightproof.types import Array, Floats

NUMBERS: Final = 512
PEOPLE: Final = 2048


class Embedding:
    """Makes 512 numbers of the features of a photo, or of the first directions of a template."""

    def __init__(self, matcher: Matcher) -> None:
        rng = np.random.default_rng(0)
        size = sum(view.n_patches * view.n_numbers for view in matcher.views)
        self._matrix = rng.standard_normal((size, NUMBERS), np.float32) / np.float32(NUMBERS**0.5)

    def of(self, views: list[Floats]) -> Floats:
        """Embed vectors of any length, (n, K, D) in each view -> (n, 512), of length 1."""
        units = [view / np.maximum(np.linalg.norm(view, axis=2, keepdims=True), 1e-9) for view in views]
        flat = np.concatenate([view.reshape(len(view), -1) for view in units], axis=1)
        found = flat.astype(np.float32) @ self._matrix
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def embeddings(gallery: Gallery, embedding: Embedding) -> tuple[list[str], Floats]:
    """Embed everybody in a gallery."""
    from lightproof.gallery.codec import decode_templates

    names: list[str] = []
    found = np.empty((gallery.follow(), NUMBERS), np.float32)
    with gallery.store.reading() as view:
        numbers = sorted(view.changed(-1)[0])
        for start in range(0, len(numbers), PEOPLE):
            people = list(view.templates_of_people(numbers[start : start + PEOPLE]))
            templates = decode_templates(
                [photos[0].template for _, photos, _ in people], gallery.matcher, gallery.place
            )
            spans = zip(*(each.spans for each in templates), strict=True)
            views = [np.stack([each.own[:, 0] for each in view]).astype(np.float32) for view in spans]
            found[len(names) : len(names) + len(people)] = embedding.of(views)
            names += [person.name for person, _, _ in people]
    return names, found


def measure(place: str, images: Array, people: list[int]) -> list[dict[str, Any]]:
    """Search photos of known people with both kinds of index."""
    import faiss

    faiss.omp_set_num_threads(2)
    with Gallery.open(place, create=False) as gallery:
        embedding = Embedding(gallery.matcher)
        names, found = embeddings(gallery, embedding)
        start = time.perf_counter()
        # A question lays the mesh on an array, too; one photo after the other.
        probes = (gallery.matcher.probes([AlignedFace(image)], warps=False) for image in images)
        asked = np.concatenate([embedding.of(probe.as_it_lies()) for probe in probes])
        features = (time.perf_counter() - start) / len(images)
    right = [crowd_name(person) for person in people]
    rows = []
    graph = faiss.IndexHNSWFlat(NUMBERS, 32, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efSearch = 128
    for kind, index in (("FAISS flat", faiss.IndexFlatIP(NUMBERS)), ("FAISS HNSW", graph)):
        start = time.perf_counter()
        index.add(found)
        built = time.perf_counter() - start
        index.search(asked[:1], 1)
        seconds, hits = [], 0
        for one, name in zip(asked, right, strict=True):
            start = time.perf_counter()
            _, nearest = index.search(one[None], 1)
            seconds.append(time.perf_counter() - start + features)
            hits += names[nearest[0, 0]] == name
        rows.append(
            {
                "index": kind,
                "people": len(names),
                "p50_ms": 1e3 * float(np.median(seconds)),
                "p99_ms": 1e3 * float(np.percentile(seconds, 99)),
                "right_percent": 100 * hits / len(right),
                "built_s": built,
                "bytes_a_person": faiss.serialize_index(index).nbytes / len(names),
            }
        )
    return rows


def main() -> None:
    """Measure in a process of its own: place, a file of photos and people (npz), and a file for the rows."""
    place, asked, out = sys.argv[1:]
    with np.load(asked) as given:
        rows = measure(place, given["images"], given["people"].tolist())
    with open(out, "w") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
