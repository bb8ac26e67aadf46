"""Run a service until a signal stops it, over connections that do not wait for ever.

The application sees a request once all its headers have arrived. Before that only the server can protect itself against
callers that send slowly, never end a request, or never read the answer.
"""

from __future__ import annotations

import asyncio
import json
import logging.config
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from lightproof.errors import UserError
from lightproof.service.application import make_app
from lightproof.service.problems import MEDIA_TYPE, ServiceProblem
from lightproof.service.settings import Settings, check_host

SHUTDOWN_SECONDS: Final = 30
"""How long running requests may take after the service was told to stop."""

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""

MAX_HEADER_SECONDS: Final = 10.0
"""From the first byte of a request, or from the connection, until all headers have arrived."""

MAX_HEADER_BYTES: Final = 32 * 1024
"""Length of address and headers together; browsers send a tenth of it."""

DRAIN_SECONDS: Final = 10.0
"""How long the rest of a body is received and dropped after its request was refused."""

WRITE_SECONDS: Final = 30.0
"""How long a caller may read nothing of an answer."""

LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(name)s %(levelname)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "lightproof": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        # Below this level it writes the addresses of callers.
        "uvicorn": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
    },
}


class GuardedProtocol(HttpToolsProtocol):
    """One connection. A timer runs whenever the other side has to send or read something."""

    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _in_headers = True
    _header_bytes = 0
    _in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the headers."""
        super().connection_made(transport)
        self._start(MAX_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop both timers."""
        self._stop()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of headers, which the parser holds back until all have arrived."""
        if self._in_headers:
            # Earlier pieces count, this one does not yet: its rest may be a body.
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse("headers_too_large", f"Address and headers must be of at most {MAX_HEADER_BYTES} bytes")
                return
            self._header_bytes += len(data)
        super().data_received(data)
        idle = self.cycle is None or self.cycle.response_complete
        if self._in_headers and idle and self._timer is None and not self.transport.is_closing():
            # Any byte stops the keep-alive timer of uvicorn, even one that begins no request.
            self._start(MAX_HEADER_SECONDS)

    def on_headers_complete(self) -> None:
        """Stop the timer: from here on the application limits the time."""
        self._stop()
        self._in_headers, self._header_bytes, self._in_body = False, 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait for the headers of another request."""
        self._stop()
        self._in_headers, self._in_body = True, False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Drop the rest of an unread body for some time: a caller that still sends would not see the answer."""
        super().on_response_complete()
        if self._in_body and self.cycle.response_complete and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._start(DRAIN_SECONDS)

    def pause_writing(self) -> None:
        """Start the write timer: the other side does not read."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the write timer."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP."""
        self._refuse("bad_request", "The request must be HTTP that can be read")

    def _refuse(self, code: str, legal: str) -> None:
        """Answer in place of the application, and hang up."""
        self._stop()
        problem = ServiceProblem(code, f"{legal}; got something else.")
        body = json.dumps(vars(problem.details("-"))).encode()
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[problem.status] + head.encode() + body)
        self.transport.close()

    def _start(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self._hang_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        self.transport.abort()


@dataclass(frozen=True)
class Endpoint:
    """Where a service is reached: port 0 is any free one, certificate and key are PEM files."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None


class _AnnouncingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def serve(settings: Settings, endpoint: Endpoint, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests are answered first.

    ``announce`` is called with the address when the service is ready.
    """
    check_host(endpoint.host, settings.token)
    listener = _listen(endpoint)
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    scheme = "http" if endpoint.certificate is None else "https"
    address = f"{scheme}://{host}:{listener.getsockname()[1]}"
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
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ssl_certfile=endpoint.certificate,
        ssl_keyfile=endpoint.key,
    )
    logging.config.dictConfig(LOGGING)
    # uvicorn raises the signal again after it has stopped, which would end in a failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server = _AnnouncingServer(config, lambda: announce(address))
    try:
        server.run([listener])
    finally:
        listener.close()
    if not server.started:
        raise UserError("The service must be able to start; got an error, which the log tells.")


def _listen(endpoint: Endpoint) -> socket.socket:
    """Bind the address before anything else is started."""
    listener = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as problem:
        if listener is not None:
            listener.close()
        legal = f"{endpoint.host} port {endpoint.port} must be an address of this machine that is free"
        raise UserError(f"{legal}; got: {problem.strerror or problem}.") from None
    return listener
