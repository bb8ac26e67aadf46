"""docs/service.md says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lightproof.service.application import make_app
from lightproof.service.problems import KINDS
from lightproof.service.settings import MIB, MIN_TOKEN_LETTERS, Limits, Settings

DOCUMENT = (Path(__file__).parents[2] / "docs" / "service.md").read_text()


def test_every_code_stands_in_the_document_with_its_status():
    told = re.findall(r"^\| (\d{3}) \| `(\w+)` \| (.*) \|$", DOCUMENT, re.MULTILINE)
    assert [(int(status), code, title) for status, code, title in told] == [
        (kind.status, code, kind.title) for code, kind in KINDS.items()
    ]


@pytest.mark.slow
def test_every_operation_stands_in_the_document():
    paths = make_app(Settings("nowhere.gallery")).openapi()["paths"]
    for place, methods in paths.items():
        short = place.replace("/v1/people/{person}/photos/{photo}/thumbnail", ".../thumbnail")
        assert short in DOCUMENT, place
        for method in methods:
            assert f"`{method.upper()}" in DOCUMENT or f"{method.upper()}`" in DOCUMENT, method


def test_the_limits_of_the_document_are_those_of_the_service():
    limits = Limits()
    said = (
        f"{limits.body_bytes // MIB} MiB a request",
        f"{limits.photo_bytes // MIB} MiB and {limits.photo_pixels // 10**6} million pixels a photo",
        f"{limits.photos} photos a request",
        f"{limits.held_bytes // MIB} MiB of all requests together",
        f"{limits.rate:g} requests a second for one address",
        f"{MIN_TOKEN_LETTERS} letters or more",
    )
    flat = re.sub(r"\s+", " ", re.sub(r" \(`--[\w-]+`\)", "", DOCUMENT))
    for sentence in said:
        assert sentence in flat, sentence
