"""``lightproof serve`` before it serves: what it refuses, in one sentence."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.cli.conftest import complaints, state


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("LIGHTPROOF_TOKEN", raising=False)


def test_other_machines_are_not_let_in_without_a_token(call, here):
    code, _, err = call("serve", "--host", "0.0.0.0")
    assert code == 2
    assert complaints(err) == [
        "lightproof: `host` of serve must be 127.0.0.1, ::1 or localhost where there is no token (LIGHTPROOF_TOKEN or "
        "--token-file); got '0.0.0.0'."
    ]
    assert state(here) == {}  # nor is a gallery made


@pytest.mark.parametrize("token", ["short", "x" * 15, "spaces are no part of it"])
def test_a_weak_token_is_refused_and_not_repeated(call, here, monkeypatch, token):
    monkeypatch.setenv("LIGHTPROOF_TOKEN", token)
    code, _, err = call("serve")
    assert code == 2
    [said] = complaints(err)
    assert said.startswith(
        "lightproof: `token` of serve must be 16 or more ASCII letters and signs without spaces; got "
    )
    assert token not in said


def test_a_token_file_must_hold_one(call, here):
    (here / "token").write_text("\n")
    for file, got in (
        ("nowhere", "'No such file or directory'"),
        ("token", "'an empty one'"),
        (".", "'Is a directory'"),
    ):
        code, _, err = call("serve", "--token-file", file)
        assert code == 2
        assert complaints(err)[0].endswith(f"; got {got}.")


@pytest.mark.slow
def test_an_address_that_is_taken_is_told(call, gallery):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = call("serve", "--port", port)
    assert code == 1
    said = err.strip().splitlines()[-1]
    assert said == (
        f"lightproof: 127.0.0.1 port {port} must be an address of this machine that is free; got: Address already in "
        "use."
    )


def test_a_certificate_needs_its_key(call, here):
    code, _, err = call("serve", "--certificate", "door.pem")
    assert code == 2
    assert complaints(err) == ["lightproof: `--key` of serve must be given together with door.pem; got None."]
    (here / "door.key").write_text("no key")
    for certificate, got in (("door.pem", "'No such file or directory'"), ("door.key", "")):
        code, _, err = call("serve", "--certificate", certificate, "--key", "door.key")
        assert code == 2
        legal = "`--certificate` of serve must be a PEM file with its --key beside it"
        assert complaints(err)[0].startswith(f"lightproof: {legal}; got {got}")


def test_what_is_no_gallery_is_not_served(call, here):
    (here / "people.gallery").write_text("something else")
    code, _, err = call("serve", "--port", "0")
    assert code == 1
    assert complaints(err)[-1].endswith(
        "people.gallery must be a gallery written by lightproof; got a file of another kind."
    )


def test_without_its_packages_the_extra_is_named(call, here, monkeypatch):
    from lightproof import service

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "lightproof.service.server", raising=False)
    monkeypatch.delattr(service, "server", raising=False)
    code, _, err = call("serve")
    assert code == 1
    assert complaints(err) == [
        "lightproof: To serve lightproof needs the package uvicorn; install them with: pip install 'lightproof[web]'."
    ]
