"""The tables of a reproduction: our figures beside the published ones, and the tests of their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lightproof.core.report_parts import TextTable
from lightproof.experiments import PHOTO_SETS, subset_title
from lightproof.experiments.accuracies import AccuracyRow, ExperimentRows, hits_by_photo, lines_of, rows_of
from lightproof.experiments.crops import CROPS
from lightproof.experiments.published_accuracies import FAR, GUESSES
from lightproof.experiments.runner import Result
from lightproof.metrics import Paired, compare_by_person, mcnemar
from lightproof.types import Array

REFERENCES = ("log-rcdt", "rcdt")  # all others are compared with the first of these that was run

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

_HELD_OUT_OF_PHOTOS = (
    "Nothing was chosen with these people in view. Fewer people are easier to tell apart, so compare with the other "
    "half, not with the main table."
)

_MORE_TABLES = {
    "jittered": ("Test 2, jittered", _JITTERED),
    "end to end": ("Test 2, end to end", _END_TO_END),
    "end to end, held-out people": ("Test 2, end to end, held-out people", _HELD_OUT),
    "end to end, people chosen on": ("Test 2, end to end, people chosen on", _CHOSEN_ON),
    "own lights": ("Test 2, everybody in a light of their own", ""),
    "held-out people": ("Test 2, held-out people", _HELD_OUT),
    "people chosen on": ("Test 2, people chosen on", _CHOSEN_ON),
    "photos, people held out": ("One photo, held-out people", _HELD_OUT_OF_PHOTOS),
    "photos, people chosen on": ("One photo, people chosen on", "Settings were chosen with these people in view."),
}
"""Title and beginning of the note, by the table of an experiment."""


def all_tables(results: Sequence[Result], rows: Sequence[AccuracyRow], labels: Array) -> list[TextTable]:
    """Every table of one data set that has lines, in the order of the report; ``labels`` are those of its photos."""
    lines = lines_of(rows)
    tests = list(dict.fromkeys(line.whole.test for line in lines))
    main = _select(lines, "main")
    by_test = {test: _select(main, "main", test) for test in tests}
    tables = [
        *(main_table(test, chosen) for test, chosen in by_test.items()),
        *(main_table(title, _select(lines, table), about) for table, (title, about) in _MORE_TABLES.items()),
        enlarged_table(_select(lines, "enlarged")),
        *(crop_table(test, chosen, 100 / len(np.unique(labels))) for test, chosen in by_test.items()),
        *(paired_table(test, results, labels) for test in tests),
        chosen_table(main),
        *(table for line in main for table in explanation_table(line, lines)),
        *(detail_table(test, _select(lines, "details", test)) for test in tests),
        parameter_table(results),
    ]
    return [table for table in tables if table.lines]


def main_table(test: str, lines: Sequence[ExperimentRows], about: str = "") -> TextTable:
    """Every method in one test, the published figure beside ours where there is one; ``about`` begins the note."""
    full = [line for line in lines if line.whole.frame == "full"]
    ours, theirs = _order(full, lambda row: row.accuracy), _order(full, lambda row: row.published)
    galleries = Counter(line.whole.gallery for line in full).most_common(1)
    shown = []
    for line in full:
        name, whole = line.whole.name, line.whole
        order = [f"{ours[name]} ({theirs[name]})" if name in theirs else ""] if theirs else []
        # A single subset is the whole.
        cells = [_beside(row) for row in line.subsets] if len(line.by_subset) > 1 else []
        interval = f"{_figure(whole)} [{whole.low:.1f}, {whole.high:.1f}]"
        shown.append([_title(whole, galleries[0][0]), *cells, interval, *order, f"{whole.seconds:.1f}"])
    rows = full[0].subsets if full and len(full[0].by_subset) > 1 else []
    heads = [subset_title(row.dataset, row.subset) for row in rows]
    head = ["method", *heads, "all [95 % interval]", *(["order"] if theirs else []), "seconds"]
    return TextTable(f"{test}: accuracy in %", head, shown, f"{about} {_note(full, bool(theirs))}".lstrip())


def _note(lines: Sequence[ExperimentRows], published: bool) -> str:
    """Explain the signs that occur in the main table."""
    spread = any(line.whole.std is not None for line in lines)
    by_pose = any(line.whole.dataset in PHOTO_SETS and len(line.by_subset) > 1 for line in lines)
    sentences = {
        "The columns part the probes by how far the head is turned (yaw) since the enrolled photo.": by_pose,
        "± is the standard deviation over the galleries.": spread,
        "In parentheses the published figure, and how far ours is from it.": published,
        "The interval is Wilson's for the number of photos.": True,
        "Order is by the mean over the subsets, among the methods of the paper in this table; in parentheses the order "
        "of their published figures.": published,
        "Seconds are for all galleries together; rivals and the engine compute features once for all of them, the "
        "paper's method and networks anew for each.": True,
    }
    return " ".join(sentence for sentence, applies in sentences.items() if applies)


def enlarged_table(lines: Sequence[ExperimentRows]) -> TextTable:
    """Show the discussion's experiment on CAS-PEAL: more photos enrolled, subset 3 as probes."""
    shown = [[line.whole.method, line.whole.gallery, _beside(line.whole)] for line in lines]
    return TextTable("Subset 3 with more photos enrolled: accuracy in %", ["method", "gallery", "subset 3"], shown)


def crop_table(test: str, lines: Sequence[ExperimentRows], chance: float) -> TextTable:
    """Compare the accuracy on whole pictures with that on the face alone, and on the rim of the picture alone."""
    by_method: dict[str, dict[str, AccuracyRow]] = {}
    for line in lines:
        by_method.setdefault(line.whole.method, {})[line.whole.frame] = line.whole
    # Whole pictures alone stand in the main table already.
    several = [(title, by) for title, by in by_method.items() if set(by) != {"full"}]
    return TextTable(
        f"{test}: full frame, face and rim alone, all subsets, accuracy in %",
        ["method", "full frame", "interior only", "outer eighth only"],
        [[title, *(_figure(by.get(crop)) for crop in CROPS)] for title, by in several],
        "The interior leaves out an eighth of the picture on every side; the outer eighth is what it leaves out: hair, "
        "outline, framing, of the features at most the ends. At the cut, one row of pixels holds a little of the other "
        f"side. A blind guess is right in {chance:.1f} %.",
    )


def paired_table(test: str, results: Sequence[Result], labels: Array) -> TextTable:
    """Compare every method with ours, photo by photo and person by person."""
    full = [r for r in results if r.experiment.test == test and r.experiment.crop == "full"]
    shown = []
    for result in full:
        reference = _reference_for(result, full)
        if result.experiment.table == "main" and reference is not None and reference is not result:
            first, second = (hits_by_photo(r, len(labels)) for r in (reference, result))
            photos, people = mcnemar(first, second), compare_by_person(first, second, labels)
            names = [result.experiment.method.title, reference.experiment.method.title]
            shown.append([*names, *_counts(photos), *_counts(people)])
    by_photo, by_person = ["photos: ours only", "theirs only", "p"], ["people: ours ahead", "theirs ahead"]
    return TextTable(
        f"{test}: is the difference more than chance?",
        ["method", "against", *by_photo, *by_person, "p by people"],
        shown,
        "McNemar's exact test on the photos that only one of the two named; with several galleries, that one named in "
        "more of them. Photos of one person are not independent: the last columns count each person once.",
    )


def chosen_table(lines: Sequence[ExperimentRows]) -> TextTable:
    """List what each method chose inside its training photos."""
    crops: dict[tuple[str, ...], list[str]] = {}
    for row in (line.whole for line in lines):
        if row.chosen:
            crops.setdefault((row.method, row.test, row.gallery, row.chosen), []).append(row.frame)
    return TextTable(
        "What was chosen without a look at the test photos",
        ["method", "test", "gallery", "frames", "chosen"],
        [[*key, ", ".join(names), choice] for (*key, choice), names in crops.items()],
        "SVM and components: two thirds of each person's training photos train, one third validates.",
    )


def explanation_table(line: ExperimentRows, lines: Sequence[ExperimentRows]) -> Iterator[TextTable]:
    """If a line is far from the published one: the changes that were tried, and how near each came."""
    row, far = line.whole, line.farthest
    if row.frame != "full" or far is None or far <= FAR:
        return
    kinds = ("own lights", "explanations", "details")
    tried = [other for kind in kinds for other in _select(lines, kind, row.test, row.name)]
    published = ["published", *(_percent(r.published) for r in line.subsets), ""]
    changes = [_tried(_change(other.whole), other) for other in tried]
    yield TextTable(
        f"{row.test}, {row.method}: {far:.1f} points from the published figure",
        ["changed", *(f"subset {r.subset}" for r in line.subsets), "farthest"],
        [published, _tried("nothing", line), *changes],
        _verdict(row.name, tried),
    )


def detail_table(test: str, lines: Sequence[ExperimentRows]) -> TextTable:
    """Show our own method in the variants in which paper and released code differ."""
    names = [f"{line.whole.method}; {_gallery(line.whole)}" for line in lines]
    shown = [[name, *map(_beside, line.by_subset.values())] for name, line in zip(names, lines, strict=True)]
    heads = [f"subset {s}" if s != "all" else "all" for s in lines[0].by_subset] if lines else []
    return TextTable(f"{test}: our method in its variants, accuracy in %", ["method; gallery", *heads], shown)


def parameter_table(results: Sequence[Result]) -> TextTable:
    """The paper's table of parameters."""
    by_parameters: dict[tuple[int, ...], dict[str, AccuracyRow]] = {}
    for result in results:
        method = result.experiment.method
        if result.experiment.table == "parameters":
            key = tuple(method.settings[name] for name in ("cell", "overlap", "n_angles"))
            by_parameters.setdefault(key, {})[method.smoothing] = list(rows_of(result))[-1]
    shown = []
    for (cell, overlap, m), by_smoothing in by_parameters.items():
        ours = [_figure(by_smoothing.get(smoothing)) for smoothing in ("float", "8-bit")]
        published = _percent(next(iter(by_smoothing.values())).published)
        shown.append([f"cell {cell}, overlap {overlap}, {m} angles", *ours, published])
    return TextTable(
        "Test 2, subset 4 by parameters: accuracy in %",
        ["parameters", "float", "8-bit smoothing", "published"],
        shown,
        "R-CDT + NS with the authors' photo enrolled; smoothing in 8 bits is what an image library of the time did.",
    )


def _select(lines: Iterable[ExperimentRows], table: str, test: str = "", name: str = "") -> list[ExperimentRows]:
    of_table = (line for line in lines if line.whole.table == table)
    return [line for line in of_table if test in ("", line.whole.test) and name in ("", line.whole.name)]


def _order(lines: Sequence[ExperimentRows], figure: Callable[[AccuracyRow], float | None]) -> dict[str, int]:
    """Rank the methods that have published figures by the mean over the subsets; 1 is best."""
    means = {
        line.whole.name: round(float(np.mean([figure(row) or 0.0 for row in line.subsets])), 6)  # a tie is a tie
        for line in lines
        if line.farthest is not None
    }
    return {name: 1 + sum(other > mean for other in means.values()) for name, mean in means.items()}


def _reference_for(result: Result, results: Sequence[Result]) -> Result | None:
    """Find our own method on the same galleries, in the settings of the main tables."""
    gallery = result.experiment.gallery
    plain = [r for r in results if r.experiment.gallery == gallery and not r.experiment.method.variant]
    ours = [r for r in plain if r.experiment.table in ("main", "details")]
    return next((r for name in REFERENCES for r in ours if r.experiment.method.name == name), None)


def _gallery(row: AccuracyRow) -> str:
    return "the authors' photo" if row.gallery == "authors" else row.gallery


def _title(row: AccuracyRow, gallery: str) -> str:
    """Name a method, and how its line differs from the others; ``gallery`` is that of most lines."""
    remarks = [] if row.gallery == gallery else [_gallery(row)]
    remarks += ["training cut short"] if "cut short" in row.chosen else []
    return "; ".join([row.method, *remarks])


def _change(row: AccuracyRow) -> str:
    return row.variant or _gallery(row)


def _verdict(name: str, tried: Sequence[ExperimentRows]) -> str:
    if not tried:
        return f"Nothing was tried. {GUESSES[name]}"
    near = [_change(line.whole) for line in tried if line.farthest is not None and line.farthest <= FAR]
    if near:
        return f"Within {FAR:.0f} points everywhere: {'; '.join(near)}. {_IN_VIEW}"
    nearest = min(tried, key=lambda line: line.farthest or 0)
    verdict = f"None is within {FAR:.0f} points everywhere; nearest: {_change(nearest.whole)}, {nearest.farthest:.1f}."
    return f"{verdict} {GUESSES[name]} {_IN_VIEW}"


def _tried(change: str, line: ExperimentRows) -> list[str]:
    return [change, *(_figure(row) for row in line.subsets), f"{line.farthest:.1f}"]


def _counts(paired: Paired) -> list[str]:
    return [str(paired.first_only), str(paired.second_only), "< 0.001" if paired.p < 0.001 else f"{paired.p:.3f}"]


def _figure(row: AccuracyRow | None) -> str:
    if row is None:
        return ""
    return f"{row.accuracy:.1f}" + ("" if row.std is None else f"±{row.std:.1f}")


def _beside(row: AccuracyRow) -> str:
    if row.difference is None:
        return _figure(row)
    return f"{_figure(row)} ({row.published:.1f}: {row.difference:+.1f})".replace("-", "\N{MINUS SIGN}")


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
