"""Answers that were written down before the code was rearranged; see tests/golden.py."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests import golden


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads(golden.FILE.read_text())


@pytest.fixture(scope="module")
def asked() -> dict[str, list[dict[str, Any]]]:
    return golden.questions()


def split(answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What is said in words, and in numbers."""
    numbers = {key: value for key, value in answer.items() if key in ("numbers", "lead", "patches")}
    return {key: value for key, value in answer.items() if key not in {*numbers, "sha256"}}, numbers


def test_two_hundred_answers_are_the_same_to_the_last_bit(kept, asked):
    assert sum(map(len, kept["questions"].values())) >= 200
    if kept["machine"] != golden.machine():
        pytest.skip(f"written with {kept['machine']}, here it is {golden.machine()}: last bits may differ")
    assert asked == kept["questions"]


def test_two_hundred_answers_are_the_same_on_every_machine(kept, asked):
    assert asked.keys() == kept["questions"].keys()
    for kind, answers in kept["questions"].items():
        assert len(asked[kind]) == len(answers)
        for now, then in zip(asked[kind], answers, strict=True):
            (words_now, numbers_now), (words_then, numbers_then) = split(now), split(then)
            assert words_now == words_then
            for key, values in numbers_then.items():
                wanted, got = ([float.fromhex(value) for value in each] for each in (values, numbers_now[key]))
                np.testing.assert_allclose(got, wanted, rtol=0.02, atol=0.02)
