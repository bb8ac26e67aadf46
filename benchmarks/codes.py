"""How well binary codes separate people, beside the exact score: python -m benchmarks.codes CroppedYale [PRESET].

Everybody is enrolled with the frontal photo; the photos in all other lights are probes. For each probe: by how many
standard deviations of the others the right person is ahead of their mean. Codes are those of photos as they lie; the
exact score is that of the best warps. The number of bits was chosen on people with odd numbers; people with even
numbers are shown beside.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from lightproof.core.report_parts import TextTable
from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import has_odd_number
from lightproof.experiments.measure import take_aligned
from lightproof.experiments.reproduction_report import markdown
from lightproof.matching.binary_codes import BITS_PER_WORD, hamming_distances, in_blocks, least_distances, split_codes
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.types import Array, Floats

LIGHTS = ((0, 25), (25, 50), (50, 180))
SHARES = (1, 5, 50)
FACES = 8
SCAN, PREFILTER, RERANK = "coarse scan", "prefilter", "rerank"


def ahead(scores: Floats, right: Array) -> Floats:
    """By how many standard deviations of the others the right person is ahead of their mean, (n, C) -> (n,)."""
    rows = np.arange(len(scores))
    others = scores.astype(float).copy()
    others[rows, right] = np.nan
    return np.asarray((scores[rows, right] - np.nanmean(others, axis=1)) / np.nanstd(others, axis=1))


def measure(faces: FaceSet, preset: str) -> Iterator[list[str]]:
    """Yield the lines of the table for some people."""
    matcher = Matcher(preset_settings(preset))
    frontal = (faces.azimuths == 0) & (faces.elevations == 0)
    names = faces.labels[frontal].tolist()
    aligned = take_aligned(faces, "full")
    templates = matcher.templates(aligned[frontal])
    people, encoder = matcher.template_set(dict(zip(names, templates, strict=True))), matcher.encoder
    codes = encoder.encode_templates(templates)
    blocks, rest = in_blocks(codes[:, : encoder.n_first]), codes[:, encoder.n_first :].copy()
    coarse_scan = in_blocks(split_codes(codes, encoder.n_first)[0])
    asked = np.flatnonzero(~frontal)
    right = np.array([names.index(label) for label in faces.labels[asked]])
    looks: dict[str, list[Array]] = {SCAN: [], PREFILTER: [], RERANK: [], "exact score": []}
    for start in range(0, len(asked), FACES):
        query = matcher.probes(aligned[asked[start : start + FACES]])
        for bits in encoder.encode_probes(query):
            seen, n = split_codes(bits[0], encoder.n_first)[0], len(codes)
            looks[SCAN].append(-hamming_distances(coarse_scan, seen, n)[0].astype(float))
            looks[PREFILTER].append(-hamming_distances(blocks, bits[0, : encoder.n_first], n)[0].astype(float))
            looks[RERANK].append(-least_distances(blocks, rest, np.arange(n), bits).astype(float))
        looks["exact score"] += list(matcher.score_probes(query, people).people)
    azimuth, elevation = (np.radians(angles[asked]) for angles in (faces.azimuths, faces.elevations))
    angle = np.degrees(np.arccos(np.clip(np.cos(azimuth) * np.cos(elevation), -1, 1)))
    n_bits = {
        SCAN: BITS_PER_WORD * coarse_scan.shape[1],
        PREFILTER: BITS_PER_WORD * encoder.n_first,
        RERANK: BITS_PER_WORD * encoder.n_words,
    }
    for name, scores in looks.items():
        lead = ahead(np.array(scores), right)
        cells = [np.percentile(lead[(angle > low) & (angle <= high)], SHARES) for low, high in LIGHTS]
        yield [name, f"{n_bits[name]:,}" if name in n_bits else "", *(" / ".join(f"{x:.1f}" for x in c) for c in cells)]


def main() -> None:
    """Print a table for each half of the people."""
    faces = load_yale_b(sys.argv[1])
    preset = sys.argv[2] if len(sys.argv) > 2 else "fast"
    odd = np.array([has_odd_number(str(label)) for label in faces.labels])
    head = [preset, "bits", *(f"light {low} to {high} degrees" for low, high in LIGHTS)]
    for name, some in (("odd numbers", odd), ("even numbers", ~odd)):
        print(markdown(TextTable(f"Standard deviations ahead, {name}", head, list(measure(faces.take(some), preset)))))


if __name__ == "__main__":
    main()
