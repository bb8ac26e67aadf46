"""The first to see a request and the last to see its answer: who may ask, how often, and what browsers are told."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
import traceback
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import TypeAdapter
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lightproof.imaging.decode import in_one_line
from lightproof.service import schemas
from lightproof.service.problems import MEDIA_TYPE, ServiceProblem, too_many
from lightproof.service.settings import LOOPBACK
from lightproof.service.state import Desk, request_of

log = logging.getLogger("lightproof.service")

OPEN: Final = frozenset({"/", "/v1/health", "/v1/openapi.json"})
"""What anybody may ask, beside the parts of the page, which hold nothing of the gallery."""

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

_PROBLEM: Final = TypeAdapter(schemas.Problem)


class Guard:
    """Stands before the application.

    A request is refused that comes from a page of another site, or by a name that is not the service's own: a browser
    lends its place in the network to every page it shows. There are no cookies, so nothing is sent by a browser on its
    own that the service would trust.

    Parameters
    ----------
    app : ASGI application
    desk : Desk
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app, self._desk = app, desk
        token = desk.settings.token
        self._token = None if token is None else _digest(token.encode())
        self._names = frozenset(name.lower() for name in desk.settings.names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["lightproof.request"] = secrets.token_hex(8)
        answer = _Answer(scope, send)
        began = time.perf_counter()
        self._desk.metrics.running.inc()
        try:
            problem = self._refused(scope)
            if problem is None:
                await self._app(scope, receive, answer.send)
            else:
                await respond(problem, scope, receive, answer.send)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as problem:
            _log_bug(scope, problem)
            if not answer.status:
                wrong = ServiceProblem("internal", "The request must be one that can be answered; see the log.")
                await respond(wrong, scope, receive, answer.send)
        finally:
            self._desk.metrics.running.dec()
            self._count(scope, answer.status, time.perf_counter() - began)

    def _refused(self, scope: Scope) -> ServiceProblem | None:
        headers, path = Headers(scope=scope), scope["path"]
        address = scope["client"][0] if scope.get("client") else "?"
        seconds = self._desk.rates.wait(address)
        if seconds:
            rate = self._desk.limits.rate
            return too_many(f"One address must ask at most {rate:g} times a second; got more.", seconds)
        return self._stranger(headers, path) or self._guessing(headers, path, address)

    def _stranger(self, headers: Headers, path: str) -> ServiceProblem | None:
        """Refuse what a page of another site makes a browser ask."""
        host = headers.get("host", "").lower()
        # With a token, a page that reaches the service by a borrowed name still does not know it.
        if self._token is None and _name_of(host) not in LOOPBACK | self._names:
            legal = "localhost, or one that it was started with (--name)"
            return ServiceProblem("wrong_host", f"The service must be called by {legal}; got {in_one_line(host)!r}.")
        origin = headers.get("origin")
        own = origin is None or (urlsplit_host(origin) == host or _name_of(urlsplit_host(origin)) in self._names)
        if not own or (_is_guarded(path) and headers.get("sec-fetch-site") in ("cross-site", "same-site")):
            return ServiceProblem("foreign_origin", "The request must come from the service's own page; got another.")
        return None

    def _guessing(self, headers: Headers, path: str, address: str) -> ServiceProblem | None:
        """Refuse who does not know the token."""
        if self._token is None or not _is_guarded(path):
            return None
        seconds = self._desk.guesses.wait(address, 0)
        if seconds:
            return too_many("The token must be known, not guessed; got too many that were wrong.", seconds)
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Digests are of one length, so that the time tells nothing of either.
        right = hmac.compare_digest(_digest(given.encode("latin-1")), self._token)
        if kind.lower() == "bearer" and right:
            return None
        if given:
            self._desk.guesses.wait(address)
        detail = f"The header Authorization must be 'Bearer' and the token; got {'another' if kind else 'none'}."
        return ServiceProblem("unauthorized", detail, (), {"WWW-Authenticate": "Bearer"})

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route(scope)
        metrics = self._desk.metrics
        metrics.requests.labels(_method(scope), route, str(status or "gone")).inc()
        metrics.seconds.labels(route).observe(seconds)
        # Not the path, and no address: either may tell about somebody.
        milliseconds = round(1000 * seconds)
        log.info("%s %s %s %d ms %s", _method(scope), route, status or "gone", milliseconds, request_of(scope))


class _Answer:
    """An answer on its way: headers are added, the status is remembered."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if self._scope["scheme"] == "https":  # browsers complain of it elsewhere
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["X-Request-Id"] = request_of(self._scope)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


async def respond(problem: ServiceProblem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a problem."""
    await problem_response(problem, scope)(scope, receive, send)


def problem_response(problem: ServiceProblem, scope: Any) -> Response:
    """Write a problem down."""
    body = _PROBLEM.dump_json(problem.told(request_of(scope)))
    return Response(body, problem.status, problem.headers, MEDIA_TYPE)


def _is_guarded(path: str) -> bool:
    return path not in OPEN and not path.startswith("/page/")


def _route(scope: Scope) -> str:
    """Name the kind of address: one without the numbers and names in it."""
    found = str(getattr(scope.get("route"), "path", "other"))
    return f"/v1{found}" if scope["path"].startswith("/v1/") and not found.startswith(("/v1", "other")) else found


def _method(scope: Scope) -> str:
    known = {"GET", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "PUT"}
    return scope["method"] if scope["method"] in known else "other"


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def urlsplit_host(origin: str) -> str:
    """Return host and port of an origin; nothing of one that has none, such as ``null``."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name_of(host: str) -> str:
    """Return a host without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _log_bug(scope: Scope, problem: Exception) -> None:
    # The message of an error may quote what was sent; where it happened does not.
    told = traceback.format_tb(problem.__traceback__)
    # What happened in another process comes as text: all but its last line, the message, is indented.
    there = [line for line in str(problem.__cause__ or "").splitlines(keepends=True) if line.startswith("  ")]
    where = "".join([*told, *there])
    log.error("Request %s failed with %s:\n%s", request_of(scope), type(problem).__name__, where)
