"""What the documents say is what the code does."""

from __future__ import annotations

import json
import pkgutil
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from benchmarks import beyond
from benchmarks.document import tables
from lightproof.experiments import comparison, open_set
from lightproof.experiments.accuracies import AccuracyRow, lines_of
from lightproof.experiments.methods import METHODS, choose_methods
from lightproof.experiments.reproduction_report import markdown

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lightproof"
DOCUMENTS = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_the_example_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    assert capsys.readouterr().out


def test_the_block_in_the_readme_is_the_first_example():
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block
    code = (ROOT / "examples" / "first_match.py").read_text().split('"""\n\n', 1)[1]
    assert block.group(1) == code


def anchors(document):
    """The names by which a page's headings can be linked to."""
    headings = re.findall(r"^#+ (.*)", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(document):
    for target in re.findall(r"\]\((?!https?:)([^)]+)", document.read_text()):
        file, _, heading = target.partition("#")
        page = document.parent / file if file else document
        assert page.exists(), target
        assert not heading or heading in anchors(page), target


def test_every_name_in_the_map_of_symbols_exists():
    """docs/method.md names code as `room.module.name`; each must be there."""
    text = (ROOT / "docs" / "method.md").read_text()
    named = {name for name in re.findall(r"`((?:\w+\.)+\w+)`", text) if (SOURCE / name.partition(".")[0]).is_dir()}
    for name in named:
        pkgutil.resolve_name(f"lightproof.{name}")
    assert len(named) >= 30


ROOMS = "|".join(sorted(path.name for path in SOURCE.glob("[a-z]*") if path.is_dir()))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_module_named_in_the_documents_exists(document):
    """As `method/patches`, tests/method/test_patches.py or lightproof.method.patches."""
    text = document.read_text()
    for tests, place in re.findall(rf"(tests/)?(?<![\w/.-])((?:{ROOMS})(?:/\w+)+(?:\.py|\.js)?)", text):
        home = (ROOT / "tests" if tests else SOURCE) / place
        assert home.exists() or home.with_suffix(".py").exists(), tests + place
    for file in re.findall(r"(?<![\w/])(?:src|tests|benchmarks|examples|docs)/[\w/.-]*\w", text):
        assert (ROOT / file).exists(), file
    for module in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module
    for name in re.findall(r"\blightproof(?:\.\w+)+", text) if document.name != "CHANGELOG.md" else ():
        pkgutil.resolve_name(name)


def test_every_test_named_in_the_documents_exists():
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for document in ROOT.glob("docs/*.md"):
        for name in re.findall(r"`(test_\w+)`", document.read_text()):
            assert f"def {name}(" in tests, name


RESULTS = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def committed_lines():
    """The rows in docs/results, in the order of the methods, gathered by experiment."""
    files = ("yale.json", "yale-networks.json", "yale-networks-frames.json")
    rows = [AccuracyRow(**row) for name in files for row in json.loads((RESULTS / name).read_text())]
    order = list(METHODS)
    return lines_of(sorted(rows, key=lambda row: order.index(row.name)))


def lines_in(lines, table, test=""):
    return [line for line in lines if line.whole.table == table and test in ("", line.whole.test)]


@pytest.mark.parametrize("test", ["Test 1", "Test 2"])
def test_the_tables_of_reproduce_are_the_committed_rows(committed_lines, test):
    page = (ROOT / "docs" / "reproduce.md").read_text()
    main = lines_in(committed_lines, "main", test)
    assert {line.whole.name for line in main} == set(METHODS)
    assert markdown(comparison.main_table(test, main)).strip() in page
    assert markdown(comparison.crop_table(test, main, 100 / 38)).strip() in page


def test_the_other_tables_of_reproduce_are_the_committed_rows(committed_lines):
    page = (ROOT / "docs" / "reproduce.md").read_text()
    own = lines_in(committed_lines, "own lights")
    assert markdown(comparison.main_table("Test 2, everybody in a light of their own", own)).strip() in page
    for line in lines_in(committed_lines, "main"):
        if METHODS[line.whole.name].kind != "network":
            for table in comparison.explanation_table(line, committed_lines):
                assert markdown(table).strip() in page


def test_the_tables_of_beyond_are_the_committed_results():
    page = (ROOT / "docs" / "beyond.md").read_text()
    shown = list(tables(RESULTS))
    assert len(shown) == 7
    for table in shown:
        assert table in page


def test_the_tables_of_photos_are_the_committed_rows():
    page = (ROOT / "docs" / "photos.md").read_text()
    lines = lines_of(AccuracyRow(**row) for row in json.loads((RESULTS / "yale-end-to-end.json").read_text()))
    shown = [
        table
        for table in comparison.all_tables(
            [], [row for line in lines for row in line.by_subset.values()], np.array([0])
        )
        if "end to end" in table.title
    ]
    assert len(shown) == 3
    for table in shown:
        assert markdown(table).strip() in page


@pytest.mark.parametrize("name", ["yale-open-set.json", "yale-open-set-end-to-end.json"])
def test_the_tables_of_the_gallery_are_the_committed_rows(name):
    page = (ROOT / "docs" / "gallery.md").read_text()
    rows = [open_set.OpenSetRow(**row) for row in json.loads((RESULTS / name).read_text())]
    for table in open_set.open_set_tables(rows):
        assert markdown(table).strip() in page


@pytest.mark.parametrize("name", ["orl", "lfw"])
def test_the_tables_of_photo_sets_are_the_committed_rows(name):
    page = (ROOT / "docs" / "reproduce.md").read_text()
    rows = [AccuracyRow(**row) for row in json.loads((RESULTS / f"{name}.json").read_text())]
    shown = [t for t in comparison.all_tables([], rows, np.array([0])) if t.title.startswith("One photo")]
    assert len(shown) == 3
    assert {line.whole.name for line in lines_of(rows)} == {m.name for m in METHODS.values() if m.kind != "network"}
    open_rows = [open_set.OpenSetRow(**row) for row in json.loads((RESULTS / f"{name}-open-set.json").read_text())]
    for table in [*shown, *open_set.open_set_tables(open_rows)]:
        assert markdown(table).strip() in page


def test_the_ablation_has_every_trial_in_every_view():
    rows = json.loads((RESULTS / "beyond.json").read_text())
    found = {(r["part"], r["title"], r["people"], r["frame"], r["alignment"]) for r in rows}
    for trial in beyond.all_trials():
        for frame, alignment in [*beyond.VIEWS, *([beyond.JITTERED] if trial.jittered else [])]:
            for people in beyond.PEOPLE:
                assert (trial.part, trial.title, people, frame, alignment) in found


def test_every_command_of_the_results_can_be_typed():
    text = (RESULTS / "README.md").read_text()
    for file in RESULTS.glob("*.json"):
        assert f"`{file.name}`" in text
    for methods in re.findall(r"--methods (\S+)", text):
        assert choose_methods(methods.split(","))
