"""The report: every figure in the tables, a page that needs nothing else, names that are no markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from lightproof.evaluation.evaluation_report import evaluation_page, evaluation_tables, setting, summary
from lightproof.evaluation.mistakes import Mistake
from lightproof.evaluation.rates_by_light import Figure


class Page(HTMLParser):
    """Collects tags and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(evaluated):
    return evaluation_page(evaluated, "Evaluation of <b>us</b>")


@pytest.mark.slow
def test_tables_hold_every_light_with_its_figures(evaluated):
    closed, *among = evaluation_tables(evaluated)
    assert [line[0] for line in closed.lines] == [
        "all photos",
        "front (up to 25°)",
        "side (25° to 60°)",
        "hard (beyond 60°)",
    ]
    named = evaluated.figure("rank-1")
    assert closed.lines[0][1:3] == [
        str(named.photos),
        f"{100 * named.value:.1f} [{100 * named.low:.1f}, {100 * named.high:.1f}]",
    ]
    assert [table.title for table in among] == [
        "Among strangers, 10 % of whom may pass",
        "Among strangers, 1 % of whom may pass",
    ]
    for table in [closed, *among]:
        assert {len(line) for line in table.lines} == {len(table.head)}


def test_a_rate_that_cannot_be_measured_is_said_to_be_so(evaluated):
    _, tenth, hundredth = evaluation_tables(evaluated)
    assert "asked about 45 times, too few to measure this rate" in hundredth.note
    assert "too few" not in tenth.note


def test_the_setting_is_told_in_a_sentence(evaluated):
    assert setting(evaluated) == (
        "30 photos of 6 people; enrolled: 1 photo a person, preset fast, drawn 3 times. "
        "Among strangers: 3 people enrolled, 3 people left out."
    )
    assert setting(replace(evaluated, stranger_questions=0)).endswith("There are no strangers among the photos.")


@pytest.mark.parametrize(("low", "warned"), [(0.2, True), (0.05, False), (None, False)])
def test_more_strangers_than_meant_are_warned_of(evaluated, low, warned):
    passed = Figure("strangers accepted", "all", "used", 0.1, 0.3, low, 0.4, 3, 9, 9)
    said = summary(replace(evaluated, figures=(passed,)))
    assert said[0] == "Meant to let in 10 % of strangers, a gallery lets in 30.0 %."
    assert len(said) == 1 + warned


@pytest.mark.slow
def test_the_page_needs_nothing_else(page):
    seen = Page(page)
    assert not {tag for tag, _ in seen.tags} & {"script", "link", "iframe"}
    sources = [attributes["src"] for tag, attributes in seen.tags if tag == "img"]
    assert len(sources) >= 4
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://|url\(", page)
    assert all(attributes.get("alt") for tag, attributes in seen.tags if tag == "img")
    for title in ("Rank.", "Strangers.", "ROC.", "DET.", "The worst mistakes"):
        assert title in seen.text


def test_names_are_no_markup(evaluated):
    face = np.zeros((4, 4), np.uint8)
    name = "<script>alert('&')</script>"
    mistake = Mistake("taken for another", f"{name}/1.jpg", name, f"x{name}", 0.5, 3.0, face, face, face)
    page = evaluation_page(replace(evaluated, mistakes=(mistake,), curves={}), name)
    assert "<script" not in page
    text = Page(page).text
    assert f"{name}/1.jpg shows {name}; score 0.50" in text
    assert f"x{name}" in text


def test_every_mistake_shows_the_faces_there_are(evaluated):
    face = np.zeros((4, 4), np.uint8)
    kinds = {
        "stranger accepted": (face, None, 2),
        "taken for another": (face, face, 3),
        "not recognized": (None, face, 2),
    }
    for kind, (nearest, true, count) in kinds.items():
        mistake = Mistake(kind, "a/1.jpg", "a", "b", 0.5, 3.0, face, nearest, true)
        bare = replace(evaluated, mistakes=(mistake,), curves={})
        assert evaluation_page(bare, "x").count("<img") == count
    unsure = Mistake("not recognized", "a/1.jpg", "a", "a", 0.1, 1.0, face, face, face)
    page = evaluation_page(replace(evaluated, mistakes=(unsure,), curves={}), "x")
    assert page.count("<img") == 2, "the right person need not be shown twice"
    assert "the right one: a" in page


def test_without_mistakes_the_page_says_so(evaluated):
    assert "There is none to show." in evaluation_page(replace(evaluated, mistakes=(), curves={}), "x")
