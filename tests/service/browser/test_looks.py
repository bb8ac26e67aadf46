"""The page as somebody sees it: on a phone, in the dark, and with a reader of screens."""

from __future__ import annotations

import json
import re

import pytest

from tests.service.browser.seeing import ask_about, enroll_face, expect, faults_of, overhang

pytestmark = pytest.mark.long

LONG = "Dr. Maximiliane-Wilhelmina Freifrau von und zu Hohenlohe-Schillingsfürst-Waldenburg " + 40 * "W"


def identify(page, album):
    ask_about(page, album / "Ada" / "right.png")
    page.locator(".more summary").click()


def stranger(page, album):
    ask_about(page, album / "Eve" / "right.png")


def enroll(page, album):
    page.click("#tab-enroll")
    enroll_face(page, "Ada", album / "Ada" / "front.png", album / "Ben" / "front.png")
    expect(page.locator("#ask")).to_be_visible()


def enrolled(page, album):
    enroll(page, album)
    page.click("#ask-yes")
    expect(page.locator("#enroll-outcome h3")).to_be_visible()


def people(page, album):
    page.click("#tab-people")
    expect(page.locator(".people li").first).to_be_visible()


def person(page, album):
    people(page, album)
    page.get_by_role("link", name="Ada").click()
    expect(page.locator(".photo img").first).to_be_visible()


def accuracy(page, album):
    page.click("#tab-accuracy")
    expect(page.locator(".figures")).to_be_visible()


def threshold_moved(page, album):
    accuracy(page, album)
    page.get_by_label("1 in 100", exact=True).check()
    page.get_by_role("button", name="Calibrate").click()
    expect(page.locator("#calibrate-said")).to_be_visible()


STATES = [identify, stranger, enroll, enrolled, people, person, accuracy]
PARTS = [identify, enrolled, person, accuracy]


def leave(page):
    """Close a question that may be open, and begin again."""
    page.keyboard.press("Escape")
    page.click("#tab-identify")


@pytest.fixture(scope="module")
def long_name(service, album):
    """Somebody with a name that fits nowhere."""
    sent = {"photos": ("photo.png", (album / "Gus" / "front.png").read_bytes())}
    answer = service.client.post("/v1/people", data={"name": LONG, "cropped": "true"}, files=sent)
    assert answer.status_code == 201, answer.text


def color(page, place, what):
    """Read a color as relative luminance."""
    told = page.locator(place).evaluate(f"element => getComputedStyle(element).{what}")
    channels = [int(part) / 255 for part in re.findall(r"\d+", told)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return sum(part * share for part, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize(
    ("look", "states"),
    [({}, STATES), ({"dark": True}, PARTS), ({"phone": True}, PARTS)],
    ids=["light", "dark", "phone"],
)
def test_axe_finds_nothing_serious_in_any_part(visit, album, look, states):
    page = visit(**look)
    found = {}
    for state in states:
        state(page, album)
        found |= {f"{state.__name__}: {kind}": where for kind, where in faults_of(page).items()}
        leave(page)
    assert not found, json.dumps(found, indent=1)


def test_axe_would_find_a_fault(visit):
    page = visit("enroll")
    page.evaluate("document.querySelector('label[for=enroll-name]').remove()")
    assert "label" in faults_of(page)


def test_a_page_on_a_phone_never_scrolls_sideways(visit, album, long_name):
    def long_answer(page, album):
        ask_about(page, album / "Gus" / "right.png")
        expect(page.locator("#who")).to_have_text(LONG)

    def long_person(page, album):
        page.locator("#answer a.button").click()
        expect(page.locator("#person-view h2")).to_have_text(LONG)

    page = visit(phone=True)
    wide = {}
    for state in [*STATES, long_answer, long_person]:
        state(page, album)
        for width in (390, 360):
            page.set_viewport_size({"width": width, "height": 800})
            wide[state.__name__, width] = overhang(page)
        leave(page)
    assert not {where: pixels for where, pixels in wide.items() if pixels > 0}
    page.evaluate("document.querySelector('main').style.setProperty('min-width', '400px')")
    assert overhang(page) == 40


def test_dark_is_dark_and_light_is_light_and_both_can_be_read(visit, album):
    seen = {}
    for dark in (False, True):
        page = visit(dark=dark)
        ask_about(page, album / "Ada" / "right.png")
        paper, ink = color(page, "body", "backgroundColor"), color(page, "body", "color")
        seen[dark] = (paper, ink)
        on_card = ["#who", "#answer-body .scale-threshold-label", "#answer-body .tick-3 .tick-label"]
        for place in [*on_card, ".legend .for", ".legend .against"]:
            text = color(page, place, "color")
            card = color(page, "#answer", "backgroundColor") if place in on_card else paper
            low, high = sorted([text, card])
            assert (high + 0.05) / (low + 0.05) >= 4.5, (dark, place)
    assert seen[False][0] > 0.8 > 0.1 > seen[False][1]
    assert seen[True][0] < 0.05 < 0.7 < seen[True][1]


def test_accuracy_has_a_bar_where_there_is_something_to_count_and_none_elsewhere(visit, service, album):
    told = service.client.get("/v1/accuracy").json()
    page = visit()
    accuracy(page, album)
    rows = page.locator(".figures tbody tr")
    assert [rows.nth(i).locator("th").inner_text() for i in range(rows.count())] == [
        it["words"] for it in told["lights"]
    ]
    shares = [one[key] for one in told["lights"] for key in ("named", "found", "strangers")]
    cells = page.locator(".figures tbody td")
    for i, share in enumerate(shares):
        bar = cells.nth(i).locator(".share-bar")
        assert bar.count() == (share["share"] is not None)
        if share["share"] is not None:
            width = bar.evaluate("bar => bar.firstElementChild.offsetWidth / bar.offsetWidth")
            assert width == pytest.approx(share["share"], abs=0.02)
            expect(cells.nth(i)).to_contain_text(f"{share['count']} of {share['of']}")
    expect(page.locator("#accuracy-table")).to_contain_text(told["note"])


def test_the_threshold_is_told_in_words_and_can_be_moved(visit, service, album):
    page = visit("accuracy")
    words = "A match needs a score of at least 0.50, which 1 in 1,000 strangers reach."
    expect(page.locator("#threshold")).to_contain_text(words)
    threshold_moved(page, album)
    expect(page.locator("#threshold")).to_contain_text("A match needs a score of at least 0.33, which 1 in 100")
    expect(page.locator("#threshold .state.good")).to_contain_text("Calibrated")
    assert service.client.get("/v1/calibration").json()["far"] == pytest.approx(0.01)
    assert service.client.post("/v1/calibrate", json={"far": 0.001}).status_code == 200


def test_the_parts_are_tabs_with_addresses(visit):
    page = visit("people")
    for name in ("identify", "enroll", "people", "accuracy"):
        selected = name == "people"
        expect(page.locator(f"#tab-{name}")).to_have_attribute("aria-selected", str(selected).lower())
        expect(page.locator(f"#part-{name}")).to_be_visible(visible=selected)
    page.locator("#tab-people").press("ArrowRight")
    expect(page.locator("#tab-accuracy")).to_be_focused()
    assert page.url.endswith("#accuracy")
    page.go_back()
    expect(page.locator("#part-people")).to_be_visible()


def test_all_modules_are_loaded_at_once(visit):
    page = visit("accuracy")
    loaded = set(page.evaluate("performance.getEntriesByType('resource').map(it => new URL(it.name).pathname)"))
    links = page.locator("link[rel=modulepreload]").evaluate_all("links => links.map(it => it.getAttribute('href'))")
    assert set(links) == {name for name in loaded if name.endswith(".js")} - {"/page/app.js"}


def test_the_page_says_that_there_is_no_liveness_test(visit):
    expect(visit().locator(".caution")).to_contain_text("A printed photo of somebody can pass for them")
