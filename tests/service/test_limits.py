"""How much is taken: lengths, counts, pixels, and the room for all of it."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import BadParameter
from lightproof.service.bodies import MemoryBudget
from lightproof.service.problems import ServiceProblem
from lightproof.service.settings import Limits, Settings
from tests.service.conftest import FREE, png
from tests.service.in_process import files, problem, serving

pytestmark = pytest.mark.slow

SMALL = replace(FREE, body_bytes=60_000, photo_bytes=30_000, photos=3, photo_pixels=40_000, import_bytes=5_000)


@pytest.fixture
def strict(gallery):
    with serving(Settings(str(gallery), limits=SMALL)) as client:
        yield client


def test_a_long_body_is_refused_before_it_is_read_and_while_it_comes(strict):
    said = problem(strict.post("/v1/identify", files=files(bytes(70_000), field="photo")), 413, "too_large")
    assert said.startswith("The body of the request must be of at most 60000 bytes; got 70")

    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    pieces = iter([bytes(1000)] * 80)  # nothing says how many there will be
    said = problem(strict.post("/v1/identify", content=pieces, headers=kind), 413, "too_large")
    assert said.endswith(" or more.")


def test_a_long_photo_is_refused_by_itself(strict, shots):
    said = problem(strict.post("/v1/identify", files=files(bytes(31_000), field="photo")), 413, "too_large")
    assert said == "The photo must be of at most 30000 bytes; got 31000."
    sent = files(bytes(31_000), shots["Ada"]["right"])
    told = strict.post("/v1/people/1/photos", data={"cropped": "true"}, files=sent).json()
    assert [(one["index"], one["code"]) for one in told["rejected"]] == [(0, "too_large")]
    assert len(told["added"]) == 1


def test_many_photos_are_refused_together(strict):
    for sent in (
        {"files": files(*[b"x"] * 4)},
        {"json": {"photos": [base64.b64encode(b"x").decode()] * 4}},
    ):
        said = problem(strict.post("/v1/people/1/photos", **sent), 413, "too_large")
        assert said == "`photos` must be 3 photos at most; got 4."
    assert strict.post("/v1/people/1/photos", files=files(*[b"x"] * 40)).status_code in (400, 413)


def test_a_picture_of_many_pixels_is_refused_before_it_is_unpacked(strict):
    sent = files(png(np.resize(np.arange(256, dtype=np.uint8), (2, 20_001))), field="photo")
    said = problem(strict.post("/v1/identify", data={"cropped": "true"}, files=sent), 422, "too_many_pixels")
    assert said == "The photo must be a picture of at most 40000 pixels and 65535 a side; got 2 x 20001."


def test_a_body_that_holds_no_photo_is_short(strict):
    said = problem(strict.patch("/v1/people/1", json={"name": "x" * 70_000}), 413, "too_large")
    assert said.startswith("The body of the request must be of at most 65536 bytes; got ")
    kind = {"Content-Type": "application/octet-stream"}
    problem(strict.post("/v1/import", content=bytes(6_000), headers=kind), 413, "too_large")


def test_json_of_a_million_things_is_refused_before_they_are_made(client):
    kind = {"Content-Type": "application/json"}
    for body in (b'{"photos":[' + b"0," * 10**6 + b"0]}", b"{" + b",".join(b'"%d":0' % i for i in range(10**5)) + b"}"):
        said = problem(client.post("/v1/people/1/photos", content=body, headers=kind), 400, "bad_request")
        assert said == "The body must be JSON with at most 1000 commas; got more."


def test_whoever_may_send_so_much_finds_room_for_it():
    with pytest.raises(BadParameter, match=r"^`held_bytes` of serve must be 2 times `body_bytes` or more; got 100\.$"):
        Limits(body_bytes=51, held_bytes=100)
    room = MemoryBudget(Limits().held_bytes)
    with room.account("a") as account:
        account.take(Limits().body_bytes)


def test_when_the_room_is_full_others_are_told_to_come_back(gallery):
    tight = replace(FREE, held_bytes=30_000, body_bytes=15_000, photo_bytes=15_000)
    with serving(Settings(str(gallery), limits=tight)) as client:
        client.app.state.service.memory._held["others"] = 29_000
        refused = client.post("/v1/identify", files=files(bytes(5_000), field="photo"))
        said = problem(refused, 503, "busy")
        assert said.startswith("The service must have room for another request; got ")
        assert refused.headers["retry-after"] == "1"
        assert client.app.state.service.memory.held == 29_000


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.booleans()), max_size=30))
def test_no_address_takes_the_room_of_all_and_what_was_taken_is_given_back(steps):
    room = MemoryBudget(100)
    opened = []
    for address, count, close in steps:
        account = room.account(address)
        held = account.__enter__()
        opened.append((account, address, held))
        with suppress(ServiceProblem):
            held.take(count)
        assert room.held == sum(one.taken for _, _, one in opened) <= 100
        for name in "abc":
            assert sum(one.taken for _, other, one in opened if other == name) <= 50
        if close:
            opened.pop(0)[0].__exit__(None, None, None)
    for account, _, _ in opened:
        account.__exit__(None, None, None)
    assert room.held == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"far": "7"}, "`far` must be less than 1; got 7."),
        ({"far": "0"}, "`far` must be greater than 0; got 0."),
        ({"far": "NaN"}, "`far` must be a finite number; got nan."),
        ({"far": "null"}, "`far` must be a valid number; got 'null'."),
        ({"top": "0"}, "`top` must be greater than or equal to 1; got 0."),
        ({"top": "many"}, "`top` must be a valid integer; got 'many'."),
        ({"cropped": "yes"}, "`cropped` must be a valid boolean; got 'yes'."),
        ({"name": "Ada"}, "`name` must be left out: there is no such field; got one."),
        ({"photo": "x"}, "`photo` must be given once; got it twice."),
    ],
)
def test_a_bad_value_is_named_with_what_is_legal_and_what_came(client, shots, fields, said):
    sent = client.post("/v1/identify", data=fields, files=files(shots["Ada"]["front"], field="photo"))
    assert problem(sent, 422, "bad_value") == said


@pytest.mark.parametrize(
    ("method", "place", "sent", "status", "code", "said"),
    [
        ("POST", "/v1/identify", {"json": {}}, 422, "bad_value", "`photo` must be given; got nothing."),
        ("POST", "/v1/identify", {"json": []}, 422, "bad_value", "The request must be an object; got a list."),
        ("POST", "/v1/identify", {"content": b"{", "headers": {"Content-Type": "application/json"}}, 400,
         "bad_request", None),
        ("POST", "/v1/identify", {"content": b"x"}, 415, "unsupported_media_type",
         "The content type must be application/json or multipart/form-data; got none."),
        ("POST", "/v1/calibrate", {"data": {"far": "0.1"}}, 415, "unsupported_media_type",
         "The content type must be application/json; got application/x-www-form-urlencoded."),
        ("POST", "/v1/people", {"json": {"name": " Ada"}}, 422, "bad_name", None),
        ("POST", "/v1/people", {"json": {"name": "Ada"}}, 409, "name_taken",
         "The new name must be one that nobody has; got 'Ada', who is enrolled."),
        ("PATCH", "/v1/people/1", {"json": {"name": "Ben"}}, 409, "name_taken", None),
        ("PATCH", "/v1/people/99", {"json": {"name": "Zoe"}}, 404, "unknown_person",
         "The number of a person must be that of somebody enrolled; got 99."),
        ("DELETE", "/v1/people/1/photos/99", {}, 404, "unknown_photo",
         "The number of a photo must be that of a photo of 'Ada'; got 99."),
        ("GET", "/v1/people/0", {}, 422, "bad_value", "`person` must be greater than or equal to 1; got '0'."),
        ("GET", "/v1/people/Ada", {}, 422, "bad_value", None),
        ("GET", "/v1/people?limit=0", {}, 422, "bad_value", None),
        ("GET", "/v1/people?after=%C3%A9", {}, 422, "bad_value",
         "`after` must be the `next` of a page; got something else."),
        ("GET", f"/v1/people/{2**63}", {}, 422, "bad_value", None),
        ("GET", "/v1/nothing", {}, 404, "not_found", None),
        ("PUT", "/v1/people", {}, 405, "method_not_allowed", None),
    ],
)  # fmt: skip
def test_whatever_is_wrong_is_a_problem_with_a_stable_code(client, method, place, sent, status, code, said):
    answer = client.request(method, place, **sent)
    told = problem(answer, status, code)
    assert said is None or told == said
    if code == "method_not_allowed":
        assert answer.headers["allow"] == "GET, POST"
