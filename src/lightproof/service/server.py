"""Run a service until it is told to stop."""

from __future__ import annotations

import logging.config
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn

from lightproof.errors import UserError
from lightproof.service.app import make_app
from lightproof.service.http_protocol import GuardedProtocol
from lightproof.service.settings import Settings, check_host

GRACE: Final = 30
"""Seconds that requests have left after the service was told to stop."""

BACKLOG: Final = 1024

LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(name)s %(levelname)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "lightproof": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        # It would tell the addresses of those who ask.
        "uvicorn": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
    },
}


@dataclass(frozen=True)
class Place:
    """Where a service is reached.

    Attributes
    ----------
    host : str
    port : int
        0 is any that is free.
    certificate, key : Path, optional
        Of TLS, as PEM files.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def serve(settings: Settings, place: Place, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; requests that are there are answered first.

    Parameters
    ----------
    settings : Settings
    place : Place
    announce : callable
        Told the address when the service is ready.
    """
    check_host(place.host, settings.token)
    listener = _bound(place)
    address = _address(place, listener)
    config = uvicorn.Config(
        make_app(settings),
        http=GuardedProtocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )
    logging.config.dictConfig(LOGGING)
    # uvicorn hands a signal on when it is done; to have stopped is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server = _Server(config, lambda: announce(address))
    try:
        server.run([listener])
    finally:
        listener.close()
    if not server.started:
        raise UserError("The service must be able to start; got an error that the log tells.")


def _bound(place: Place) -> socket.socket:
    """Take the address before anything else is done."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as problem:
        raise _cannot_listen(place, problem) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except OSError as problem:
        listener.close()
        raise _cannot_listen(place, problem) from None
    return listener


def _cannot_listen(place: Place, problem: OSError) -> UserError:
    what = f"{place.host} port {place.port}"
    return UserError(f"{what} must be an address of this machine that is free; got: {problem.strerror or problem}.")


def _address(place: Place, listener: socket.socket) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    scheme = "http" if place.certificate is None else "https"
    return f"{scheme}://{host}:{listener.getsockname()[1]}"
