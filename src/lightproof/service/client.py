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
        return self._get("/health", schemas.HealthSchema)

    def version(self) -> schemas.VersionSchema:
        """Return what runs there, and what it accepts at most."""
        return self._get("/version", schemas.VersionSchema)

    def people(self, name: str | None = None) -> Iterator[schemas.PersonSchema]:
        """Yield everybody, or everybody whose name contains ``name``, in order of names; page by page."""
        after: str | None = None
        while True:
            page = self._get("/people", schemas.PeoplePageSchema, name=name, after=after)
            yield from page.people
            if page.next is None:
                return
            after = page.next

    def person(self, who: int | str) -> schemas.PersonDetailSchema:
        """Return somebody by number, or by the exact name."""
        return self._get(f"/people/{self._number(who)}", schemas.PersonDetailSchema)

    def enroll(
        self, who: int | str, photos: Sequence[Photo] | Photo, *, cropped: bool = False
    ) -> schemas.EnrolledSchema:
        """Enroll somebody, or add photos of somebody enrolled.

        Photos that cannot be used are in ``rejected`` of the answer; if none can, there is an error of code
        ``"nothing_taken"``.

        Parameters
        ----------
        who : int or str
            A number, or a name, which may be new.
        photos : list of str, Path or bytes
        cropped : bool
            Whether they are faces already.
        """
        listed = [photos] if isinstance(photos, str | bytes | PathLike) else list(photos)
        files = [_file("photos", photo) for photo in listed]
        number = who if isinstance(who, int) else self._find(who)
        if number is None:
            fields = {"cropped": _flag(cropped), "name": str(who)}
            return self._post("/people", schemas.EnrolledSchema, fields, files)
        return self._post(f"/people/{number}/photos", schemas.EnrolledSchema, {"cropped": _flag(cropped)}, files)

    def rename(self, who: int | str, name: str) -> schemas.PersonDetailSchema:
        """Give somebody another name."""
        answer = self._ask("PATCH", f"/people/{self._number(who)}", json={"name": name})
        return _parse(schemas.PersonDetailSchema, answer)

    def forget(self, who: int | str) -> schemas.ForgottenSchema:
        """Delete somebody for good."""
        return _parse(schemas.ForgottenSchema, self._ask("DELETE", f"/people/{self._number(who)}"))

    def photos(self, who: int | str) -> list[schemas.PhotoSchema]:
        """List the photos of somebody."""
        return self._get(f"/people/{self._number(who)}/photos", schemas.PhotosSchema).photos

    def remove_photo(self, who: int | str, photo: int) -> schemas.ForgottenSchema:
        """Delete a photo for good; with the last one the person goes too."""
        return _parse(schemas.ForgottenSchema, self._ask("DELETE", f"/people/{self._number(who)}/photos/{photo}"))

    def thumbnail(self, who: int | str, photo: int) -> bytes:
        """Return the face of a photo as PNG, where faces are kept."""
        return self._ask("GET", f"/people/{self._number(who)}/photos/{photo}/thumbnail").content

    def identify(
        self, photo: Photo, top: int = 5, *, far: float | None = None, cropped: bool = False, quick: bool = False
    ) -> schemas.AnswerSchema:
        """Ask who is on a photo."""
        fields = {"top": str(top), "cropped": _flag(cropped), "quick": _flag(quick)} | _given(far=far)
        return self._post("/identify", schemas.AnswerSchema, fields, [_file("photo", photo)])

    def verify(
        self,
        photo: Photo,
        other: Photo | None = None,
        *,
        person: int | str | None = None,
        far: float | None = None,
        cropped: bool = False,
    ) -> schemas.VerificationSchema:
        """Ask whether a photo shows the same person as another one, or as somebody enrolled."""
        files = [_file("photo", photo)] + ([] if other is None else [_file("other", other)])
        who = None if person is None else self._number(person)
        return self._post(
            "/verify", schemas.VerificationSchema, {"cropped": _flag(cropped)} | _given(far=far, person=who), files
        )

    def explain(
        self,
        photo: Photo,
        person: int | str | None = None,
        against: int | str | None = None,
        *,
        cropped: bool = False,
    ) -> schemas.ExplanationSchema:
        """Ask which patches speak for somebody."""
        return self._post("/explain", schemas.ExplanationSchema, *self._explaining(photo, person, against, cropped))

    def explain_map(
        self,
        photo: Photo,
        person: int | str | None = None,
        against: int | str | None = None,
        *,
        cropped: bool = False,
    ) -> bytes:
        """Draw which patches speak for somebody, as PNG."""
        fields, files = self._explaining(photo, person, against, cropped)
        return self._ask("POST", "/explain/map", data=fields, files=files).content

    def diagnose(self, photo: Photo, *, cropped: bool = False) -> schemas.DiagnosisSchema:
        """Ask what the light does."""
        return self._post("/diagnose", schemas.DiagnosisSchema, {"cropped": _flag(cropped)}, [_file("photo", photo)])

    def calibration(self) -> schemas.CalibrationSchema:
        """Return the threshold, and how many strangers get past it."""
        return self._get("/calibration", schemas.CalibrationSchema)

    def calibrate(self, far: float = 0.001) -> schemas.CalibrationSchema:
        """Let the service measure how well strangers score, and set the share of them that may be accepted."""
        return _parse(
            schemas.CalibrationSchema,
            self._ask("POST", "/calibrate", json={"far": far}, timeout=GALLERY_ANSWER_SECONDS),
        )

    def accuracy(self) -> schemas.AccuracySchema:
        """Return how well the gallery recognizes its own photos, by light."""
        return _parse(schemas.AccuracySchema, self._ask("GET", "/accuracy", timeout=GALLERY_ANSWER_SECONDS))

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
            answer = self._ask("POST", "/import", content=source, headers=headers, timeout=GALLERY_ANSWER_SECONDS)
            return _parse(schemas.ImportedSchema, answer)

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

    def _number(self, who: int | str) -> int:
        if isinstance(who, int):
            return who
        number = self._find(who)
        if number is None:
            raise ServiceError("unknown_person", f"The name must be that of somebody enrolled; got {who!r}.", 404)
        return number

    def _explaining(
        self, photo: Photo, person: int | str | None, against: int | str | None, cropped: bool
    ) -> tuple[dict[str, str], list[Any]]:
        who, other = (None if given is None else self._number(given) for given in (person, against))
        return {"cropped": _flag(cropped)} | _given(person=who, against=other), [_file("photo", photo)]

    def _get(self, path: str, kind: type[T], **query: Any) -> T:
        given = {name: value for name, value in query.items() if value is not None}
        return _parse(kind, self._ask("GET", path, params=given))

    def _post(self, path: str, kind: type[T], fields: Mapping[str, str], files: Sequence[Any]) -> T:
        return _parse(kind, self._ask("POST", path, data=fields, files=files))

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
            raise ServiceError(
                "unreachable", f"{self._http.base_url} must be a service that answers; got: {got}."
            ) from None


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


def _parse(kind: type[T], answer: httpx.Response) -> T:
    try:
        return from_json(kind, answer.json())
    except ValueError:
        detail = f"{answer.url} must answer as lightproof does; got something else."
        raise ServiceError("no_problem", detail, answer.status_code) from None


def _contents(photo: Photo) -> bytes:
    return photo if isinstance(photo, bytes) else Path(photo).read_bytes()


def _file(field: str, photo: Photo) -> tuple[str, tuple[str, bytes]]:
    # The name of the file stays on this machine.
    return field, ("photo", _contents(photo))


def _flag(yes: bool) -> str:
    return "true" if yes else "false"


def _given(**fields: float | None) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items() if value is not None}


def from_json(kind: type[T], value: Any) -> T:
    """Make an answer of JSON; unknown fields are ignored.

    Parameters
    ----------
    kind : type
        Subclass of :class:`lightproof.service.schemas.Schema`.
    value : object
        As ``json.loads`` returns it.

    Raises
    ------
    ValueError
        If the value does not fit.
    """
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
