"""The OpenAPI document says what the service does: thousands of requests made from it, none answered otherwise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lightproof.service.problems import KINDS
from tests.service.running import Running

pytestmark = pytest.mark.long

LEAST = 2000
"""Requests that are made, at least."""


@pytest.fixture(scope="module")
def service(tmp_path_factory, made_gallery):
    place = shutil.copy(made_gallery, tmp_path_factory.mktemp("contract") / "people.gallery")
    with Running(place, "--rate", 0, "--workers", 1) as running:
        yield running


def test_thousands_of_requests_get_documented_answers_and_no_server_error(service, tmp_path):
    surroundings = os.environ | {"SCHEMATHESIS_HOOKS": "tests.service.hooks", "PYTHONPATH": str(Path.cwd())}
    program = Path(sys.executable).with_name("schemathesis")
    # The service has no token here; that one is asked for is looked at in test_guard.
    left_out = "positive_data_acceptance,missing_required_header,ignored_auth"
    command = [program, "run", f"{service.url}/v1/openapi.json", "--exclude-checks", left_out, "--max-examples", "90"]
    ran = subprocess.run(
        [*map(str, command), "--seed", "7", "--no-color"],
        capture_output=True,
        text=True,
        env=surroundings,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    count = int(re.search(r"(\d+) generated", ran.stdout).group(1))
    assert count >= LEAST, ran.stdout[-1500:]
    assert service.client.get("/v1/health").json() == {"status": "ok"}
    assert service.mistakes() == []
    # Not only refusals: faces were enrolled, found and explained.
    figures = service.client.get("/metrics").text
    for route, status in (("/v1/identify", 200), ("/v1/explain", 200), ("/v1/people", 201), ("/v1/diagnose", 200)):
        assert re.search(rf'route="{route}",status="{status}"', figures), f"{route} never answered {status}"


def test_every_problem_of_the_document_is_one_of_the_stable_codes(service):
    document = service.client.get("/v1/openapi.json").json()
    told = set()
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                for code, example in answer["content"].get("application/problem+json", {}).get("examples", {}).items():
                    assert KINDS[code].status == int(status) == example["value"]["status"]
                    told.add(code)
    assert told <= set(KINDS)
    assert set(KINDS) - told == {"not_found", "method_not_allowed", "internal", "headers_too_large"}  # of no route


def test_every_operation_has_an_example_a_summary_and_a_description(service):
    document = service.client.get("/v1/openapi.json").json()
    for place, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], place
            assert operation["description"], place
            success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
            [(kind, content)] = success["content"].items()
            assert kind != "application/json" or content["example"], (method, place)
