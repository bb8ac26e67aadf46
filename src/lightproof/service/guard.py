"""The first to see a request and the last to see its answer: who may send requests, how often, and browser headers."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lightproof.imaging.decode import in_one_line
from lightproof.service import problems
from lightproof.service.problems import ServiceProblem, too_many
from lightproof.service.serializers import to_json
from lightproof.service.settings import LOOPBACK
from lightproof.service.state import ServiceState, request_id

log = logging.getLogger("lightproof.service")

OPEN_PATHS: Final = frozenset({"/", "/v1/health", "/v1/openapi.json"})
"""Paths that need no token, besides the files of the page, which hold nothing of the gallery."""

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
}

METHODS: Final = frozenset({"GET", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "PUT"})

BURST_SECONDS: Final = 5.0
"""Seconds' worth of requests that may come at once."""

MAX_ADDRESSES: Final = 10_000
"""Addresses a limiter remembers; it forgets the one that was silent longest."""


class RateLimiter:
    """Limits how often each address does something: ``rate`` times a second in the long run, ``burst`` times at once.

    Each address has a bucket of tokens; a rate of 0 is no limit.
    """

    def __init__(self, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str, cost: float = 1.0) -> float:
        """Take a token if there is one; return 0, or the seconds until there is one.

        A cost of 0 takes none and only tells whether there is one.
        """
        if not self._rate:
            return 0.0
        now = self._now()
        left, since = self._buckets.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        missing = max(cost, 1.0) - left
        self._buckets[address] = (left if missing > 0 else left - cost, now)
        if len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return missing / self._rate if missing > 0 else 0.0


class Guard:
    """Middleware before the application.

    It refuses requests that a page of another site makes a browser send, and requests under a host name that is not the
    service's own: a browser lends its place in the network to every page it shows. There are no cookies, so a browser
    sends nothing on its own that the service would trust.
    """

    def __init__(self, app: ASGIApp, state: ServiceState) -> None:
        self._app, self._state = app, state
        limits, token = state.limits, state.settings.token
        self._rates = RateLimiter(limits.rate, max(1.0, BURST_SECONDS * limits.rate))
        self._guesses = RateLimiter(limits.guesses / 60, limits.guesses)
        self._token = None if token is None else _digest(token.encode())
        self._names = frozenset(name.lower() for name in state.settings.names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["lightproof.request"] = secrets.token_hex(8)
        sender = _HeaderSender(scope, send)
        began = time.perf_counter()
        self._state.metrics.running.inc()
        try:
            problem = self._refused(scope)
            if problem is None:
                await self._app(scope, receive, sender.send)
            else:
                await problem_response(problem, scope)(scope, receive, sender.send)
        except ClientDisconnect:
            pass  # nobody waits for the answer
        except Exception as error:
            _log_bug(scope, error)
            if not sender.status:
                bug = ServiceProblem("internal", problems.DETAILS["internal"])
                await problem_response(bug, scope)(scope, receive, sender.send)
        finally:
            self._state.metrics.running.dec()
            self._count(scope, sender.status, time.perf_counter() - began)

    def _refused(self, scope: Scope) -> ServiceProblem | None:
        headers, path = Headers(scope=scope), scope["path"]
        address = scope["client"][0] if scope.get("client") else "?"
        seconds = self._rates.wait(address)
        if seconds:
            detail = f"One address must send at most {self._state.limits.rate:g} requests a second; got more."
            return too_many(detail, seconds)
        return self._foreign(headers, path) or self._unauthorized(headers, path, address)

    def _foreign(self, headers: Headers, path: str) -> ServiceProblem | None:
        """Refuse what a page of another site makes a browser send."""
        host = headers.get("host", "").lower()
        # With a token, a page that reaches the service by a borrowed name still does not know it.
        if self._token is None and (_split(f"//{host}").hostname or "") not in LOOPBACK | self._names:
            legal = "localhost, or a name that the service was started with (--name)"
            return ServiceProblem("wrong_host", f"The host name must be {legal}; got {in_one_line(host)!r}.")
        origin = headers.get("origin")
        sender = _split(origin or "")
        own = origin is None or sender.netloc.lower() == host or (sender.hostname or "") in self._names
        if not own or (_is_guarded(path) and headers.get("sec-fetch-site") in ("cross-site", "same-site")):
            detail = "The request must come from the service's own page; got one from another site."
            return ServiceProblem("foreign_origin", detail)
        return None

    def _unauthorized(self, headers: Headers, path: str, address: str) -> ServiceProblem | None:
        """Refuse callers that do not know the token."""
        if self._token is None or not _is_guarded(path):
            return None
        seconds = self._guesses.wait(address, 0)
        if seconds:
            return too_many("The token must be known, not guessed; got too many wrong ones.", seconds)
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Digests are of one length, so that the time tells nothing of either.
        right = hmac.compare_digest(_digest(given.encode("latin-1")), self._token)
        if kind.lower() == "bearer" and right:
            return None
        if given:
            self._guesses.wait(address)
        detail = f"The header Authorization must be 'Bearer' and the token; got {'another' if kind else 'none'}."
        return ServiceProblem("unauthorized", detail, (), {"WWW-Authenticate": "Bearer"})

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method, route, outcome = scope["method"], _route(scope), str(status or "gone")
        method = method if method in METHODS else "other"
        self._state.metrics.requests.labels(method, route, outcome).inc()
        self._state.metrics.seconds.labels(route).observe(seconds)
        # Not the path, and no address: either may tell about somebody.
        log.info("%s %s %s %d ms %s", method, route, outcome, round(1000 * seconds), request_id(scope))


class _HeaderSender:
    """Sends an answer with the headers of every answer, and remembers its status."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if self._scope["scheme"] == "https":  # browsers complain of it elsewhere
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["X-Request-Id"] = request_id(self._scope)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


def problem_response(problem: ServiceProblem, scope: Scope) -> Response:
    """Make the answer of a problem."""
    body = to_json(problem.details(request_id(scope)))
    return Response(body, problem.status, problem.headers, problems.MEDIA_TYPE)


def _is_guarded(path: str) -> bool:
    return path not in OPEN_PATHS and not path.startswith("/page/")


def _route(scope: Scope) -> str:
    """Return the template of the path: one without the numbers and names in it."""
    template = str(getattr(scope.get("route"), "path", "other"))
    below = scope["path"].startswith("/v1/") and not template.startswith(("/v1", "other"))
    return f"/v1{template}" if below else template


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def _split(address: str) -> SplitResult:
    """Split an address; one that cannot be read has no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _log_bug(scope: Scope, error: Exception) -> None:
    """Log where an error happened, but not its message, which may quote what was sent."""
    here = traceback.format_tb(error.__traceback__)
    # A worker's traceback arrives as text: every line but the last, the message, is indented.
    worker = [line for line in str(error.__cause__ or "").splitlines(keepends=True) if line.startswith("  ")]
    log.error("Request %s failed with %s:\n%s", request_id(scope), type(error).__name__, "".join([*here, *worker]))
