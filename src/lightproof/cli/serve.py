"""``lightproof serve``."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Annotated, Final

import typer

from lightproof.cli.command import place_name
from lightproof.cli.console import printable, remark, say
from lightproof.cli.options import DEFAULT, WAIT, Place, Preset, Wait
from lightproof.errors import BadParameter, MissingExtra

EXIT_CODES: Final = (
    "0 stopped by Ctrl-C or SIGTERM, after the requests that were there were answered; 1 it could not be started, "
    "with a sentence on stderr"
)

TOKEN: Final = "LIGHTPROOF_TOKEN"


def serve(
    gallery: Place = DEFAULT,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Others than this machine need a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Holds the token that callers must know; else the variable {TOKEN}."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A name the service is called by, such as door.example.org."),
    ] = None,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="For https, a PEM file.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="For https, a PEM file.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that compare; one for each core, up to 4, if not given.")
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add the audit lines to this file; stderr if not given.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second from one address; 0 is no limit.")] = 100.0,
    max_upload: Annotated[int, typer.Option(metavar="MIB", min=1, max=1024, help="The largest request.")] = 64,
    max_pixels: Annotated[float, typer.Option(metavar="MILLIONS", min=0.01, max=120, help="The largest photo.")] = 25.0,
    preset: Annotated[Preset | None, typer.Option(help="For a new gallery; robust if not given.")] = None,
    keep_photos: Annotated[
        bool | None, typer.Option("--keep-photos", help="A new gallery keeps the faces, for thumbnails and rebuild.")
    ] = None,
    wait: Wait = WAIT,
) -> None:
    """Serve a gallery: a page for the browser, and an API for programs.

    There is no liveness test: a printed photo of somebody can pass for them.

    Example: lightproof serve --gallery office.gallery
    """
    try:
        from lightproof.service import server as serving
        from lightproof.service.settings import Limits, Settings, check_host, default_workers
    except ModuleNotFoundError as missing:
        raise MissingExtra(f"To serve lightproof needs the package {missing.name}", "web") from None
    from lightproof.gallery import Gallery

    limits = Limits(
        rate=rate,
        body_bytes=max_upload * 2**20,
        held_bytes=max(Limits.held_bytes, 4 * max_upload * 2**20),
        photo_bytes=min(Limits.photo_bytes, max_upload * 2**20),
        photo_pixels=round(max_pixels * 1e6),
    )
    settings = Settings(
        gallery=gallery,
        token=_token(token_file),
        names=tuple(name or ()),
        workers=workers or default_workers(),
        audit=None if audit is None else str(audit),
        wait=wait,
        limits=limits,
    )
    check_host(host, settings.token)
    _check_tls(certificate, key)
    with Gallery.open(gallery, preset=preset, keep_photos=keep_photos, timeout=wait) as opened:
        opened.follow()
    remark(f"Starting {settings.workers} processes on {place_name(gallery)} ...")

    def announce(address: str) -> None:
        say(f"lightproof serves {printable(place_name(gallery))} at {address}")
        remark("There is no liveness test: a printed photo can pass. Ctrl-C stops.")

    serving.serve(settings, serving.Endpoint(host, port, certificate, key), announce)


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN) or None
    try:
        text = file.read_bytes()[:4096].decode("ascii", "replace").strip()
    except OSError as problem:
        raise BadParameter("serve", "--token-file", "a file that can be read", problem.strerror) from None
    if not text:
        raise BadParameter("serve", "--token-file", "a file with a token", "an empty one")
    return text


def _check_tls(certificate: Path | None, key: Path | None) -> None:
    """Refuse a certificate and key that do not work, before anything is started."""
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        option, other = ("--certificate", key) if certificate is None else ("--key", certificate)
        raise BadParameter("serve", option, f"given together with {other}", None)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as problem:
        got = problem.strerror or "something else"
        raise BadParameter("serve", "--certificate", "a PEM file with its --key beside it", got) from None
