"""HTTP as it comes from the network: who dawdles before a request is there, never ends one or never reads, is let go.

What an application can see begins when all headers are there. Before that only the server can look after itself.
"""

from __future__ import annotations

import asyncio
import json
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from lightproof.service.problems import MEDIA_TYPE, ServiceProblem

HEADERS_SECONDS: Final = 10.0
"""From the first byte of a request, or from the connection, until all headers are there."""

HEADERS_BYTES: Final = 32 * 1024
"""Of address and headers together; those of browsers have a tenth of it."""

AFTER_SECONDS: Final = 10.0
"""How long the rest of a body is let flow by, after its request was refused."""

READING_SECONDS: Final = 30.0
"""How long a caller may take nothing of an answer."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection. Whenever something is awaited from the other side, a clock runs."""

    _clock: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _awaiting = True  # the headers of a request
    _bytes = 0
    _unread = False  # the rest of a body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._start(HEADERS_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._stop()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes before all headers are there: the parser keeps an unfinished one to itself."""
        if self._awaiting:
            # What came before counts: the rest of this piece may be a body.
            if self._bytes > HEADERS_BYTES:
                self._refuse("headers_too_large", f"Address and headers must be of at most {HEADERS_BYTES} bytes")
                return
            self._bytes += len(data)
        super().data_received(data)
        idle = self.cycle is None or self.cycle.response_complete
        if self._awaiting and idle and self._clock is None and not self.transport.is_closing():
            # Any byte ends the patience of the server below, also one that begins nothing.
            self._start(HEADERS_SECONDS)

    def on_headers_complete(self) -> None:
        """Stop the clock: from here on the application looks after itself."""
        self._stop()
        self._awaiting, self._bytes, self._unread = False, 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Take note that this request is there, and wait for another."""
        self._stop()
        self._awaiting, self._unread = True, False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Let a body that nobody reads flow by, but not for ever: who still sends would not see the answer else."""
        super().on_response_complete()
        if self._unread and self.cycle.response_complete and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._start(AFTER_SECONDS)

    def pause_writing(self) -> None:
        """Start another clock: the other side does not read."""
        super().pause_writing()
        self._reading = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop it."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse("bad_request", "The request must be HTTP that can be read")

    def _refuse(self, code: str, legal: str) -> None:
        """Answer in place of an application, and hang up."""
        self._stop()
        problem = ServiceProblem(code, f"{legal}; got something else.")
        told = vars(problem.told("-")) | {"rejected": []}
        body = json.dumps(told).encode()
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[problem.status] + head.encode() + body)
        self.transport.close()

    def _start(self, seconds: float) -> None:
        self._stop()
        self._clock = self.loop.call_later(seconds, self._hang_up)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _hang_up(self) -> None:
        self._clock = None
        self.transport.abort()
