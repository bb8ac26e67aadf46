"""A service that wants a token."""

from __future__ import annotations

import shutil

import pytest

from tests.service.browser.seeing import ask_about, expect
from tests.service.running import Running

pytestmark = pytest.mark.long

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def service(tmp_path_factory, browser, known):
    copy = shutil.copy(known, tmp_path_factory.mktemp("served") / "people.gallery")
    with Running(copy, "--workers", 1, token=TOKEN) as running:
        yield running


def test_a_token_is_asked_for_and_works_and_is_kept_for_the_tab_alone(visit, album):
    visit.expected = {401}
    page = visit("people")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    expect(page.locator(".people")).to_have_count(0)
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#token-wrong")).to_have_text("This token was not accepted.")
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".people")).to_contain_text("Ada")
    visit.expected = set()
    page.click("#tab-identify")
    ask_about(page, album / "Ada" / "right.png")
    expect(page.locator("#who")).to_have_text("Ada")
    expect(page.locator(".candidate.chosen img")).to_be_visible()
    kept = "() => [sessionStorage, localStorage].map(it => Object.values(it).join())"
    assert page.evaluate(kept) == [TOKEN, ""]
    assert page.context.cookies() == []
    page.reload()
    expect(page.locator("#count")).to_contain_text("people")
    visit.expected = {401}
    page.get_by_role("button", name="Forget the token").click()
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    assert page.evaluate(kept) == ["", ""]


def test_who_has_no_token_is_told_once_and_can_enter_it_later(visit):
    visit.expected = {401}
    page = visit()
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#outage")).to_contain_text("A token is needed")
    # One answer comes late: who has just said no must not be asked again.
    held = []
    page.route("**/v1/people?*", lambda route: held.append(route))
    with page.expect_request("**/v1/people?*"):
        page.click("#tab-people")
    page.get_by_role("button", name="Enter the token").click()
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#token-dialog")).to_be_hidden()
    with page.expect_response("**/v1/people?*"):
        held.pop().continue_()
    page.unroute("**/v1/people?*")
    page.get_by_role("button", name="Enter the token").click()
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator(".people")).to_contain_text("Ada")
    expect(page.locator("#outage")).to_be_hidden()
