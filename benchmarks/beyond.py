"""The ablation of docs/beyond.md: what each step of the paper's estimator brings, and what was tried beside it.

    python -m benchmarks.beyond path/to/CroppedYale docs/results/beyond.json

The ablation is about the parts that the engine of the presets "robust" and "fast" inherited: light, sum, copies,
cosines, weights and storage. It changes one setting of the paper's estimator after the other, up to :data:`LAST_STEP`.

Extended Yale B, Test 2, the mean over three of the 11 gallery lights. Settings were chosen on the people with odd
numbers; the even ones are what the choice is judged by. Rows that the file has already are not run again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.progress import track

from benchmarks import trials
from lightproof.core.atomic import whole_file
from lightproof.datasets import load_yale_b
from lightproof.datasets.protocols import Split
from lightproof.experiments.measure import measure, take_pictures
from lightproof.experiments.plan import YALE_EVEN, YALE_ODD
from lightproof.method.presets import PAPER_PRESETS
from lightproof.method.rcdt import SPANNED_DEFORMATIONS
from lightproof.types import Array, Floats

PEOPLE: Final = {"odd": YALE_ODD[::4], "even": YALE_EVEN[::4]}

VIEWS: Final = (("full", "by hand"), ("interior", "by hand"))

JITTERED: Final = ("full", "jittered")

LAST_STEP: Final[dict[str, Any]] = {
    "size": (96, 84),
    "light": "tan-triggs",
    "cell": 6,
    "overlap": 3,
    "detail": 5,
    "components": 3,
    "copies": "cross",
    "aggregate": "bounded",
    "weights": "length",
    "storage": "int8",
}
"""Settings of the paper's estimator after the last step."""

SMALL: Final[dict[str, Any]] = {
    "size": (72, 63),
    "light": "tan-triggs",
    "n_angles": 3,
    "cell": 4,
    "overlap": 1,
    "detail": 3,
    "components": 2,
    "copies": "cross",
    "aggregate": "bounded",
    "weights": "length",
    "storage": "int8",
}
"""The same steps on small pictures: much cheaper, for aligned faces."""


class Trial(NamedTuple):
    """A row of the ablation: settings beside those of a preset."""

    part: str
    title: str
    preset: str
    change: dict[str, Any]
    jittered: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the pictures."""
        size: tuple[int, int] = (PAPER_PRESETS[self.preset] | self.change)["size"]
        return size


def _steps() -> Iterator[Trial]:
    """From the released code to :data:`LAST_STEP`, one change after the other."""
    change: dict[str, Any] = {"light": "log"}
    yield Trial("steps", 'preset "authors" with log', "authors", dict(change))
    further: list[tuple[str, dict[str, Any]]] = [
        ("Tan & Triggs instead of log", {"light": "tan-triggs"}),
        ("angles evenly spread, translation vectors always kept", {"angle_scheme": "uniform", "span": "kept"}),
        ("a bounded sum of relative distances", {"aggregate": "bounded"}),
        ("96 x 84 pixels, cell 6, overlap 3", {"size": (96, 84), "cell": 6, "overlap": 3}),
        ("five cosines a projection", {"detail": 5}),
        ("four copies moved by a pixel, 3 components", {"copies": "cross", "components": 3}),
        ("directions in int8", {"storage": "int8"}),
    ]
    for title, more in further:
        change |= more
        yield Trial("steps", title, "authors", dict(change), jittered=title.startswith("directions"))
    yield Trial("steps", "patches weighed by their length", "paper", LAST_STEP, jittered=True)
    yield Trial("steps", "the same on 72 x 63 pixels, 3 angles, 3 cosines, 2 components", "paper", SMALL, jittered=True)


def _beside() -> Iterator[Trial]:
    """Other values, each the only change to :data:`LAST_STEP`."""
    others: list[tuple[str, dict[str, Any]]] = [
        ("all steps", {}),
        ("light: log", {"light": "log"}),
        ("light: none", {"light": "none"}),
        ("light: self-quotient", {"light": "self-quotient"}),
        ("light: local contrast", {"light": "local-contrast"}),
        ("light: Tan & Triggs, half the blur", {"light": "tan-triggs-half"}),
        ("light: Tan & Triggs, 1.5 times the blur", {"light": "tan-triggs-wide"}),
        ("sum: plain", {"aggregate": "relative-sum"}),
        ("sum: log(s + 0.001)", {"aggregate": "relative-log"}),
        ("sum: bounded, sharpness 3", {"aggregate": "bounded-3"}),
        ("sum: bounded, sharpness 12", {"aggregate": "bounded-12"}),
        ("copies: none, 1 component", {"copies": "none", "components": 1}),
        ("copies: eight moved, 4 components", {"copies": "square", "components": 4}),
        ("copies: four moved, four turned and scaled, 4 components", {"copies": "turned", "components": 4}),
        ("2 components", {"components": 2}),
        ("4 components", {"components": 4}),
        ("3 cosines", {"detail": 3}),
        ("10 cosines", {"detail": 10}),
        ("all points of a projection", {"detail": "all", "storage": "float", "components": 5}),
        ("3 angles", {"n_angles": 3}),
        ("6 angles", {"n_angles": 6}),
        ("central differences", {"gradient": "central"}),
        ("64 x 56 pixels, cell 4, overlap 2", {"size": (64, 56), "cell": 4, "overlap": 2}),
        ("128 x 112 pixels, cell 8, overlap 4", {"size": (128, 112), "cell": 8, "overlap": 4}),
        ("cell 9, overlap 6", {"cell": 9, "overlap": 6}),
        ("overlap 0", {"overlap": 0}),
        *((f"weights: {name}", {"aggregate": name}) for name in trials.WEIGHTED),
        *(
            (f"deformations: {name}, 4 components", {"deformations": name, "components": 4})
            for name in SPANNED_DEFORMATIONS
            if name != "none"
        ),
    ]
    for title, change in others:
        yield Trial("beside", title, "paper", {**LAST_STEP, **change})


def all_trials() -> list[Trial]:
    """Every row of both tables."""
    return [*_steps(), *_beside()]


def run(trial: Trial, pictures: Floats, labels: Array, splits: list[Split]) -> dict[str, float]:
    """Accuracy in percent by subset and over all, the mean of the galleries."""
    settings = {name: value for name, value in trial.change.items() if name != "size"}
    outcome = measure(trials.recognizer(trial.preset, pictures.shape[1:], settings), pictures, labels, splits)
    by_subset = {str(s): 100 * float(np.mean([hits[s].mean() for hits in outcome.hits])) for s in outcome.hits[0]}
    everything = [np.concatenate(list(hits.values())).mean() for hits in outcome.hits]
    return by_subset | {"all": 100 * float(np.mean(everything))}


def as_markdown(rows: list[dict[str, Any]], part: str) -> str:
    """Write one part of the ablation as a table: all probes, in percent."""
    found = {
        (r["title"], r["people"], r["frame"], r["alignment"]): r["accuracy"]["all"] for r in rows if r["part"] == part
    }
    views = [*VIEWS, JITTERED] if any(key[3] == "jittered" for key in found) else [*VIEWS]
    columns = [(people, *view) for view in views for people in PEOPLE]
    head = [f"{people}, {'jittered' if alignment == 'jittered' else frame}" for people, frame, alignment in columns]
    lines = [["", *head], ["---"] * (1 + len(head))]
    for trial in all_trials():
        if trial.part == part:
            cells = [found.get((trial.title, *column)) for column in columns]
            lines.append([trial.title, *("" if cell is None else f"{cell:.2f}" for cell in cells)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(data: str, out: str) -> None:
    """Run what the file lacks."""
    faces, place = load_yale_b(data), Path(out)
    rows: list[dict[str, Any]] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else []
    known = {(r["part"], r["title"], r["people"], r["frame"], r["alignment"]) for r in rows}
    splits = {name: [p.split(faces) for p in protocols] for name, protocols in PEOPLE.items()}
    wanted = [
        (trial, people, frame, alignment)
        for trial in all_trials()
        for frame, alignment in [*VIEWS, *([JITTERED] if trial.jittered else [])]
        for people in PEOPLE
        if (trial.part, trial.title, people, frame, alignment) not in known
    ]
    wanted.sort(key=lambda w: (w[0].size, w[2], w[3]))
    made: dict[Any, Floats] = {}

    def pictures(*kind: Any) -> Floats:
        if kind not in made:
            made.clear()
            made[kind] = take_pictures(faces.images, kind[0], "float", *kind[1:])
        return made[kind]

    work = (delayed(run)(t, pictures(t.size, f, a), faces.labels, splits[p]) for t, p, f, a in wanted)
    done = Parallel(n_jobs=-1, return_as="generator", pre_dispatch="2 * n_jobs")(work)
    for (trial, people, frame, alignment), accuracy in zip(wanted, track(done, total=len(wanted)), strict=True):
        facts = {"part": trial.part, "title": trial.title, "preset": trial.preset, "change": trial.change}
        rows.append(facts | {"people": people, "frame": frame, "alignment": alignment, "accuracy": accuracy})
        with whole_file(place) as file:
            file.write(json.dumps(rows, indent=1).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
