"""What a reproduction leaves behind: the same figures in every form, and pages that need nothing else."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from lightproof.core.report_parts import TextTable
from lightproof.experiments import reproduction_report
from lightproof.experiments.cache import Cache
from lightproof.experiments.measure import Measurement
from lightproof.experiments.methods import METHODS
from lightproof.experiments.plan import make_plan
from lightproof.experiments.reproduction_report import Chapter, figures_of, markdown, reports
from lightproof.experiments.runner import run_all

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def chapter(people, kept):
    methods = [METHODS["hog"], METHODS["log-rcdt"]]
    plan = make_plan("rendered", people, methods, ["full", "outer"])
    return Chapter("rendered", people, run_all(plan, people, kept))


@pytest.fixture(scope="module")
def written(chapter, kept):
    return dict(reports([chapter], kept, "lightproof reproduce rendered"))


def test_every_form_holds_every_figure(chapter, written):
    rows = json.loads(written["rows.json"])
    # Two methods, five figures each: in two tests and two frames, and jittered.
    assert len(rows) == 2 * 5 * (2 * 2 + 1)
    lines = list(csv.DictReader(io.StringIO(written["rows.csv"])))
    assert [float(line["accuracy"]) for line in lines] == [row["accuracy"] for row in rows]
    for row in chapter.rows:
        if row.frame == "full" and row.subset != "all":
            assert f"{row.accuracy:.1f}" in written["report.md"]
            assert f"{row.accuracy:.1f}" in written["report.html"]


def test_the_difference_to_the_published_figure_is_in_the_csv(chapter, kept):
    result = chapter.results[0]
    published = replace(result.experiment, published={1: 50.0})
    changed = Chapter("rendered", chapter.faces, [replace(result, experiment=published)])
    lines = list(csv.DictReader(io.StringIO(dict(reports([changed], kept, ""))["rows.csv"])))
    assert float(lines[0]["difference"]) == pytest.approx(float(lines[0]["accuracy"]) - 50)
    assert lines[1]["difference"] == ""


def test_the_page_needs_nothing_else_and_says_how_it_was_made(written):
    page = written["report.html"]
    assert page.startswith("<!doctype html>")
    assert "http" not in page
    assert page.count("data:image/png;base64,") == sum(name.endswith(".png") for name in written)
    for text in (page, written["report.md"]):
        assert "lightproof reproduce rendered" in text
        assert "scikit-learn 1." in text


def test_every_figure_named_in_the_markdown_is_written(written):
    named = {line.split("](")[1].rstrip(")") for line in written["report.md"].splitlines() if line.startswith("![")}
    assert named == {name for name in written if name.endswith(".png")}
    assert {f"figures/rendered-{name}.png" for name in ("histograms", "clouds", "slicing", "examples")} <= named
    assert {f"figures/rendered-{name}.png" for name in ("accuracy-by-light", "decision-maps")} <= named
    assert {f"figures/rendered-{name}.png" for name in ("light-scales", "light-shifts")} <= named


def test_the_same_results_write_the_same_report_and_draw_nothing_anew(chapter, kept, written, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(reproduction_report, "figures_of", lambda chapter: drawn.append(chapter) or iter([]))
    assert dict(reports([chapter], kept, "lightproof reproduce rendered")) == written
    assert drawn == []
    dict(reports([chapter], Cache(tmp_path), ""))
    assert drawn == [chapter]


def test_other_answers_are_drawn_anew(chapter, kept, written, monkeypatch):
    drawn = []
    monkeypatch.setattr(reproduction_report, "figures_of", lambda chapter: drawn.append(chapter) or iter([]))
    fewer = Chapter("rendered", chapter.faces, [r for r in chapter.results if r.experiment.method.name == "hog"])
    dict(reports([fewer], kept, ""))
    assert drawn == [fewer]


def test_one_other_answer_or_one_other_pixel_is_drawn_anew(chapter, kept, written, monkeypatch):
    drawn = []
    monkeypatch.setattr(reproduction_report, "figures_of", lambda chapter: drawn.append(chapter) or iter([]))
    # The same accuracies, but two photos of one subset have changed places.
    results = list(chapter.results)
    where = results.index(reproduction_report._mapped(chapter)[0])
    plain = results[where].measurement.plain()
    hits = plain["hits"][0]
    subset = next(s for s, marks in hits.items() if "01" in marks)
    hits[subset] = hits[subset].replace("01", "10", 1)
    results[where] = replace(results[where], measurement=Measurement.of(plain, results[where].splits))
    dict(reports([Chapter("rendered", chapter.faces, results)], kept, ""))
    touched = chapter.faces.take(np.arange(len(chapter.faces)))
    touched.images[0, 0, 0] ^= 1
    dict(reports([Chapter("rendered", touched, chapter.results)], kept, ""))
    assert len(drawn) == 2


def test_the_map_of_lights_is_of_the_test_with_the_fewest_photos(chapter):
    assert {result.experiment.test for result in reproduction_report._mapped(chapter)} == {"Test 2"}


def test_what_was_enrolled_is_told_from_what_was_run(chapter):
    assert "Test 2: one photo a person, 11 galleries in turn, enrolled" in reproduction_report._about(chapter)
    only = Chapter("rendered", chapter.faces, [r for r in chapter.results if r.experiment.test == "Test 1"])
    assert "Test 2" not in reproduction_report._about(only)


@pytest.fixture(scope="module")
def folder_chapter(people, kept):
    """The same photos as a folder would give them: nobody knows where the light stood."""
    unknown = np.full(len(people), np.nan)
    faces = replace(people, azimuths=unknown, elevations=unknown)
    plan = make_plan("folder", faces, [METHODS["hog"]], ["full"])
    return Chapter("folder", faces, run_all(plan, faces, kept))


def test_a_set_without_light_directions_has_no_map_of_lights(folder_chapter):
    ((result,)) = folder_chapter.results
    assert len(result.splits) == 11
    names = {picture.name for picture in figures_of(folder_chapter)}
    assert "accuracy-by-light" not in names
    assert "decision-maps" in names


def test_figures_of_unknown_lights_are_kept_too(folder_chapter, kept, monkeypatch):
    first = dict(reports([folder_chapter], kept, ""))
    monkeypatch.setattr(reproduction_report, "figures_of", lambda chapter: 1 / 0)
    assert dict(reports([folder_chapter], kept, "")) == first


def test_markdown_keeps_bars_out_of_cells():
    text = markdown(TextTable("t", ["a", "b"], [["1 | 2", "3"]], "a note"))
    assert text == "**t**\n\n| a | b |\n| --- | --- |\n| 1 \\| 2 | 3 |\n\na note\n"


def test_names_of_files_are_escaped(chapter, kept):
    strange = replace(chapter.faces, skipped=("<script>.txt: not a photo",))
    page = dict(reports([Chapter("rendered", strange, chapter.results)], kept, "<b>"))["report.html"]
    assert "<b>" not in page
    assert "1 file left out" in page
