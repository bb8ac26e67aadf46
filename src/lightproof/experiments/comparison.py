"""The tables of a reproduction: ours beside the published, and what can be trusted about the difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lightproof.core.text_table import TextTable
from lightproof.experiments.crops import FRAMES
from lightproof.experiments.explanations import FAR, GUESSES
from lightproof.experiments.methods import METHODS
from lightproof.experiments.rows import Line, Row, hits_by_photo, lines_of
from lightproof.experiments.runner import Result
from lightproof.metrics import Paired, compare_by_person, mcnemar
from lightproof.types import Array

REFERENCES = ("log-rcdt", "rcdt")
"""What all others are compared with: the first of these that was run."""

_IN_VIEW = "The changes were looked for with the test photos in view: they may explain, they are not settings to use."

_JITTERED = (
    "Every crop, enrolled or asked about, is cut again as a detector would cut it: each eye is off by a Gaussian of "
    "4 % of the eye distance, across and down; beyond the crop its pixels are reflected."
)

_END_TO_END = (
    "Every crop, enrolled or asked about, is set into a black frame; a detector finds the face in it, and the crop is "
    "cut again by the eyes it found; beyond the crop its pixels are reflected. A face that is not found is a mistake."
)

_HELD_OUT = (
    "The settings were chosen without these people: only those with even numbers are enrolled and asked about. Fewer "
    "people are easier to tell apart, so compare with the other half, not with the main table."
)

_CHOSEN_ON = "The other half, with odd numbers: the settings were chosen with these people in view."

_GALLERIES = {"authors": "the authors' photo"}


def all_tables(results: Sequence[Result], rows: Sequence[Row], labels: Array) -> list[TextTable]:
    """Every table of one data set, in the order of the report.

    Parameters
    ----------
    results : sequence of Result
    rows : sequence of Row
        Of these results.
    labels : ndarray of shape (n,)
        Who is on each photo of the set.

    Returns
    -------
    list of TextTable
        Those that have lines.
    """
    lines = lines_of(rows)
    tests = list(dict.fromkeys(line.whole.test for line in lines))
    chance = 100 / len(np.unique(labels))
    tables = [
        *(main_table(test, _those(lines, "main", test)) for test in tests),
        main_table("Test 2, jittered", _those(lines, "jittered"), _JITTERED),
        main_table("Test 2, end to end", _those(lines, "end to end"), _END_TO_END),
        main_table("Test 2, end to end, held-out people", _those(lines, "end to end, held-out people"), _HELD_OUT),
        main_table("Test 2, end to end, people chosen on", _those(lines, "end to end, people chosen on"), _CHOSEN_ON),
        main_table("Test 2, everybody in a light of their own", _those(lines, "own lights")),
        main_table("Test 2, held-out people", _those(lines, "held-out people"), _HELD_OUT),
        main_table("Test 2, people chosen on", _those(lines, "people chosen on"), _CHOSEN_ON),
        enlarged_table(_those(lines, "enlarged")),
        *(frame_table(test, _those(lines, "main", test), chance) for test in tests),
        *(paired_table(test, results, labels) for test in tests),
        chosen_table(_those(lines, "main")),
        *(table for line in _those(lines, "main") for table in explanation_table(line, lines)),
        *(detail_table(test, _those(lines, "details", test)) for test in tests),
        parameter_table(_those(lines, "parameters")),
    ]
    return [table for table in tables if table.lines]


def main_table(test: str, lines: Sequence[Line], about: str = "") -> TextTable:
    """Every method in one test, the published figure beside ours where there is one; ``about`` begins the note."""
    full = [line for line in lines if line.whole.frame == "full"]
    ours, theirs = _order(full, lambda row: row.accuracy), _order(full, lambda row: row.published)
    usual = Counter(line.whole.gallery for line in full).most_common(1)
    shown = []
    for line in full:
        name = line.whole.name
        order = [f"{ours[name]} ({theirs[name]})" if name in theirs else ""] if theirs else []
        # One subset alone is all there is.
        cells = [_beside(row) for row in line.subsets] if len(line.by_subset) > 1 else []
        title = _said_of(line.whole, usual[0][0])
        shown.append([title, *cells, _with_interval(line.whole), *order, f"{line.whole.seconds:.1f}"])
    heads = [f"subset {row.subset}" for row in full[0].subsets] if full and len(full[0].by_subset) > 1 else []
    head = ["method", *heads, "all [95 % interval]", *(["order"] if theirs else []), "seconds"]
    return TextTable(f"{test}: accuracy in %", head, shown, f"{about} {_note(full, bool(theirs))}".lstrip())


def _note(lines: Sequence[Line], published: bool) -> str:
    """Say what the signs in the main table mean, of those that are there."""
    spread = any(line.whole.std is not None for line in lines)
    said = {
        "± is the standard deviation over the galleries.": spread,
        "In parentheses the published figure, and how far ours is from it.": published,
        "The interval is Wilson's for the number of photos.": True,
        "Order is by the mean over the subsets, among the methods of the paper in this table; in parentheses the order "
        "of their published figures.": published,
        "Seconds are for all galleries together; rivals compute their features once for all of them, ours and networks "
        "anew for each.": True,
    }
    return " ".join(sentence for sentence, applies in said.items() if applies)


def enlarged_table(lines: Sequence[Line]) -> TextTable:
    """Show the discussion's experiment on CAS-PEAL: more photos enrolled, subset 3 asked."""
    shown = [[line.whole.method, line.whole.gallery, _beside(line.whole)] for line in lines]
    return TextTable("Subset 3 with more photos enrolled: accuracy in %", ["method", "gallery", "subset 3"], shown)


def frame_table(test: str, lines: Sequence[Line], chance: float) -> TextTable:
    """How much of each figure the face alone can do, and the rim of the picture alone."""
    found: dict[str, dict[str, Row]] = {}
    for line in lines:
        found.setdefault(line.whole.method, {})[line.whole.frame] = line.whole
    # The full frame alone stands in the main table already.
    several = [(title, by) for title, by in found.items() if set(by) != {"full"}]
    return TextTable(
        f"{test}: full frame, face and rim alone, all subsets, accuracy in %",
        ["method", "full frame", "interior only", "outer eighth only"],
        [[title, *(_figure(by.get(frame)) for frame in FRAMES)] for title, by in several],
        "The interior leaves out an eighth of the picture on every side; the outer eighth is what it leaves out: hair, "
        "outline, framing, of the features at most the ends. At the cut, one row of pixels holds a little of the other "
        f"side. A blind guess is right in {chance:.1f} %.",
    )


def paired_table(test: str, results: Sequence[Result], labels: Array) -> TextTable:
    """Compare every method with ours, photo by photo and person by person."""
    mine = [r for r in results if r.experiment.test == test and r.experiment.frame == "full"]
    shown = []
    for result in mine:
        reference = _reference_for(result, mine)
        if result.experiment.table == "main" and reference is not None and reference is not result:
            first, second = (hits_by_photo(r, len(labels)) for r in (reference, result))
            photos, people = mcnemar(first, second), compare_by_person(first, second, labels)
            names = [result.experiment.method.title, reference.experiment.method.title]
            shown.append([*names, *_counts(photos), *_counts(people)])
    return TextTable(
        f"{test}: is the difference more than chance?",
        [
            "method",
            "against",
            "photos: ours only",
            "theirs only",
            "p",
            "people: ours ahead",
            "theirs ahead",
            "p by people",
        ],
        shown,
        "McNemar's exact test on the photos that only one of the two named; with several galleries, that one named in "
        "more of them. Photos of one person are not independent: the last columns count each person once.",
    )


def chosen_table(lines: Sequence[Line]) -> TextTable:
    """List what each method chose inside its training photos."""
    frames: dict[tuple[str, ...], list[str]] = {}
    for row in (line.whole for line in lines):
        if row.chosen:
            frames.setdefault((row.method, row.test, row.gallery, row.chosen), []).append(row.frame)
    return TextTable(
        "What was chosen without a look at the test photos",
        ["method", "test", "gallery", "frames", "chosen"],
        [
            [method, test, gallery, ", ".join(where), choice]
            for (method, test, gallery, choice), where in frames.items()
        ],
        "SVM and components: two thirds of each person's training photos train, one third validates.",
    )


def explanation_table(line: Line, lines: Sequence[Line]) -> Iterator[TextTable]:
    """For a line far from the published one: what was tried to explain it, and how near that came."""
    row, far = line.whole, line.farthest
    if row.frame != "full" or far is None or far <= FAR:
        return
    kinds = ("own lights", "explanations", "details")
    tried = [other for kind in kinds for other in _those(lines, kind, row.test, row.name)]
    published = ["published", *(_percent(r.published) for r in line.subsets), ""]
    changes = [_tried(_change(other), other) for other in tried]
    yield TextTable(
        f"{row.test}, {row.method}: {far:.1f} points from the published figure",
        ["changed", *(f"subset {r.subset}" for r in line.subsets), "farthest"],
        [published, _tried("nothing", line), *changes],
        _verdict(row.name, tried),
    )


def detail_table(test: str, lines: Sequence[Line]) -> TextTable:
    """Our own method in its variants: where paper and released code part ways."""
    shown = []
    for line in lines:
        gallery = _GALLERIES.get(line.whole.gallery, line.whole.gallery)
        shown.append([f"{line.whole.method}; {gallery}", *(_beside(row) for row in line.by_subset.values())])
    heads = [f"subset {s}" if s != "all" else "all" for s in lines[0].by_subset] if lines else []
    return TextTable(f"{test}: our method in its variants, accuracy in %", ["method; gallery", *heads], shown)


def parameter_table(lines: Sequence[Line]) -> TextTable:
    """The paper's table of parameters."""
    found: dict[str, dict[str, Row]] = {}
    for line in lines:
        parameters, _, eight_bit = line.whole.method.partition(", ")[2].partition(", 8-bit")
        found.setdefault(parameters, {})["8-bit" if eight_bit else "float"] = line.whole
    shown = []
    for parameters, by in found.items():
        ours = [_figure(by.get(smoothing)) for smoothing in ("float", "8-bit")]
        shown.append([parameters, *ours, _percent(next(iter(by.values())).published)])
    return TextTable(
        "Test 2, subset 4 by parameters: accuracy in %",
        ["parameters", "float", "8-bit smoothing", "published"],
        shown,
        "R-CDT + NS with the authors' photo enrolled; smoothing in 8 bits is what an image library of the time did.",
    )


def _those(lines: Iterable[Line], table: str, test: str = "", name: str = "") -> list[Line]:
    return [
        line
        for line in lines
        if line.whole.table == table and test in ("", line.whole.test) and name in ("", line.whole.name)
    ]


def _order(lines: Sequence[Line], figure: Callable[[Row], float | None]) -> dict[str, int]:
    """Rank the methods that have published figures by the mean over the subsets; 1 is best."""
    means = {
        line.whole.name: round(float(np.mean([figure(row) or 0.0 for row in line.subsets])), 6)  # a tie is a tie
        for line in lines
        if line.farthest is not None
    }
    return {name: 1 + sum(other > mean for other in means.values()) for name, mean in means.items()}


def _reference_for(result: Result, results: Sequence[Result]) -> Result | None:
    """Find our own method on the same galleries, in the settings of the main tables."""
    for name in REFERENCES:
        for other in results:
            same = other.experiment.gallery == result.experiment.gallery
            plain = other.experiment.method.title == METHODS[name].title
            if same and plain and other.experiment.table in ("main", "details"):
                return other
    return None


def _said_of(row: Row, usual: str) -> str:
    """Name a method, and what is not as usual about its line."""
    remarks = [] if row.gallery == usual else [_GALLERIES.get(row.gallery, row.gallery)]
    remarks += ["training cut short"] if "cut short" in row.chosen else []
    return "; ".join([row.method, *remarks])


def _change(line: Line) -> str:
    """Tell what a line changed, in words."""
    plain = METHODS[line.whole.name].title
    gallery = _GALLERIES.get(line.whole.gallery, line.whole.gallery)
    return gallery if line.whole.method == plain else line.whole.method.removeprefix(f"{plain}, ")


def _verdict(name: str, tried: Sequence[Line]) -> str:
    if not tried:
        return f"Nothing was tried. {GUESSES[name]}"
    near = [_change(line) for line in tried if line.farthest is not None and line.farthest <= FAR]
    if near:
        return f"Within {FAR:.0f} points everywhere: {'; '.join(near)}. {_IN_VIEW}"
    nearest = min(tried, key=lambda line: line.farthest or 0)
    said = f"None is within {FAR:.0f} points everywhere; nearest: {_change(nearest)}, {nearest.farthest:.1f}."
    return f"{said} {GUESSES[name]} {_IN_VIEW}"


def _tried(change: str, line: Line) -> list[str]:
    return [change, *(_figure(row) for row in line.subsets), f"{line.farthest:.1f}"]


def _counts(paired: Paired) -> list[str]:
    return [str(paired.first_only), str(paired.second_only), "< 0.001" if paired.p < 0.001 else f"{paired.p:.3f}"]


def _figure(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.accuracy:.1f}" + ("" if row.std is None else f"±{row.std:.1f}")


def _beside(row: Row) -> str:
    if row.difference is None:
        return _figure(row)
    return f"{_figure(row)} ({row.published:.1f}: {row.difference:+.1f})".replace("-", "\N{MINUS SIGN}")


def _with_interval(row: Row) -> str:
    return f"{_figure(row)} [{row.low:.1f}, {row.high:.1f}]"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
