"""The report of a reproduction: Markdown, CSV, JSON, figures, and one HTML page that holds them all."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape
from typing import Final

import numpy as np

from lightproof.core.report_parts import TextTable, page, plate, table
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.experiments import PAPER_SETS, PHOTO_SETS, subset_title
from lightproof.experiments.accuracies import AccuracyRow, hits_by_photo, lines_of, rows_of
from lightproof.experiments.cache import (
    FORMAT,
    Cache,
    digest_of_code,
    digest_of_faces,
    digest_of_lights,
    library_versions,
)
from lightproof.experiments.comparison import all_tables
from lightproof.experiments.end_to_end import Search, search_table
from lightproof.experiments.methods import METHODS
from lightproof.experiments.paper_figures import paper_figures
from lightproof.experiments.plan import trials_of
from lightproof.experiments.report_figures import ReportFigure, decision_figure, light_figure
from lightproof.experiments.runner import Result
from lightproof.plots import Measured, compared

TITLES: Final = {
    "yale": "Extended Yale B",
    "ar": "AR",
    "cas-peal": "CAS-PEAL-R1",
    "orl": "ORL",
    "lfw": "Labeled Faces in the Wild",
    "folder": "Your photos",
    "rendered": "Rendered faces",
}

MAPPED: Final = ("weberface", "mslde", "gradientface", "log-dct", "log-hog", "lbp", "log-rcdt", "robust")
"""The methods on the map of lights, as many as fit side by side."""

COLUMNS: Final = [column.name for column in fields(AccuracyRow)] + ["difference"]


@dataclass(frozen=True, eq=False)
class Chapter:
    """One data set and all its results; ``search`` if its faces were found by the detector."""

    dataset: str
    faces: FaceSet
    results: Sequence[Result]
    search: Search | None = None

    @property
    def title(self) -> str:
        """Return the name of the data set as people know it."""
        return TITLES[self.dataset] + (", end to end" if self.search else "")

    @cached_property
    def rows(self) -> list[AccuracyRow]:
        """Return every figure."""
        return [row for result in self.results for row in rows_of(result)]

    @cached_property
    def tables(self) -> list[TextTable]:
        """Return every table."""
        found = [search_table(self.search)] if self.search else []
        return [*found, *all_tables(self.results, self.rows, self.faces.labels)]


def reports(chapters: Sequence[Chapter], kept: Cache, command: str) -> Iterator[tuple[str, str | bytes]]:
    """Write every report: yield the name and content of each file.

    ``kept`` holds the figures that were drawn before; ``command`` is the one that makes the same report.
    """
    if not chapters:
        return
    rows = [row for chapter in chapters for row in chapter.rows]
    yield "rows.json", json.dumps([row.as_dict() for row in rows], indent=1) + "\n"
    yield "rows.csv", _csv(rows)
    facts = _facts(chapters, command)
    of_the_paper = any(chapter.dataset in PAPER_SETS for chapter in chapters)
    title = "The paper's experiments, run again" if of_the_paper else "The paper's methods on other faces"
    ours = [method.title for method in METHODS.values() if method.kind == "ours"]
    text, body = [f"# {title}\n\n{facts}\n"], []
    for chapter in chapters:
        about = _about(chapter)
        text.append(f"## {chapter.title}\n\n{about}\n")
        body.append(f"<h2 id={chapter.dataset}>{escape(chapter.title)}</h2><p>{escape(about)}</p>")
        for shown in chapter.tables:
            text.append(markdown(shown))
            body.append(f"<h3>{escape(shown.title)}</h3>{table(shown, ours)}")
        for picture in _drawn(chapter, kept):
            name = f"figures/{chapter.dataset}-{picture.name}.png"
            yield name, picture.png
            text.append(f"**{picture.title}.** {picture.caption}\n\n![{picture.title}]({name})\n")
            body.append(plate(picture.png, picture.title, picture.caption))
    yield "report.md", "\n".join(text)
    lead = f"<h1>{escape(title)}</h1><p class=lead>{escape(facts)}</p>"
    yield "report.html", page(f"lightproof: {title}", [lead, *body])


def _drawn(chapter: Chapter, kept: Cache) -> list[ReportFigure]:
    """Return the figures of a data set, drawn again only if they changed; none if the detector found its faces."""
    if chapter.search:
        return []
    facts = {
        "format": FORMAT,
        "versions": library_versions("matplotlib", "pillow"),
        "code": digest_of_code((__name__,)),
        "data": digest_of_faces(chapter.faces),
        "lights": digest_of_lights(chapter.faces),
        "dataset": chapter.dataset,
        "figures": [row.as_dict() for row in chapter.rows if (row.table, row.frame) == ("main", "full")],
        "answers": [result.measurement.plain()["hits"] for result in _mapped(chapter)],
    }
    figures = kept.find(facts, lambda plain: [ReportFigure.of(values) for values in plain])
    if figures is None:
        figures = list(figures_of(chapter))
        kept.keep(facts, [figure.plain() for figure in figures])
    return figures


def figures_of(chapter: Chapter) -> Iterator[ReportFigure]:
    """Draw every figure of a data set."""
    yield from _compared_figures(chapter)
    *_, (protocols, _) = trials_of(chapter.dataset, chapter.faces, one_gallery=True)
    split = protocols[0].split(chapter.faces)
    light_map = _light_map(chapter)
    if light_map is not None:
        yield light_map
    recognizer = FaceRecognizer("authors", light="log")
    recognizer.fit(chapter.faces.images[split.gallery], chapter.faces.labels[split.gallery])
    yield decision_figure(recognizer, chapter.faces, split)
    yield from paper_figures(chapter.faces, split)


def markdown(shown: TextTable) -> str:
    """Write a table as Markdown."""
    rows = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in (shown.head, *shown.lines)
    ]
    lines = [f"**{shown.title}**", "", rows[0], "| --- " * len(shown.head) + "|", *rows[1:]]
    return "\n".join(lines) + (f"\n\n{shown.note}\n" if shown.note else "\n")


def _compared_figures(chapter: Chapter) -> Iterator[ReportFigure]:
    lines = [line for line in lines_of(chapter.rows) if (line.whole.table, line.whole.frame) == ("main", "full")]
    for test in dict.fromkeys(line.whole.test for line in lines):
        panels: dict[str, list[Measured]] = {}
        for line in lines:
            if line.whole.test == test:
                for row in line.subsets:
                    mark = Measured(row.method, row.accuracy, row.low, row.high, row.published)
                    panels.setdefault(f"subset {row.subset}", []).append(mark)
        yield ReportFigure(
            f"compared-{test.lower().replace(' ', '-')}",
            f"{chapter.title}, {test}" + (": ours and published" if any(line.farthest for line in lines) else ""),
            "Each line is a method. The bar through our figure is Wilson's 95 % interval for the number of photos.",
            compared(panels),
        )


def _light_map(chapter: Chapter) -> ReportFigure | None:
    chosen = _mapped(chapter)
    if not chosen:
        return None
    probes = np.unique(np.concatenate([p for split in chosen[0].splits for p in split.probes.values()]))
    right = {r.experiment.method.title: hits_by_photo(r, len(chapter.faces))[:, probes].mean(axis=0) for r in chosen}
    return light_figure(chapter.faces, probes, right)


def _mapped(chapter: Chapter) -> list[Result]:
    """Choose the results for the map of lights: the test with the fewest photos a person, where light counts most."""
    full = [r for r in chapter.results if (r.experiment.table, r.experiment.crop) == ("main", "full")]
    return [r for r in full if r.experiment.test == full[-1].experiment.test and r.experiment.method.name in MAPPED]


def _about(chapter: Chapter) -> str:
    people = len(np.unique(chapter.faces.labels))
    n_skipped = len(chapter.faces.skipped)
    left_out = f", {n_skipped} file{'s' * (n_skipped > 1)} left out" if n_skipped else ""
    about = f"{people} people, {len(chapter.faces)} photos{left_out}."
    splits: dict[tuple[str, str], Split] = {}
    for result in chapter.results:
        if result.experiment.table == "main":
            splits.setdefault((result.experiment.test, _enrolled(result)), result.splits[0])
    for (test, enrolled), split in splits.items():
        titles = {subset: subset_title(chapter.dataset, subset) for subset in split.probes}
        within = "" if chapter.dataset in PHOTO_SETS else "in "
        counts = ", ".join(f"{len(probes)} {within}{titles[subset]}" for subset, probes in split.probes.items())
        about += f" {test}: {enrolled} enrolled, to name {counts}."
    return about


def _enrolled(result: Result) -> str:
    """Return the gallery in words for a sentence."""
    gallery, galleries = result.experiment.gallery, len(result.splits)
    if galleries > 1:
        return f"one photo a person, {galleries} galleries in turn,"
    return "one photo a person, that of the released code," if gallery == "authors" else gallery


def _facts(chapters: Sequence[Chapter], command: str) -> str:
    deep = any(r.experiment.method.kind == "network" for chapter in chapters for r in chapter.results)
    found = any(chapter.search for chapter in chapters)
    libraries = [*["torch", "pytorchcv"] * deep, *["ai-edge-litert", "ogm-vision"] * found]
    named = ", ".join(f"{name} {version}" for name, version in library_versions(*libraries).items())
    own = any(r.experiment.table == "own lights" for chapter in chapters for r in chapter.results)
    seeds = "Seeds are 0; lights of people's own are drawn with seeds 11 to 21." if own else "All seeds are 0."
    return f"Made by: {command}. Versions: {named}, Python {platform.python_version()}. {seeds}"


def _csv(rows: Sequence[AccuracyRow]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row.as_dict(), "difference": row.difference} for row in rows)
    return out.getvalue()
