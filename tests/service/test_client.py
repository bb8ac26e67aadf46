"""The client: typed answers, and errors that say what the service said."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import fields, is_dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import lightproof
from lightproof import Client
from lightproof.errors import LightproofError, MissingExtra
from lightproof.gallery import Gallery, extract_face
from lightproof.service import openapi, schemas
from lightproof.service.client import ServiceError, from_json
from lightproof.service.problems import ProblemSchema
from tests.examples import examples
from tests.service.running import Running

pytestmark = pytest.mark.slow

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def service(tmp_path_factory, made_gallery):
    place = tmp_path_factory.mktemp("client") / "people.gallery"
    place.write_bytes(made_gallery.read_bytes())
    with Running(place, "--rate", 0, "--workers", 1, token=TOKEN) as running:
        yield running


@pytest.fixture
def client(service):
    with Client(service.url, TOKEN) as client:
        yield client


def test_everything_can_be_asked_from_python(client, shots, tmp_path):
    assert client.health() == schemas.HealthSchema("ok")
    assert client.version().people == 4
    assert [person.name for person in client.people()] == ["Ada", "Ben", "Cleo", "Dan"]
    photo = tmp_path / "eve.png"
    photo.write_bytes(shots["Eve"]["front"])
    made = client.enroll("Eve", photo, cropped=True)
    assert made.person.photos == len(made.added) == 1
    assert client.enroll("Eve", [shots["Eve"]["right"]], cropped=True).person.id == made.person.id
    answer = client.identify(shots["Eve"]["left"], 3, cropped=True)
    assert (answer.name, answer.person, len(answer.candidates)) == ("Eve", made.person.id, 3)
    assert "turn to your left" in answer.light.hint
    assert answer.with_mesh == extract_face(shots["Eve"]["left"], cropped=True).aligned.has_mesh
    assert client.verify(shots["Eve"]["left"], shots["Eve"]["front"], far=0.02, cropped=True).same
    assert not client.verify(shots["Eve"]["left"], person="Ada", cropped=True).same
    told = client.explain(shots["Eve"]["left"], "Eve", "Ada", cropped=True)
    assert sum(patch.value for patch in told.patches) == pytest.approx(told.lead - told.against_lead, abs=1e-4)
    assert client.explain_map(shots["Eve"]["left"], cropped=True).startswith(b"\x89PNG")
    assert client.diagnose(shots["Eve"]["left"], cropped=True).light.side == "right"
    assert client.calibrate(0.01).far == client.calibration().far == 0.01
    assert client.accuracy().people == 5
    assert client.rename("Eve", "Eve Adams").name == "Eve Adams"
    assert client.person("Eve Adams").advice.has
    assert client.thumbnail(made.person.id, made.added[0].id).startswith(b"\x89PNG")
    assert client.remove_photo("Eve Adams", made.added[0].id).photos == 1
    assert len(client.photos("Eve Adams")) == 1
    client.export(tmp_path / "copy.gallery")
    with Gallery.open(tmp_path / "copy.gallery", create=False) as copy:
        assert len(copy.people()) == 5
    assert client.forget("Eve Adams").people == 1
    assert client.import_(tmp_path / "copy.gallery").people == 5
    client.forget("Eve Adams")


def test_what_the_service_says_is_wrong_is_the_error(client, tmp_path):
    with pytest.raises(
        ServiceError, match=r"^The photo must be a JPEG, PNG, .* picture; got something else\.$"
    ) as told:
        client.identify(b"no picture", cropped=True)
    assert (told.value.code, told.value.status) == ("bad_picture", 422)
    assert told.value.problem.title == "The picture cannot be used"
    assert isinstance(told.value, LightproofError)
    with pytest.raises(ServiceError, match=r"^At least one photo must be usable; got 2 that were rejected\.$") as told:
        client.enroll("Nobody", [b"x", b"y"], cropped=True)
    assert [one.index for one in told.value.problem.rejected] == [0, 1]
    with pytest.raises(ServiceError, match=r"^The name must be that of somebody enrolled; got 'Zoe'\.$"):
        client.forget("Zoe")
    (tmp_path / "no.gallery").write_bytes(b"x")
    with pytest.raises(ServiceError, match=r"^The file must be a gallery written by lightproof; got a file of another"):
        client.import_(tmp_path / "no.gallery")


def test_a_wrong_token_is_told(service, tmp_path):
    with Client(service.url, "another-token-altogether") as client:
        with pytest.raises(ServiceError) as told:
            client.version()
        assert told.value.code == "unauthorized"
        with pytest.raises(ServiceError):
            client.export(tmp_path / "copy.gallery")
        assert list(tmp_path.iterdir()) == []  # not even half of it


def test_where_nobody_answers_one_sentence_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ServiceError, match=rf"^http://127.0.0.1:{port} must be a service that answers; got: ") as told:
        Client(f"http://127.0.0.1:{port}").health()
    assert (told.value.code, told.value.status) == ("unreachable", 0)


class Redirecting(BaseHTTPRequestHandler):
    """A proxy that wants a login first, or hangs up in the middle."""

    def do_GET(self):
        if "export" in self.path and self.server.broken:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half")
            return
        self.send_response(302)
        self.send_header("Location", "/login")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"login")

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("broken", [False, True])
def test_what_is_no_answer_of_lightproof_is_no_answer_and_costs_no_file(tmp_path, broken):
    server = HTTPServer(("127.0.0.1", 0), Redirecting)
    server.broken = broken
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        (tmp_path / "copy.gallery").write_bytes(b"good")
        with Client(f"http://127.0.0.1:{server.server_port}") as client:
            for ask in (
                lambda: client.export(tmp_path / "copy.gallery"),
                lambda: client.thumbnail(1, 1),
                client.version,
            ):
                with pytest.raises(ServiceError) as told:
                    ask()
                assert told.value.code in ("no_problem", "unreachable")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"copy.gallery": b"good"}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_name_is_the_same_however_its_accents_are_written(client, shots):
    decomposed, composed = "Jose\u0301", "Jos\u00e9"
    made = client.enroll(decomposed, shots["Eve"]["front"], cropped=True)
    assert client.enroll(decomposed, shots["Eve"]["right"], cropped=True).person.photos == 2
    assert client.person(composed).id == client.person(decomposed).id == made.person.id
    client.forget(decomposed)


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "httpx2", None)
    with pytest.raises(
        MissingExtra, match=r"^To ask a service lightproof needs the package httpx2; install them with: pip"
    ):
        lightproof.Client("http://127.0.0.1:8000")


# ---------------------------------------------------------------------------------------------------------- the wire

KINDS = [*(kind for kind in vars(schemas).values() if is_dataclass(kind)), ProblemSchema]

# JSON has no other numbers, and the service says no others.
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_written_is_read_back(kind):
    """Whatever the service can write, the client reads as the same thing."""

    @examples(20)
    @given(st.from_type(kind))
    def holds(made):
        told = json.loads(TypeAdapter(kind).dump_json(made))
        assert from_json(kind, told) == made
        # A newer service may say more.
        assert from_json(kind, told | {"something new": 1}) == made

    holds()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("told", [None, [], "x", 1, {}, {"status": 7}])
def test_what_is_something_else_is_refused(kind, told):
    if kind is ProblemSchema and told == {}:
        told = {"code": 3}
    with pytest.raises(ValueError, match="expected"):
        from_json(kind, told)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_document_says_of_every_field_what_it_is(kind):
    schema = TypeAdapter(kind).json_schema()["properties"]
    plain = {
        *("id", "name", "status", "person", "photos", "people", "limits", "advice", "light", "height", "lead", "of"),
        *("distance", "has", "lacks", "against", "against_name", "against_lead", "sentence", "rows", "columns", "top"),
        *("width", "count", "low", "high", "threshold", "far", "calibrated", "rejected", "added", "left_eye", "total"),
    }
    for field in fields(kind):
        assert field.name in plain or schema[field.name].get("description"), f"{kind.__name__}.{field.name}"


def test_the_examples_of_the_document_are_what_the_service_would_say():
    for name, example in vars(openapi).items():
        if is_dataclass(example) and not isinstance(example, type):
            told = json.loads(TypeAdapter(type(example)).dump_json(example))
            assert from_json(type(example), told) == example, name
