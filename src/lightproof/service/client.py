"""Python client of a service. Needs the extra ``client``."""

from __future__ import annotations

import types
import typing
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, TypeVar

from lightproof.core.atomic import whole_file
from lightproof.errors import LightproofError, MissingExtra
from lightproof.service import schemas
from lightproof.service.problems import ProblemSchema

if TYPE_CHECKING:
    import httpx2 as httpx

T = TypeVar("T")

Photo: TypeAlias = str | PathLike[str] | bytes
"""The path of a photo, or the contents of its file."""

ANSWER_SECONDS: Final = 150.0
"""How long an answer may take."""

GALLERY_ANSWER_SECONDS: Final = 3600.0
"""How long an answer about the whole gallery may take."""


class ServiceError(LightproofError):
    """An error that a service answered, or the lack of an answer.

    Attributes
    ----------
    code : str
        Stable, such as ``"no_face"``; ``"unreachable"`` if there was no answer, ``"no_problem"`` if something else
        than lightproof answered.
    status : int
        Of the answer; 0 if there was none.
    problem : ProblemSchema or None
        The whole answer.
    """

    def __init__(self, code: str, detail: str, status: int = 0, problem: ProblemSchema | None = None) -> None:
        super().__init__(detail)
        self.code, self.status, self.problem = code, status, problem


class Client:
    """Sends requests to a service, and returns its answers as :mod:`lightproof.service.schemas`.

    Parameters
    ----------
    url : str
        Such as ``http://127.0.0.1:8000``.
    token : str, optional
    timeout : float
        Seconds that an answer may take.

    Examples
    --------
    ::

        with Client("http://127.0.0.1:8000", token) as client:
            client.enroll("Ada", ["ada.jpg"])
            answer = client.identify("door.jpg")
            print(answer.name, answer.score, answer.light.hint)
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = ANSWER_SECONDS) -> None:
        try:
            import httpx2 as httpx
        except ModuleNotFoundError:
            raise MissingExtra("To ask a service lightproof needs the package httpx2", "client") from None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # No proxy, no password file: requests go to the service and nowhere else.
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, trust_env=False)

    def health(self) -> schemas.HealthSchema:
        """Return whether the service works; needs no token."""
        return self._read(schemas.HealthSchema, "GET", "/health")

    def version(self) -> schemas.VersionSchema:
        """Return what runs there, and what it accepts at most."""
        return self._read(schemas.VersionSchema, "GET", "/version")

    def people(self, name: str | None = None) -> Iterator[schemas.PersonSchema]:
        """Yield everybody, or everybody whose name contains ``name``, in order of names; page by page."""
        after: str | None = None
        while True:
            page = self._read(schemas.PeoplePageSchema, "GET", "/people", params=_fields(name=name, after=after))
            yield from page.people
            if page.next is None:
                return
            after = page.next

    def person(self, who: int | str) -> schemas.PersonDetailSchema:
        """Return somebody by number, or by the exact name."""
        return self._read(schemas.PersonDetailSchema, "GET", self._path(who))

    def enroll(
        self, who: int | str, photos: Sequence[Photo] | Photo, *, cropped: bool = False
    ) -> schemas.EnrolledSchema:
        """Enroll somebody, or add photos of somebody enrolled.

        ``who`` is a number, or a name, which may be new; ``cropped`` photos are faces already. Photos that cannot be
        used are in ``rejected`` of the answer; if none can, there is an error of code ``"nothing_taken"``.
        """
        listed = [photos] if isinstance(photos, str | bytes | PathLike) else list(photos)
        files = [_file("photos", photo) for photo in listed]
        number = who if isinstance(who, int) else self._find(who)
        name = who if number is None else None
        path = "/people" if number is None else f"/people/{number}/photos"
        return self._read(schemas.EnrolledSchema, "POST", path, data=_fields(cropped=cropped, name=name), files=files)

    def rename(self, who: int | str, name: str) -> schemas.PersonDetailSchema:
        """Give somebody another name."""
        return self._read(schemas.PersonDetailSchema, "PATCH", self._path(who), json={"name": name})

    def forget(self, who: int | str) -> schemas.ForgottenSchema:
        """Delete somebody for good."""
        return self._read(schemas.ForgottenSchema, "DELETE", self._path(who))

    def photos(self, who: int | str) -> list[schemas.PhotoSchema]:
        """List the photos of somebody."""
        return self._read(schemas.PhotosSchema, "GET", f"{self._path(who)}/photos").photos

    def remove_photo(self, who: int | str, photo: int) -> schemas.ForgottenSchema:
        """Delete a photo for good; with the last one the person goes too."""
        return self._read(schemas.ForgottenSchema, "DELETE", f"{self._path(who)}/photos/{photo}")

    def thumbnail(self, who: int | str, photo: int) -> bytes:
        """Return the face of a photo as PNG, where faces are kept."""
        return self._ask("GET", f"{self._path(who)}/photos/{photo}/thumbnail").content

    def identify(
        self, photo: Photo, top: int = 5, *, far: float | None = None, cropped: bool = False, quick: bool = False
    ) -> schemas.AnswerSchema:
        """Ask who is on a photo."""
        fields = _fields(top=top, cropped=cropped, quick=quick, far=far)
        return self._read(schemas.AnswerSchema, "POST", "/identify", data=fields, files=[_file("photo", photo)])

    def verify(
        self, photo: Photo, other: Photo | None = None, *, person: int | str | None = None, far: float | None = None,
        cropped: bool = False,
    ) -> schemas.VerificationSchema:  # fmt: skip
        """Ask whether a photo shows the same person as another one, or as somebody enrolled."""
        files = [_file("photo", photo)] + ([] if other is None else [_file("other", other)])
        fields = _fields(cropped=cropped, far=far, person=self._number(person))
        return self._read(schemas.VerificationSchema, "POST", "/verify", data=fields, files=files)

    def explain(
        self, photo: Photo, person: int | str | None = None, against: int | str | None = None, *, cropped: bool = False
    ) -> schemas.ExplanationSchema:
        """Ask which patches speak for somebody."""
        fields = _fields(cropped=cropped, person=self._number(person), against=self._number(against))
        return self._read(schemas.ExplanationSchema, "POST", "/explain", data=fields, files=[_file("photo", photo)])

    def explain_map(
        self, photo: Photo, person: int | str | None = None, against: int | str | None = None, *, cropped: bool = False
    ) -> bytes:
        """Draw which patches speak for somebody, as PNG."""
        fields = _fields(cropped=cropped, person=self._number(person), against=self._number(against))
        return self._ask("POST", "/explain/map", data=fields, files=[_file("photo", photo)]).content

    def diagnose(self, photo: Photo, *, cropped: bool = False) -> schemas.DiagnosisSchema:
        """Ask what light and pose do."""
        fields = _fields(cropped=cropped)
        return self._read(schemas.DiagnosisSchema, "POST", "/diagnose", data=fields, files=[_file("photo", photo)])

    def calibration(self) -> schemas.CalibrationSchema:
        """Return the threshold, and how many strangers get past it."""
        return self._read(schemas.CalibrationSchema, "GET", "/calibration")

    def calibrate(self, far: float = 0.001) -> schemas.CalibrationSchema:
        """Let the service measure how well strangers score, and set the share of them that may be accepted."""
        sent = {"json": {"far": far}, "timeout": GALLERY_ANSWER_SECONDS}
        return self._read(schemas.CalibrationSchema, "POST", "/calibrate", **sent)

    def accuracy(self) -> schemas.AccuracySchema:
        """Return how well the gallery recognizes its own photos, by light."""
        return self._read(schemas.AccuracySchema, "GET", "/accuracy", timeout=GALLERY_ANSWER_SECONDS)

    def export(self, file: str | PathLike[str]) -> None:
        """Write the whole gallery to a file, completely or not at all."""
        stream = self._http.stream("GET", "/v1/export", timeout=GALLERY_ANSWER_SECONDS)
        with self._reached(), whole_file(Path(file)) as sink, stream as answer:
            if not answer.is_success:
                answer.read()
            _check(answer)
            for piece in answer.iter_bytes():
                sink.write(piece)

    def import_(self, file: str | PathLike[str]) -> schemas.ImportedSchema:
        """Add everybody of a gallery in a file."""
        with Path(file).open("rb") as source:
            headers = {"Content-Type": "application/octet-stream"}
            sent = {"content": source, "headers": headers, "timeout": GALLERY_ANSWER_SECONDS}
            return self._read(schemas.ImportedSchema, "POST", "/import", **sent)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _find(self, name: str) -> int | None:
        # Galleries keep names in composed form; some systems decompose the names of files.
        composed = unicodedata.normalize("NFC", name)
        return next((person.id for person in self.people(composed) if person.name == composed), None)

    def _number(self, who: int | str | None) -> int | None:
        if who is None or isinstance(who, int):
            return who
        number = self._find(who)
        if number is None:
            raise ServiceError("unknown_person", f"The name must be that of somebody enrolled; got {who!r}.", 404)
        return number

    def _path(self, who: int | str) -> str:
        return f"/people/{self._number(who)}"

    def _read(self, kind: type[T], method: str, path: str, **sent: Any) -> T:
        answer = self._ask(method, path, **sent)
        try:
            return from_json(kind, answer.json())
        except ValueError:
            detail = f"{answer.url} must answer as lightproof does; got something else."
            raise ServiceError("no_problem", detail, answer.status_code) from None

    def _ask(self, method: str, path: str, **sent: Any) -> httpx.Response:
        with self._reached():
            answer = self._http.request(method, f"/v1{path}", **sent)
        _check(answer)
        return answer

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Turn a missing or incomplete answer into one sentence."""
        import httpx2 as httpx

        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            got = str(problem).rstrip(".") or type(problem).__name__
            detail = f"{self._http.base_url} must be a service that answers; got: {got}."
            raise ServiceError("unreachable", detail) from None


def _check(answer: httpx.Response) -> None:
    """Raise the problem that the service answered."""
    if answer.is_success:
        return
    try:
        problem = from_json(ProblemSchema, answer.json())
    except ValueError:
        detail = f"{answer.url} must be an address of lightproof; got {answer.status_code} and no problem."
        raise ServiceError("no_problem", detail, answer.status_code) from None
    raise ServiceError(problem.code, problem.detail, answer.status_code, problem)


def _file(field: str, photo: Photo) -> tuple[str, tuple[str, bytes]]:
    # The name of the file stays on this machine.
    return field, ("photo", photo if isinstance(photo, bytes) else Path(photo).read_bytes())


def _fields(**given: str | float | bool | None) -> dict[str, str]:
    """Write the fields of a form or a query; None is left out."""
    written = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
    return {name: text for name, text in written.items() if given[name] is not None}


def from_json(kind: type[T], value: Any) -> T:
    """Make an answer of what ``json.loads`` returns; ignore unknown fields, and raise ValueError if it does not fit."""
    answer: T = _parsed(kind, value)
    return answer


def _parsed(hint: Any, value: Any) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint) and isinstance(value, Mapping):
        make: Any = hint
        hints = schemas.field_types(hint)
        try:
            return make(**{name: _parsed(hints[name], value[name]) for name in hints if name in value})
        except TypeError:
            raise ValueError(f"{hint} expected, with all its fields") from None
    if origin in (types.UnionType, typing.Union):
        [only] = [one for one in inner if one is not type(None)]
        return None if value is None else _parsed(only, value)
    if origin in (list, tuple) and isinstance(value, Sequence) and not isinstance(value, str):
        return origin(_parsed(inner[0], item) for item in value)
    if hint is float and type(value) is int:
        return float(value)
    if value not in inner if origin is Literal else type(value) is not hint:
        raise ValueError(f"{hint} expected")
    return value
