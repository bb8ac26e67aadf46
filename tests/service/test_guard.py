"""Who may ask, how often, and what is told to browsers, logs and auditors."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import BadGallery, BadParameter, CannotWrite, GalleryBusy, UserError
from lightproof.gallery import Gallery
from lightproof.service import guard, jobs
from lightproof.service.guard import MAX_ADDRESSES, RateLimiter
from lightproof.service.service_routes import page_files
from lightproof.service.settings import Limits, Settings, check_host
from lightproof.service.state import AuditLog
from tests.service.conftest import FREE
from tests.service.in_process import files, problem, serving

pytestmark = pytest.mark.slow

TOKEN = "correct-horse-battery-staple"
GUARDED = [
    ("GET", "/v1/version"), ("GET", "/v1/people"), ("POST", "/v1/people"), ("GET", "/v1/people/1"),
    ("PATCH", "/v1/people/1"), ("DELETE", "/v1/people/1"), ("GET", "/v1/people/1/photos"),
    ("POST", "/v1/people/1/photos"), ("DELETE", "/v1/people/1/photos/1"), ("GET", "/v1/people/1/photos/1/thumbnail"),
    ("POST", "/v1/identify"), ("POST", "/v1/verify"), ("POST", "/v1/explain"), ("POST", "/v1/explain/map"),
    ("POST", "/v1/diagnose"), ("GET", "/v1/calibration"), ("POST", "/v1/calibrate"), ("GET", "/v1/accuracy"),
    ("GET", "/v1/export"), ("POST", "/v1/import"), ("GET", "/metrics"), ("GET", "/v1"), ("GET", "/v1/"),
    ("GET", "/v1/health/"), ("GET", "/v1/nothing"), ("GET", "/metrics%0A"), ("GET", "/v1/people%0A"),
    ("GET", "/v1/health%0A"), ("GET", "/METRICS"), ("GET", "/nothing"), ("GET", "/page"), ("GET", "/.//metrics"),
]  # fmt: skip


@pytest.fixture
def guarded(gallery):
    with serving(Settings(str(gallery), token=TOKEN, limits=replace(FREE, guesses=10**6))) as client:
        yield client


@pytest.mark.parametrize(("method", "place"), GUARDED)
def test_without_the_token_nothing_of_the_gallery_is_told(guarded, method, place):
    for header in ({}, {"Authorization": TOKEN}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x" + TOKEN},
                   {"Authorization": f"Bearer {TOKEN} "}, {"Authorization": f"Basic {TOKEN}"},
                   {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"X-Token": TOKEN}):  # fmt: skip
        if header.get("Authorization", "").strip() == f"Bearer {TOKEN}":
            continue  # space at the end of a header is no part of it
        refused = guarded.request(method, place, headers=header)
        said = problem(refused, 401, "unauthorized")
        assert said.startswith("The header Authorization must be 'Bearer' and the token; got ")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in refused.text


def test_every_operation_of_the_document_is_among_those_that_are_guarded(guarded):
    document = guarded.get("/v1/openapi.json").json()
    told = {
        (method.upper(), re.sub(r"\{\w+\}", "1", place)) for place, ways in document["paths"].items() for method in ways
    }
    assert told - set(GUARDED) == {("GET", "/v1/health")}
    assert document["security"] == [{"token": []}]


def test_with_the_token_everything_is_told_and_without_it_health_and_the_page(guarded):
    assert guarded.get("/v1/version", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert guarded.get("/v1/version", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200
    assert guarded.get("/v1/health").json() == {"status": "ok"}
    assert guarded.get("/").status_code == 200


def test_tokens_are_compared_in_constant_time_and_at_equal_length(guarded, monkeypatch):
    compared = []
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda one, other: compared.append((one, other)) or False)
    guarded.get("/v1/version", headers={"Authorization": "Bearer short"})
    guarded.get("/v1/version", headers={"Authorization": f"Bearer {TOKEN}"})
    assert [(len(one), len(other)) for one, other in compared] == [(32, 32)] * 2


def test_who_guesses_tokens_is_slowed_down_and_nobody_else(gallery):
    with serving(Settings(str(gallery), token=TOKEN, limits=replace(FREE, guesses=5))) as client:
        right = {"Authorization": f"Bearer {TOKEN}"}
        for i in range(5):
            assert client.get("/v1/version", headers={"Authorization": f"Bearer guess{i}"}).status_code == 401
        refused = client.get("/v1/version", headers=right)
        problem(refused, 429, "too_many_requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 13
        client._transport.client = ("192.0.2.7", 40000)
        assert client.get("/v1/version", headers=right).status_code == 200


def test_asking_without_any_token_is_no_guess(gallery):
    with serving(Settings(str(gallery), token=TOKEN, limits=replace(FREE, guesses=2))) as client:
        for _ in range(20):
            assert client.get("/v1/version").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "door.example.org", "127.0.0.2"])
def test_others_than_this_machine_need_a_token(host):
    with pytest.raises(
        BadParameter, match=r"^`host` of serve must be 127.0.0.1, ::1 or localhost where there is no token"
    ):
        check_host(host, None)
    check_host(host, TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_needs_none(host):
    check_host(host, None)


@pytest.mark.parametrize(
    "token", ["short", "with spaces in it all over", "é" * 20, "x" * 15, "tab\there-and-more-letters"]
)
def test_a_token_that_is_guessed_or_lost_on_the_way_is_refused_and_not_repeated(token):
    with pytest.raises(BadParameter, match=r"^`token` of serve must be 16 or more ASCII letters") as told:
        Settings("people.gallery", token=token)
    assert token not in str(told.value)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[", "localhost@evil"]
)
def test_a_borrowed_name_is_refused_where_no_token_protects(client, host):
    """DNS rebinding: a page of another site makes its own name point to this machine."""
    problem(client.get("/v1/people", headers={"Host": host}), 403, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:80", "[::1]:8000"])
def test_this_machine_may_be_called_by_any_of_its_own_names(client, host):
    assert client.get("/v1/people", headers={"Host": host}).status_code == 200


def test_a_name_that_it_was_started_with_is_its_own(gallery):
    with serving(Settings(str(gallery), names=("door.example.org",), limits=FREE)) as client:
        assert client.get("/v1/people", headers={"Host": "door.example.org"}).status_code == 200
        sent = {"Host": "127.0.0.1", "Origin": "https://door.example.org"}
        assert client.get("/v1/people", headers=sent).status_code == 200
        problem(client.get("/v1/people", headers={"Host": "other.example.org"}), 403, "wrong_host")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8000", "["]
)
def test_pages_of_other_sites_can_neither_ask_nor_change_anything(client, shots, origin):
    face = shots["Eve"]["front"]
    for method, place, sent in (
        ("GET", "/v1/people", {}),
        ("DELETE", "/v1/people/1", {}),
        ("POST", "/v1/people", {"data": {"name": "Eve"}, "files": files(face)}),
        ("POST", "/v1/identify", {"files": files(face, field="photo")}),
    ):
        refused = client.request(method, place, headers={"Origin": origin}, **sent)
        problem(refused, 403, "foreign_origin")
        assert "access-control-allow-origin" not in refused.headers
    assert client.get("/v1/people").json()["total"] == 4


def test_pictures_of_the_gallery_cannot_be_shown_on_other_sites(client):
    for site in ("cross-site", "same-site"):
        shown = client.get("/v1/people/1/photos/1/thumbnail", headers={"Sec-Fetch-Site": site})
        problem(shown, 403, "foreign_origin")
    assert client.get("/v1/people/1/photos/1/thumbnail", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    # A link to the page may stand anywhere.
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    "place", ["/", "/page/style.css", "/v1/health", "/v1/people", "/v1/nothing", "/nothing", "/metrics"]
)
def test_every_answer_tells_browsers_what_they_may_not_do(client, place):
    headers = client.get(place).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if place in ("/", "/page/style.css") else "no-store")
    assert "set-cookie" not in headers
    assert "server" not in headers


def test_the_page_asks_no_other_site_and_holds_no_script_of_its_own():
    assert {"index.html", "style.css", "app.js"} <= set(page_files())
    for name, part in page_files().items():
        text = part.contents.decode()
        outside = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)
        assert [place for place in outside if not place.startswith("http://www.w3.org")] == [], name
    page = page_files()["index.html"].contents.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"\son\w+=|\sstyle=|<style", page) == []


@pytest.mark.parametrize(
    "name", ["..%2f..%2fapp.py", "%2e%2e", "/etc/passwd", "..\\app.py", "index.html%00.js", "nothing.js"]
)
def test_no_path_of_a_caller_reaches_the_disk(client, name):
    problem(client.get(f"/page/{name}"), 404, "not_found")


def test_a_part_of_the_page_that_a_browser_has_is_not_sent_again(client):
    tag = client.get("/page/app.js").headers["etag"]
    again = client.get("/page/app.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


# ------------------------------------------------------------------------------------------------------------- rates


def test_who_asks_too_often_is_told_when_to_come_back(gallery):
    with serving(Settings(str(gallery), limits=replace(Limits(), rate=2))) as client:
        answers = [client.get("/v1/health") for _ in range(12)]
        assert [answer.status_code for answer in answers[:10]] == [200] * 10
        said = problem(answers[-1], 429, "too_many_requests")
        assert said == "One address must send at most 2 requests a second; got more."
        assert int(answers[-1].headers["retry-after"]) >= 1


@given(st.lists(st.floats(0, 2), max_size=60), st.floats(0.5, 20), st.integers(1, 20))
def test_nobody_gets_more_than_the_burst_and_what_grew_since(pauses, rate, burst):
    clock = [0.0]
    rates = RateLimiter(rate, burst, lambda: clock[0])
    allowed = 0
    for pause in pauses:
        clock[0] += pause
        seconds = rates.wait("a")
        allowed += not seconds
        assert allowed <= burst + clock[0] * rate + 1e-6
        if seconds:
            # Who waits as long as told is let in.
            later = RateLimiter(rate, burst, lambda: clock[0])
            later._buckets = rates._buckets.copy()
            clock[0] += seconds + 1e-9
            assert later.wait("a") == 0
            clock[0] -= seconds + 1e-9
    assert rates.wait("b") == 0  # nobody else has less of it


@pytest.mark.parametrize("rate", [0.01, 0.19, 1, 50])
def test_however_low_the_rate_one_request_is_let_in(gallery, rate):
    with serving(Settings(str(gallery), limits=replace(Limits(), rate=rate))) as client:
        assert client.get("/v1/health").status_code == 200


def test_addresses_are_not_remembered_without_end():
    rates = RateLimiter(1, 1)
    for i in range(MAX_ADDRESSES + 500):
        rates.wait(f"address {i}")
    assert len(rates._buckets) == MAX_ADDRESSES


# ----------------------------------------------------------------------------------------------------- audit and logs


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_enroll_identify_and_delete_is_on_record_without_names_and_pictures(gallery, shots, tmp_path, caplog):
    record = tmp_path / "audit.jsonl"
    caplog.set_level(logging.DEBUG)
    with serving(Settings(str(gallery), audit=str(record), limits=FREE)) as client:
        form = {"data": {"name": "Evelyn Secret", "cropped": "true"}, "files": files(shots["Eve"]["front"])}
        made = client.post("/v1/people", **form)
        who = made.json()["person"]["id"]
        found = client.post("/v1/identify", data={"cropped": "true"}, files=files(shots["Eve"]["left"], field="photo"))
        nobody = client.post("/v1/identify", data={"cropped": "true"}, files=files(b"x", field="photo"))
        client.get("/v1/people", params={"name": "Evelyn Secret"})
        client.post("/v1/explain", data={"cropped": "true"}, files=files(shots["Eve"]["left"], field="photo"))
        client.post("/v1/explain/map", data={"cropped": "true"}, files=files(shots["Eve"]["left"], field="photo"))
        client.patch(f"/v1/people/{who}", json={"name": "Evelyn Hidden"})
        client.delete(f"/v1/people/{who}")
        client.get("/v1/people/Evelyn Secret")
    told = lines_of(record)
    assert [line["action"] for line in told] == ["enroll", "identify", "explain", "explain", "rename", "delete"]
    assert [line.get("person") for line in told] == [who] * 6
    assert told[0]["photos"] == [made.json()["added"][0]["id"]]
    assert told[1]["request"] == found.headers["x-request-id"]
    assert told[1]["answer"] == "known"
    assert nobody.status_code == 422
    logged = "\n".join(line.getMessage() for line in caplog.records if line.name.startswith(("lightproof", "uvicorn")))
    written = record.read_text() + logged
    for personal in ("Evelyn", "Secret", "Hidden", "testclient", "127.0.0.1", made.json()["added"][0]["sha256"]):
        assert personal not in written
    assert "POST /v1/identify 200" in logged
    assert oct(record.stat().st_mode & 0o777) == "0o600"


def test_lines_are_added_to_those_that_are_there(tmp_path):
    file = tmp_path / "audit.jsonl"
    for i in range(3):
        audit = AuditLog(str(file))
        audit.write(f"r{i}", "identify", answer="unknown")
        audit.close()
    assert [line["request"] for line in lines_of(file)] == ["r0", "r1", "r2"]


def test_a_service_whose_record_cannot_be_written_does_not_start(gallery, tmp_path):
    settings = Settings(str(gallery), audit=str(tmp_path / "nowhere" / "audit.jsonl"))
    place = r"audit.jsonl must be a place that can be written; got: No such file"
    with pytest.raises(CannotWrite, match=place), serving(settings):
        pass


def test_a_bug_is_logged_by_its_place_and_not_by_what_was_sent(client, shots, monkeypatch, caplog):
    from lightproof.service import serializers

    def broken(_, ids, *__):
        raise RuntimeError(f"{ids} {personal}")

    personal = "".join(["Evelyn", " ", "Secret"])

    monkeypatch.setattr(serializers, "answer", broken)
    sent = client.post("/v1/identify", data={"cropped": "true"}, files=files(shots["Eve"]["left"], field="photo"))
    said = problem(sent, 500, "internal")
    assert personal not in said + caplog.text
    assert "RuntimeError" in caplog.text
    assert "in broken" in caplog.text


def test_a_rebuilt_gallery_is_served_anew_and_nobody_is_named_in_the_log(client, gallery, shots, caplog):
    ask = {"data": {"cropped": "true"}, "files": files(shots["Ada"]["right"], field="photo")}
    assert client.post("/v1/identify", **ask).json()["name"] == "Ada"
    Gallery.rebuild(gallery, "robust")
    refused = client.post("/v1/identify", **ask)
    assert problem(refused, 503, "gallery_unavailable").endswith("see the log.")
    assert "other parameters" in caplog.text
    assert "Ada" not in "".join(line.getMessage() for line in caplog.records if line.name.startswith("lightproof"))
    # What those who work do every half second.
    jobs.worker_state().follow()
    assert client.post("/v1/identify", **ask).json()["name"] == "Ada"
    assert client.get("/v1/health").status_code == 200
    assert client.get("/v1/version").json()["preset"] == "robust"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (CannotWrite("/secret/place", OSError(28, "No space left on device")), 503, "gallery_unavailable"),
        (GalleryBusy("/secret/place", "free", "another writer"), 503, "busy"),
        (BadGallery("/secret/place", "a picture"), 503, "gallery_unavailable"),
        (UserError("/secret/place must be open."), 500, "internal"),
    ],
)
def test_where_the_gallery_lies_is_not_told(client, monkeypatch, error, status, code):
    def broken(*_):
        raise error

    monkeypatch.setattr(client.app.state.service.gallery, "calibration", broken)
    assert "secret" not in problem(client.get("/v1/calibration"), status, code)


def test_figures_tell_how_much_and_nothing_of_whom(client, shots):
    for name in ("Ada", "Eve"):
        client.post("/v1/identify", data={"cropped": "true"}, files=files(shots[name]["right"], field="photo"))
    client.get("/v1/people/1")
    client.get("/nothing/Ada")
    told = client.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=")
    assert 'lightproof_answers_total{answer="known"} 1.0' in told.text
    assert 'lightproof_answers_total{answer="unknown"} 1.0' in told.text
    assert 'lightproof_requests_total{method="POST",route="/v1/identify",status="200"} 2.0' in told.text
    assert 'route="/v1/people/{person}"' in told.text
    assert 'route="other",status="404"' in told.text
    assert "lightproof_gallery_people 4.0" in told.text
    assert "Ada" not in told.text
