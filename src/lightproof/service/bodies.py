"""The body of a request -> a checked model; counted and timed while it comes, and never on a disk."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request as Call

from lightproof.imaging.decode import in_one_line
from lightproof.service.problems import ServiceProblem, busy
from lightproof.service.request_models import Request, photo_fields, text_fields
from lightproof.service.settings import SHARE, Limits

R = TypeVar("R", bound=Request)

MOST_PARTS: Final = 1000
"""Commas in JSON: base64 has none, and a request has no more fields and photos than that."""

TEXT: Final = 64 * 1024
"""Bytes of a field that is no file, and of a request that holds no photo; names are short."""


class Room:
    """How many bytes all requests together hold, and those of each address.

    Parameters
    ----------
    most : int
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """Bytes that are held now."""
        return self._held.total()

    @contextmanager
    def account(self, address: str) -> Iterator[Account]:
        """Give back at the end what was taken meanwhile."""
        account = Account(self, address)
        try:
            yield account
        finally:
            self._held[address] -= account.taken
            if not self._held[address]:
                del self._held[address]

    def _take(self, address: str, count: int) -> None:
        if self.held + count > self._most or self._held[address] + count > self._most / SHARE:
            raise busy(f"{self.held} bytes of other requests")
        self._held[address] += count


class Account:
    """What one request holds."""

    def __init__(self, room: Room, address: str) -> None:
        self._room, self._address = room, address
        self.taken = 0

    def take(self, count: int) -> None:
        """Hold some more bytes, or be told to come back later."""
        self._room._take(self._address, count)
        self.taken += count


class _InMemory(MultiPartParser):
    # A photo that is not to be kept must not lie on a disk, not even for a moment.
    spool_max_size = sys.maxsize


async def arriving(call: Call, most: int, limits: Limits) -> AsyncGenerator[bytes, None]:
    """Yield a body as it comes; refuse one that is too long, or comes too slowly."""
    told = call.headers.get("content-length", "0")
    if told.isdecimal() and int(told) > most:
        raise _too_large(most, told)
    count, window, since = 0, 0, asyncio.get_running_loop().time()
    stream = call.stream()
    while True:
        try:
            async with asyncio.timeout(limits.idle_seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            raise _too_slow(limits) from None
        if piece is None:
            return
        count += len(piece)
        if count > most:
            raise _too_large(most, f"{count} or more")
        now = asyncio.get_running_loop().time()
        if now - since > limits.idle_seconds:
            if count - window < limits.slow_bytes:
                raise _too_slow(limits)
            window, since = count, now
        yield piece


def _too_large(most: int, got: str) -> ServiceProblem:
    return ServiceProblem("too_large", f"The body of the request must be of at most {most} bytes; got {got}.")


def _too_slow(limits: Limits) -> ServiceProblem:
    legal = f"{limits.slow_bytes} bytes or the rest in {limits.idle_seconds:g} seconds"
    return ServiceProblem("too_slow", f"The body of the request must come with {legal}; got less.")


async def read_body(call: Call, model: type[R], limits: Limits, account: Account) -> R:
    """Read and check the body of a request.

    Parameters
    ----------
    call : Request
    model : type
        What it must be.
    limits : Limits
    account : Account
        Of the room that it takes.
    """
    photos = photo_fields(model)
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    most = limits.body_bytes if photos else TEXT
    body = _counted(arriving(call, most, limits), account)
    if kind == "application/json":
        # Base64 takes a third more.
        return _checked_json(model, b"".join([piece async for piece in body]), limits)
    if kind == "multipart/form-data" and photos:
        return _checked_form(model, await _form(call.headers, body, limits), photos, limits)
    legal = "application/json" + (" or multipart/form-data" if photos else "")
    raise ServiceProblem(
        "unsupported_media_type", f"The content type must be {legal}; got {in_one_line(kind) or 'none'}."
    )


async def _counted(body: AsyncIterator[bytes], account: Account) -> AsyncGenerator[bytes, None]:
    async for piece in body:
        account.take(len(piece))
        yield piece


async def _form(headers: Headers, body: AsyncGenerator[bytes, None], limits: Limits) -> list[tuple[str, Any]]:
    """Read a multipart form."""
    parser = _InMemory(headers, body, max_files=limits.photos + 1, max_fields=20, max_part_size=TEXT)
    try:
        parts = (await parser.parse()).multi_items()
    except MultiPartException as problem:
        said = in_one_line(problem.message).rstrip(".")
        raise ServiceProblem("bad_request", f"The multipart form must be one that can be read; got: {said}.") from None
    except (UnicodeDecodeError, AssertionError, ValueError, IndexError) as problem:
        raise _unreadable(type(problem).__name__) from None
    found: list[tuple[str, Any]] = []
    for name, told in parts:
        if isinstance(told, UploadFile):
            found.append((name, told.file.read()))
            told.file.close()
        else:
            found.append((name, told))
    return found


def _unreadable(what: str) -> ServiceProblem:
    return ServiceProblem("bad_request", f"The multipart form must be one that can be read; got: {what}.")


def _checked_form(model: type[R], parts: list[tuple[str, Any]], photos: dict[str, bool], limits: Limits) -> R:
    given: dict[str, Any] = {name: [] for name, several in photos.items() if several and name in dict(parts)}
    for name, told in parts:
        if name in given and not photos.get(name):
            raise ServiceProblem("bad_value", f"`{in_one_line(name)}` must be given once; got it twice.")
        if isinstance(told, bytes) and name not in photos:
            raise ServiceProblem("bad_value", f"`{in_one_line(name)}` must be text; got a file.")
        if photos.get(name):
            given[name].append(told)
        else:
            given[name] = told if name in photos or name in text_fields(model) else _as_in_json(told)
    try:
        return _limited(model.model_validate(given, strict=True), photos, limits)
    except ValidationError as problem:
        raise bad_value(problem.errors(include_url=False, include_context=False)[0]) from None


def _as_in_json(text: str) -> Any:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    # Nothing is said in a form by leaving it out; whatever else this is, it is told what it should have been.
    return text if told is None else told


def _checked_json(model: type[R], body: bytes, limits: Limits) -> R:
    # A list of a million things costs a thousand times its length before it is seen to be too long.
    if body.count(b",") > MOST_PARTS:
        raise ServiceProblem("bad_request", f"The body must be JSON with at most {MOST_PARTS} commas; got more.")
    try:
        return _limited(model.model_validate_json(body, strict=True), photo_fields(model), limits)
    except ValidationError as problem:
        raise bad_value(problem.errors(include_url=False, include_context=False)[0]) from None


def _limited(request: R, photos: dict[str, bool], limits: Limits) -> R:
    """Refuse too many photos; how long each is, is looked at where each gets its own answer."""
    for name, several in photos.items():
        if several and len(getattr(request, name)) > limits.photos:
            count = len(getattr(request, name))
            raise ServiceProblem("too_large", f"`{name}` must be {limits.photos} photos at most; got {count}.")
    return request


def bad_value(problem: ErrorDetails | Mapping[str, Any]) -> ServiceProblem:
    """Make a sentence of the first thing that is wrong with a request."""
    kind, places = problem["type"], ("body", "path", "query")
    where = ".".join(str(part) for part in problem["loc"] if part not in places)
    if kind == "json_invalid":
        return ServiceProblem("bad_request", f"The body must be JSON; got: {in_one_line(str(problem['msg']))}.")
    name = f"`{in_one_line(where)}`" if where else "The request"
    if kind == "extra_forbidden":
        return ServiceProblem("bad_value", f"{name} must be left out: there is no such field; got one.")
    if kind == "missing":
        return ServiceProblem("bad_value", f"{name} must be given; got nothing.")
    legal = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return ServiceProblem("bad_value", f"{name} must be {in_one_line(legal)}; got {_shown(problem.get('input'))}.")


def _shown(told: object) -> str:
    if isinstance(told, bytes):
        return f"{len(told)} bytes"
    if isinstance(told, str | int | float) and not isinstance(told, bool):
        return in_one_line(ascii(told), 60)
    return {type(None): "nothing", dict: "an object", list: "a list", bool: str(told).lower()}.get(type(told), "more")
