"""A gallery from a thousand to a million people: python -m benchmarks.scale FOLDER [--sizes 1000 10000] [--json FILE].

For each size a gallery of made-up people is made in FOLDER, or found there. Photos of known people under other light
are asked about, one after the other, in a process of its own; then photos of strangers; FAISS searches 512 numbers of
the same people (benchmarks.field). When that is done for all sizes, the exhaustive exact search (benchmarks.exhaustive)
answers the photos, too: some of them by a comparison with everybody to the end, which is timed, and all of them with
bounds, which finds the same sooner; --exhaustive says how many. With bounds, a thousand photos among a million people
take about an hour; what they find is kept in FOLDER, for a run after an interrupt, or another one before the gallery
changes. At last somebody is added, forgotten, and the file is packed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks import exhaustive
from benchmarks.watching import resident
from lightproof.core.report_parts import TextTable
from lightproof.datasets import Crowd
from lightproof.experiments.reproduction_report import markdown
from lightproof.gallery import Gallery, crowd_face, crowd_name, make_gallery
from lightproof.gallery.decision import FAR
from lightproof.plots.canvas import PALETTE, encoded, quiet, sheet
from lightproof.types import Array, Ints

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
ALIKE: Final = 1e-5
TURNS: Final = 64

SEED: Final = 20261118
"""Draws the people whose photos are asked about; not those with whom the settings of the search were settled."""

MILD: Final = "5 to 50"
HARD: Final = "50 to 90"
LIGHTS: Final = {MILD: (5, 50, 1), HARD: (50, 90, 5)}
"""Degrees off the camera, and for how many people there is one whose photo is asked about."""

CHANGES: Final = 9
"""People who are added and forgotten."""

TIMED: Final = {MILD: 32, HARD: 8}
"""Photos that are compared with everybody to the end. How long it takes is told by the former: where fewer photos share
what is read, each takes longer."""

COLUMNS: Final = {
    "people": "people",
    "light": "light, degrees",
    "p50_ms": "p50, ms",
    "p99_ms": "p99, ms",
    "cold_p50_ms": "not in memory: p50, ms",
    "cold_p99_ms": "p99, ms",
    "exhaustive_ms": "exhaustive, ms",
    "times_faster": "times faster",
    "asked": "photos",
    "same_answer": "same answer",
    "same": "same best match",
    "worst_difference": "largest difference of a score",
    "right_percent": "right, %",
    "exhaustive_right": "right by the exhaustive",
    "resident_mib": "resident, MiB",
    "bytes_a_person": "memory, bytes a person",
    "disk_kib": "disk, KiB a person",
    "open_s": "open, s",
}


def photos_of(people: Ints, nearest: float, farthest: float, crowd: Crowd) -> Array:
    """Draw a photo of each person, not the enrolled one, lit from so many degrees off the camera."""
    images: dict[int, Array] = {}
    for turn in range(TURNS):
        left = np.array([person for person in people if person not in images], np.int64)
        if not len(left):
            break
        drawn = crowd.probes(left, turn=turn)
        azimuth, elevation = np.radians(drawn.azimuths), np.radians(drawn.elevations)
        angle = np.degrees(np.arccos(np.cos(azimuth) * np.cos(elevation)))
        for i in np.flatnonzero((angle > nearest) & (angle <= farthest)):
            images[int(left[i])] = drawn.images[i]
    return np.stack([images[int(person)] for person in people])


def ask(place: str, images: Array) -> dict[str, Any]:
    """Ask about photos one by one, in this process; say what it cost and what was answered."""
    before, start = resident(), time.perf_counter()
    with Gallery.open(place, create=False) as gallery:
        n_people = gallery.follow()
        opened, held = time.perf_counter() - start, resident() - before
        for image in images[:5]:
            gallery.identify_face(crowd_face(image))
        seconds, names, scores, normalized_scores, one_in = [], [], [], [], []
        for image in images:
            start = time.perf_counter()
            best = gallery.identify_face(crowd_face(image)).candidates[0]
            seconds.append(time.perf_counter() - start)
            names.append(best.name)
            scores.append(best.score)
            normalized_scores.append(best.lead)
            one_in.append(best.one_in)
    return {
        "people": n_people,
        "open_s": opened,
        "p50_ms": 1e3 * float(np.median(seconds)),
        "p99_ms": 1e3 * float(np.percentile(seconds, 99)),
        "resident_mib": resident() / 2**20,
        "bytes_a_person": held / n_people,
        "names": names,
        "scores": scores,
        "leads": normalized_scores,
        "one_in": one_in,
    }


def strangers(place: str, folder: Path, count: int, crowd: Crowd) -> dict[str, Any]:
    """Ask about people who are not enrolled: how long they wait, how many are let in, how far half of them lead."""
    people = np.arange(2**31 - 10_002, 2**31 - 10_002 - count, -1)
    found = in_own_process("benchmarks.scale", place, folder, images=photos_of(people, 5, 50, crowd))
    one_in = np.array(found["one_in"])
    let_in = {f"let_in_at_{far:g}_percent": 100 * float(np.mean(one_in * far / 100 >= 1)) for far in (1, 0.1)}
    waited = {name: found[name] for name in ("p50_ms", "p99_ms")}
    return {"asked": count, **waited, **let_in, "median_lead": float(np.median(found["leads"]))}


def in_own_process(module: str, place: str, folder: Path, **arrays: Any) -> Any:
    """Run a benchmark in a process whose memory is its own."""
    asked, out = folder / "asked.npz", folder / "out.json"
    np.savez(asked, allow_pickle=False, **arrays)
    subprocess.run([sys.executable, "-m", module, place, str(asked), str(out)], check=True)
    return json.loads(out.read_text())


def change(place: str, crowd: Crowd) -> dict[str, Any]:
    """Add some people, ask, and forget them: how long each takes, and whether nothing of it comes back."""
    people = 2**31 - 1 - np.arange(CHANGES)
    names = [f"somebody new, {i}" for i in range(CHANGES)]
    faces, photos = crowd.faces(people.tolist()), photos_of(people, 5, 25, crowd)
    with Gallery.open(place, create=False) as gallery:
        gallery.identify(photos[0])
        added = [timed(gallery.enroll, name, [face]) for name, face in zip(names, faces, strict=True)]
        answered = [timed(gallery.identify, photo) for photo in photos]
        with gallery.store.reading() as view:
            (_, [kept], _) = next(view.templates_of_people(view.ids_of(names).values()))
        forgotten = [timed(gallery.forget, name) for name in names]
        again = [one.name for photo in photos for one in gallery.identify(photo, top=1000).candidates]
        compacted = timed(gallery.compact)
    traces = [b"somebody new", kept.template[64:96], kept.template[-48:-16], (kept.code or b"")[:32]]
    return {
        "changes": CHANGES,
        "add_ms": 1e3 * float(np.median([each.seconds for each in added])),
        "first_answer_after_ms": 1e3 * answered[0].seconds,
        "forget_ms": 1e3 * float(np.median([each.seconds for each in forgotten])),
        "compact_s": compacted.seconds,
        "found_at_once": [each.result.name for each in answered] == names,
        "never_named_again": not set(names) & set(again),
        "bytes_left": sum(count_in(Path(place), trace) for trace in traces),
    }


class Timed(NamedTuple):
    """What came out, and after how long."""

    result: Any
    seconds: float


def timed(do: Callable[..., Any], *given: Any) -> Timed:
    """Do something, and look at the clock."""
    start = time.perf_counter()
    return Timed(do(*given), time.perf_counter() - start)


def drop_from_memory(place: str) -> None:
    """Let the operating system forget what it holds of a file, as just after it was started, where it can be told."""
    if hasattr(os, "posix_fadvise"):
        os.sync()
        with open(place, "rb") as stream:
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_into_memory(place: str, step: int = 2**24) -> None:
    """Let the operating system hold as much of a file as it can, as after many questions."""
    with open(place, "rb") as stream:
        while stream.read(step):
            pass


def count_in(file: Path, trace: bytes, step: int = 2**26) -> int:
    """How often some bytes stand in a file, or in what lies beside it."""
    found = 0
    for part in file.parent.glob(file.name + "*"):
        with open(part, "rb") as stream:
            kept = b""
            while block := stream.read(step):
                found += (kept + block).count(trace)
                kept = block[-len(trace) + 1 :]
    return found


class Size:
    """A gallery of so many people, and photos of some of them."""

    def __init__(self, folder: Path, n_people: int, probes: int, crowd: Crowd, preset: str) -> None:
        self.folder, self.n_people, self.crowd, self.preset = folder, n_people, crowd, preset
        self.place = str(folder / f"crowd-{preset}-{n_people}.gallery")
        drawn = np.random.default_rng([n_people, SEED]).permutation(n_people)
        self.people = drawn[: min(probes, n_people)].astype(np.int64)
        self.row: dict[str, Any] = {"preset": preset, "people": n_people}
        self._found: dict[str, dict[str, Any]] = {}

    def photos(self, light: str) -> tuple[Array, list[str]]:
        """Return photos in some light, and who is on them."""
        nearest, farthest, share = LIGHTS[light]
        people = self.people[: max(1, len(self.people) // share)]
        return photos_of(people, nearest, farthest, self.crowd), [crowd_name(int(person)) for person in people]

    def make(self) -> None:
        """Make the gallery."""
        start = time.perf_counter()
        self.row["made"] = make_gallery(self.place, self.n_people, preset=self.preset, seed=self.crowd.seed)
        self.row["made_s"] = time.perf_counter() - start
        self.row["disk_kib"] = os.path.getsize(self.place) / 2**10 / self.n_people

    def ask(self) -> None:
        """Ask about people who are enrolled: first with nothing of the file in memory, then with all of it."""
        drop_from_memory(self.place)
        images, _ = self.photos(MILD)
        cold = in_own_process("benchmarks.scale", self.place, self.folder, images=images)
        self.row |= {f"cold_{name}": cold[name] for name in ("p50_ms", "p99_ms", "open_s")}
        read_into_memory(self.place)
        for light in LIGHTS:
            images, right = self.photos(light)
            found = in_own_process("benchmarks.scale", self.place, self.folder, images=images)
            found["right_percent"] = 100 * float(np.mean([a == b for a, b in zip(found["names"], right, strict=True)]))
            self._found[light] = found
            self.row[light] = {key: value for key, value in found.items() if not isinstance(value, list)}
            self.row[light]["light"] = light

    def ask_others(self, faiss: bool) -> None:
        """Ask about people who are not, and let FAISS search."""
        self.row["strangers"] = strangers(self.place, self.folder, len(self.people), self.crowd)
        if faiss:
            images, _ = self.photos(MILD)
            self.row["field"] = in_own_process(
                "benchmarks.field", self.place, self.folder, images=images, people=self.people
            )

    def change(self) -> None:
        """Add somebody, and forget."""
        self.row["change"] = change(self.place, self.crowd)

    def hold_against_exhaustive(self, light: str, asked: int, jobs: int = 2) -> None:
        """Let the exhaustive search answer so many of the photos."""
        images, right = self.photos(light)
        images, found = images[:asked], self._found[light]
        told = exhaustive.search(self.place, images, jobs, self.folder, guesses=found["names"][: len(images)])
        # These are compared anew in each run, for the time, and because what was kept of an earlier one must agree.
        full = exhaustive.search(self.place, images[: TIMED[light]], jobs)
        self.row[light] |= compare(found, told, full, right)


def compare(row: dict[str, Any], told: exhaustive.Told, full: exhaustive.Told, right: Sequence[str]) -> dict[str, Any]:
    """Hold the answers against those of the exhaustive search, photo by photo.

    The answer is the person who is named, or nobody; the best match is told even where it is as good as a stranger's.

    Parameters
    ----------
    row : dict
        What was answered.
    told, full : Told
        By the search with bounds, of all photos, and by that without, of some.
    right : sequence of str
    """
    count, timed = len(told.names), len(full.names)
    same = np.array([one == other for one, other in zip(row["names"], told.names, strict=False)])
    named, known = np.array(row["one_in"][:count]) * FAR >= 1, told.one_in * FAR >= 1
    same_answer = (same & named & known) | ~(named | known)
    apart = np.abs(np.array(row["scores"][:count]) - told.scores)[same]
    return {
        "asked": count,
        "same_answer": int(same_answer.sum()),
        "same": int(same.sum()),
        "worst_difference": float(apart.max(initial=0)),
        "same_score": bool((apart <= ALIKE).all()),
        "others": [
            {"one_in": row["one_in"][i], "exhaustive_one_in": float(told.one_in[i]), "right": told.names[i] == right[i]}
            for i in np.flatnonzero(~same).tolist()
        ],
        "timed": timed,
        "bounds_find_the_same": full.names == told.names[:timed] and bool((full.scores == told.scores[:timed]).all()),
        "exhaustive_ms": 1e3 * full.seconds,
        "bounded_ms": 1e3 * told.seconds,
        "times_faster": 1e3 * full.seconds / row["p50_ms"],
        "exhaustive_right": int(np.sum([a == b for a, b in zip(told.names, right, strict=False)])),
    }


def table(rows: Sequence[dict[str, Any]]) -> TextTable:
    """Lay the rows out for the documents."""
    lines = []
    for row in rows:
        for light in LIGHTS:
            whole = row | row[light]
            lines.append([_written(whole[key]) for key in COLUMNS])
    return TextTable("A gallery that grows", list(COLUMNS.values()), lines)


def drawn(rows: Sequence[dict[str, Any]]) -> bytes:
    """Draw how the time of a question grows with the people, ours and that of others, as a PNG."""
    series: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        series.setdefault("lightproof", []).append((row["people"], row[MILD]["p50_ms"]))
        series.setdefault("exhaustive exact search", []).append((row["people"], row[MILD]["exhaustive_ms"]))
        for other in row.get("field", []):
            series.setdefault(other["index"], []).append((row["people"], other["p50_ms"]))
    figure = sheet(760, 420)
    axes = figure.add_subplot()
    for (name, points), color, marker in zip(series.items(), PALETTE, "osD^", strict=False):
        axes.plot(*zip(*points, strict=True), color=color, marker=marker, linewidth=2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("people enrolled")
    axes.set_ylabel("ms a question")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    quiet(axes)
    return encoded(figure)


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    """Measure at every size; in a process of its own, ask."""
    if len(sys.argv) == 4 and sys.argv[2].endswith(".npz"):
        with np.load(sys.argv[2]) as given:
            Path(sys.argv[3]).write_text(json.dumps(ask(sys.argv[1], given["images"])))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--probes", type=int, default=1000)
    parser.add_argument("--exhaustive", type=int, help="Photos that the exhaustive search answers; all by default.")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--no-faiss", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    sizes = [Size(given.folder, size, given.probes, Crowd(seed=0), given.preset) for size in given.sizes]
    for size in sizes:
        size.make()
        size.ask()
        size.ask_others(faiss=not given.no_faiss)
        _show(sizes, given.json)
    for light, (_, _, share) in LIGHTS.items():
        for size in sizes:
            size.hold_against_exhaustive(light, max(1, (given.exhaustive or given.probes) // share))
            _show(sizes, given.json)
    # Last of all: what the exhaustive search has kept is that of a gallery which has not changed.
    for size in sizes:
        size.change()
        _show(sizes, given.json)
    rows = [size.row for size in sizes]
    if given.plot:
        given.plot.write_bytes(drawn(rows))
    print(markdown(table(rows)))


def _show(sizes: Sequence[Size], file: Path | None) -> None:
    """Write down how far it is."""
    text = json.dumps([size.row for size in sizes], indent=2) + "\n"
    print(text, flush=True)
    if file:
        file.write_text(text)


if __name__ == "__main__":
    main()
