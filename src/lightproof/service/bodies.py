"""The body of a request -> a checked model; counted and timed while it arrives, and never on a disk.

One model describes a request both as multipart form and as JSON: a photo is a file in a form and base64 in JSON; all
else is the same.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request as Call

from lightproof.imaging.decode import in_one_line
from lightproof.service.problems import ServiceProblem, busy
from lightproof.service.settings import MAX_SHARES_OF_ADDRESS, Limits

MAX_JSON_COMMAS: Final = 1000
"""Base64 has no commas, and no request has more fields and photos than that."""

MAX_TEXT_BYTES: Final = 64 * 1024
"""Length of a form field that is no file, and of a request without photos; names are short."""

EXAMPLE_PHOTO: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGPYDgAA5ADjXaNTCQAAAABJRU5ErkJggg=="
"""A picture of one pixel, in base64."""


def _photo_bytes(value: Any) -> Any:
    """Decode base64; a file of a form is bytes already."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a photo in base64, or a file in a multipart form") from None


Photo = Annotated[
    bytes,
    BeforeValidator(_photo_bytes),
    WithJsonSchema(
        {
            "type": "string",
            "contentEncoding": "base64",
            "description": "A photo: JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM or PPM.",
            "examples": [EXAMPLE_PHOTO],
        }
    ),
]

Far = Annotated[
    float | None,
    Field(gt=0, lt=1, description="Share of strangers that may be accepted; that of the gallery if not given."),
]
Cropped = Annotated[bool, Field(description="The picture is a face already: no face is looked for.")]
Quick = Annotated[bool, Field(description="Look for a large face only, in one light: for the frames of a camera.")]
PersonId = Annotated[int, Field(ge=1, lt=2**63, examples=[17])]
Name = Annotated[str, Field(examples=["Ada Lovelace"], description="1 to 200 visible letters.")]


class RequestModel(BaseModel):
    """A request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Naming(RequestModel):
    """A person's name."""

    name: Name


class NewPerson(Naming):
    """Somebody new, with or without photos."""

    photos: list[Photo] = Field(default=[], description="One or several.")
    cropped: Cropped = False


class NewPhotos(RequestModel):
    """Photos of somebody."""

    photos: list[Photo] = Field(min_length=1, description="One or several.")
    cropped: Cropped = False


class Identify(RequestModel):
    """A question: who is on a photo."""

    photo: Photo
    top: int = Field(default=5, ge=1, le=100, description="Maximum number of candidates.")
    far: Far = None
    cropped: Cropped = False
    quick: Quick = False


class Verify(RequestModel):
    """A question: do two photos show the same person, or a photo and somebody enrolled."""

    photo: Photo
    other: Photo | None = Field(default=None, description="Another photo; or give `person`.")
    person: PersonId | None = Field(default=None, description="Somebody enrolled; or give `other`.")
    far: Far = None
    cropped: Cropped = False


class Explain(RequestModel):
    """A question: which patches speak for somebody."""

    photo: Photo
    person: PersonId | None = Field(default=None, description="The best match if not given.")
    against: PersonId | None = Field(default=None, description="Why not this person?")
    cropped: Cropped = False


class Diagnose(RequestModel):
    """A question: what do light and pose do."""

    photo: Photo
    cropped: Cropped = False
    quick: Quick = False


class Calibrate(RequestModel):
    """How many strangers may be accepted."""

    far: float = Field(default=0.001, gt=0, lt=1, description="Share of strangers that may be accepted.")


R = TypeVar("R", bound=RequestModel)


@cache
def photo_fields(model: type[RequestModel]) -> dict[str, bool]:
    """Name the fields that hold photos, and whether each holds several."""
    schema = model.model_json_schema()["properties"]
    return {name: field.get("type") == "array" for name, field in schema.items() if "base64" in str(field)}


@cache
def text_fields(model: type[RequestModel]) -> frozenset[str]:
    """Name the fields that hold text; a form writes all others as JSON does."""
    schema = model.model_json_schema()["properties"]
    return frozenset(name for name, field in schema.items() if field.get("type") == "string")


class MemoryBudget:
    """Bytes that all requests together hold in memory, counted by address."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """Bytes that are held now."""
        return self._held.total()

    @contextmanager
    def account(self, address: str) -> Iterator[Account]:
        """Open an account for one request, and give back at the end what it holds."""
        account = Account(self, address)
        try:
            yield account
        finally:
            self._held[address] -= account.taken
            if not self._held[address]:
                del self._held[address]

    def take(self, address: str, count: int) -> None:
        """Hold some more bytes for an address."""
        most_of_address = self._max_bytes / MAX_SHARES_OF_ADDRESS
        if self.held + count > self._max_bytes or self._held[address] + count > most_of_address:
            raise busy(f"{self.held} bytes of other requests")
        self._held[address] += count


class Account:
    """Bytes that one request holds."""

    def __init__(self, budget: MemoryBudget, address: str) -> None:
        self._budget, self._address = budget, address
        self.taken = 0

    def take(self, count: int) -> None:
        """Hold some more bytes; raise the problem ``busy`` if there is no room."""
        self._budget.take(self._address, count)
        self.taken += count


class _InMemoryParser(MultiPartParser):
    # A photo that is not to be kept must not lie on a disk, not even for a moment.
    spool_max_size = sys.maxsize


def content_type(call: Call) -> str:
    """Return the media type of the body, without parameters."""
    return call.headers.get("content-type", "").partition(";")[0].strip().lower()


def wrong_content_type(call: Call, legal: str) -> ServiceProblem:
    """Make the problem of a body of another media type."""
    got = in_one_line(content_type(call)) or "none"
    return ServiceProblem("unsupported_media_type", f"The content type must be {legal}; got {got}.")


async def stream_body(call: Call, max_bytes: int, limits: Limits) -> AsyncGenerator[bytes, None]:
    """Yield a body piece by piece; refuse one that is too long, or arrives too slowly."""
    length = call.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > max_bytes:
        raise _too_large(max_bytes, length)
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
        if count > max_bytes:
            raise _too_large(max_bytes, f"{count} or more")
        now = asyncio.get_running_loop().time()
        if now - since > limits.idle_seconds:
            if count - window < limits.slow_bytes:
                raise _too_slow(limits)
            window, since = count, now
        yield piece


def _too_large(max_bytes: int, got: str) -> ServiceProblem:
    return ServiceProblem("too_large", f"The body of the request must be of at most {max_bytes} bytes; got {got}.")


def _too_slow(limits: Limits) -> ServiceProblem:
    legal = f"{limits.slow_bytes} bytes or the rest in {limits.idle_seconds:g} seconds"
    return ServiceProblem("too_slow", f"The body of the request must come with {legal}; got less.")


async def read_body(call: Call, model: type[R], limits: Limits, account: Account) -> R:
    """Read and check the body of a request; ``account`` counts its bytes."""
    photos, kind = photo_fields(model), content_type(call)
    body = _counted(stream_body(call, limits.body_bytes if photos else MAX_TEXT_BYTES, limits), account)
    try:
        if kind == "application/json":
            content = b"".join([piece async for piece in body])
            # A list of a million things costs a thousand times its length before it is seen to be too long.
            if content.count(b",") > MAX_JSON_COMMAS:
                detail = f"The body must be JSON with at most {MAX_JSON_COMMAS} commas; got more."
                raise ServiceProblem("bad_request", detail)
            request = model.model_validate_json(content, strict=True)
        elif kind == "multipart/form-data" and photos:
            parts = await _form_parts(call.headers, body, limits)
            request = model.model_validate(_form_values(model, parts), strict=True)
        else:
            raise wrong_content_type(call, "application/json" + (" or multipart/form-data" if photos else ""))
    except ValidationError as problem:
        raise bad_value(problem.errors(include_url=False, include_context=False)[0]) from None
    for name, several in photos.items():  # the length of each photo is checked where each gets its own answer
        if several and (count := len(getattr(request, name))) > limits.photos:
            raise ServiceProblem("too_large", f"`{name}` must be {limits.photos} photos at most; got {count}.")
    return request


async def _counted(body: AsyncIterator[bytes], account: Account) -> AsyncGenerator[bytes, None]:
    async for piece in body:
        account.take(len(piece))
        yield piece


async def _form_parts(
    headers: Headers, body: AsyncGenerator[bytes, None], limits: Limits
) -> list[tuple[str, str | bytes]]:
    """Read a multipart form: texts, and contents of files."""
    parser = _InMemoryParser(headers, body, max_files=limits.photos + 1, max_fields=20, max_part_size=MAX_TEXT_BYTES)
    try:
        items = (await parser.parse()).multi_items()
    except MultiPartException as problem:
        raise _unreadable_form(in_one_line(problem.message).rstrip(".")) from None
    except (UnicodeDecodeError, AssertionError, ValueError, IndexError) as problem:
        raise _unreadable_form(type(problem).__name__) from None
    parts: list[tuple[str, str | bytes]] = []
    for name, value in items:
        if isinstance(value, UploadFile):
            parts.append((name, value.file.read()))
            value.file.close()
        else:
            parts.append((name, value))
    return parts


def _unreadable_form(got: str) -> ServiceProblem:
    return ServiceProblem("bad_request", f"The multipart form must be one that can be read; got: {got}.")


def _form_values(model: type[RequestModel], parts: list[tuple[str, str | bytes]]) -> dict[str, Any]:
    """Turn the parts of a form into the values that JSON would have."""
    photos, texts = photo_fields(model), text_fields(model)
    values: dict[str, Any] = {name: [] for name, several in photos.items() if several and name in dict(parts)}
    for name, value in parts:
        if name in values and not photos.get(name):
            raise ServiceProblem("bad_value", f"`{in_one_line(name)}` must be given once; got it twice.")
        if isinstance(value, bytes) and name not in photos:
            raise ServiceProblem("bad_value", f"`{in_one_line(name)}` must be text; got a file.")
        if photos.get(name):
            values[name].append(value)
        else:
            values[name] = value if name in photos or name in texts or isinstance(value, bytes) else _as_json(value)
    return values


def _as_json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    # A form leaves out what JSON calls null; any other text is refused with what is legal in its place.
    return text if value is None else value


def bad_value(problem: ErrorDetails | Mapping[str, Any]) -> ServiceProblem:
    """Make one sentence of the first thing that is wrong with a request."""
    where = ".".join(str(part) for part in problem["loc"] if part not in ("body", "path", "query"))
    name = f"`{in_one_line(where)}`" if where else "The request"
    match problem["type"]:
        case "json_invalid":
            return ServiceProblem("bad_request", f"The body must be JSON; got: {in_one_line(str(problem['msg']))}.")
        case "extra_forbidden":
            return ServiceProblem("bad_value", f"{name} must be left out: there is no such field; got one.")
        case "missing":
            return ServiceProblem("bad_value", f"{name} must be given; got nothing.")
    legal = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return ServiceProblem("bad_value", f"{name} must be {in_one_line(legal)}; got {_shown(problem.get('input'))}.")


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return in_one_line(ascii(value), 60)
    return {type(None): "nothing", dict: "an object", list: "a list", bool: str(value).lower()}.get(type(value), "more")
