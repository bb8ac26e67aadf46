"""A browser that watches the page: what it complains about, and whom it asks."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

try:
    from playwright.sync_api import expect, sync_playwright
except ModuleNotFoundError:  # whoever needs them is skipped
    expect = sync_playwright = None

try:
    from axe_playwright_python.sync_playwright import Axe
except ModuleNotFoundError:
    Axe = None

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 860}
LONGEST = 20_000
"""Milliseconds that a step may take: the machine may be busy."""

STATUS = re.compile(r"the server responded with a status of (\d+)")

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    named = os.environ.get("LIGHTPROOF_CHROMIUM")
    places = [named] if named else ["/usr/bin/chromium", *map(shutil.which, ("chromium-browser", "google-chrome"))]
    return next((place for place in places if place and Path(place).is_file()), None)


def leave_out(reason: str) -> None:
    """Skip what cannot be run; but before anything lands, nothing may be left out."""
    (pytest.fail if "LIGHTPROOF_CI" in os.environ else pytest.skip)(reason)


def faults_of(page: Any) -> dict[str, list[str]]:
    """Let axe look at a page: by the kind of fault, the elements that have it, if it is serious."""
    if Axe is None:
        leave_out("axe is not here: pip install 'lightproof[test]'")
    options = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    found = Axe().run(page, options=options).response["violations"]
    serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    return {fault["id"]: [node["html"] for node in fault["nodes"]] for fault in serious}


@contextmanager
def launched(*more: str) -> Iterator[Any]:
    """Start a browser, or leave out whoever needs it."""
    chromium = find_chromium()
    if sync_playwright is None:
        leave_out("playwright is not here: pip install 'lightproof[test]'")
    if chromium is None:
        leave_out("Chromium is not here: install it, or set LIGHTPROOF_CHROMIUM to its program")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=[*ARGUMENTS, *more])
        yield browser
        browser.close()


class Visits:
    """Opens pages of one service, and holds all of them to it that nothing goes wrong unseen.

    ``expected`` are the statuses that a test provokes: browsers write a line for each. ``contexts`` are kept by who
    makes this, so that pages that look alike load their parts once.
    """

    def __init__(self, browser: Any, contexts: dict[str, Any], url: str) -> None:
        self._browser, self._contexts, self.url = browser, contexts, url
        self._pages: list[Any] = []
        self.complaints: list[str] = []
        self.abroad: list[str] = []
        self.expected: set[int] = set()

    def __call__(self, part: str = "", *, phone: bool = False, dark: bool = False, url: str = "", **more: Any) -> Any:
        """Open the page at one of its parts."""
        look = {"viewport": PHONE if phone else DESK, "color_scheme": "dark" if dark else "light"}
        page = self._context(look | more).new_page()
        self._pages.append(page)
        page.set_default_timeout(LONGEST)
        expect.set_options(timeout=LONGEST)
        page.on("console", self._said)
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        page.on("request", lambda request: self._asked(request.url))
        page.goto(f"{url or self.url}/{part and '#' + part}")
        return page

    def _said(self, message: Any) -> None:
        status = STATUS.search(message.text)
        if message.type == "error" and not (status and int(status[1]) in self.expected):
            self.complaints.append(message.text)

    def _asked(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data") and not url.startswith(self.url):
            self.abroad.append(url)

    def _context(self, options: dict[str, Any]) -> Any:
        key = repr(options)
        if key not in self._contexts:
            self._contexts[key] = self._browser.new_context(**options)
        return self._contexts[key]

    def close(self) -> None:
        for page in self._pages:
            page.close()

    def check(self) -> None:
        """Hold the pages to it."""
        assert not self.complaints, self.complaints
        assert not self.abroad, self.abroad


def tick_cropped(page: Any) -> None:
    """Say that pictures are faces already; one box stands for all."""
    page.locator("input.cropped:visible").first.check()


def ask_about(page: Any, photo: Path) -> None:
    """Give a face to Identify, and wait for the answer and the map."""
    tick_cropped(page)
    page.set_input_files("#identify-file", photo)
    expect(page.locator("#who")).to_be_visible()
    expect(page.locator(".why-body")).to_have_attribute("aria-busy", "false")


def enroll_face(page: Any, name: str, *photos: Path) -> None:
    """Fill in Enroll and send it."""
    tick_cropped(page)
    page.fill("#enroll-name", name)
    page.set_input_files("#enroll-file", list(photos))
    page.click("#enroll-send")


def overhang(page: Any) -> int:
    """Pixels that the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
