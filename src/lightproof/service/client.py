"""A service of lightproof, asked from Python. Needs the extra ``client``."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from lightproof.core.atomic import whole_file
from lightproof.errors import LightproofError, MissingExtra
from lightproof.service import schemas

if TYPE_CHECKING:
    import httpx2 as httpx

T = TypeVar("T")

Photo: TypeAlias = str | PathLike[str] | bytes
"""The path of a photo, or what is in its file."""

WAIT: Final = 150.0
"""Seconds that an answer may take."""

LONG: Final = 3600.0
"""The same where it is about the whole gallery."""


class ServiceError(LightproofError):
    """What a service answered instead.

    Attributes
    ----------
    code : str
        Stable, such as ``"no_face"``; ``"unreachable"`` where there was no answer, ``"no_problem"`` where it was none
        of lightproof.
    status : int
        Of the answer; 0 where there was none.
    problem : Problem or None
        All that the service said.
    """

    def __init__(self, code: str, detail: str, status: int = 0, problem: schemas.Problem | None = None) -> None:
        super().__init__(detail)
        self.code, self.status, self.problem = code, status, problem


class Client:
    """Asks a service.

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

    def __init__(self, url: str, token: str | None = None, *, timeout: float = WAIT) -> None:
        try:
            import httpx2 as httpx
        except ModuleNotFoundError:
            raise MissingExtra("To ask a service lightproof needs the package httpx2", "client") from None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # No proxy, no password file: what is asked goes to the service and nowhere else.
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, trust_env=False)

    def health(self) -> schemas.Health:
        """Ask whether the service works; needs no token."""
        return self._get("/health", schemas.Health)

    def version(self) -> schemas.Version:
        """Ask what runs there, and what it takes at most."""
        return self._get("/version", schemas.Version)

    def people(self, name: str | None = None) -> Iterator[schemas.Person]:
        """Yield everybody by name, or those whose name contains something; page by page."""
        after: str | None = None
        while True:
            page = self._get("/people", schemas.PeoplePage, name=name, after=after)
            yield from page.people
            if page.next is None:
                return
            after = page.next

    def person(self, who: int | str) -> schemas.PersonDetail:
        """Find somebody by number, or by the exact name."""
        return self._get(f"/people/{self._number(who)}", schemas.PersonDetail)

    def enroll(self, who: int | str, photos: Sequence[Photo] | Photo, *, cropped: bool = False) -> schemas.Enrolled:
        """Enroll somebody, or add photos of somebody who is there.

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
        files = [("photos", ("photo", _contents(photo))) for photo in listed]
        number = who if isinstance(who, int) else self._find(who)
        fields = {"cropped": _said(cropped)} | ({"name": str(who)} if number is None else {})
        place = "/people" if number is None else f"/people/{number}/photos"
        return self._post(place, schemas.Enrolled, fields, files)

    def rename(self, who: int | str, name: str) -> schemas.PersonDetail:
        """Give somebody another name."""
        answer = self._ask("PATCH", f"/people/{self._number(who)}", json={"name": name})
        return _read(schemas.PersonDetail, answer)

    def forget(self, who: int | str) -> schemas.Forgotten:
        """Delete somebody for good."""
        return _read(schemas.Forgotten, self._ask("DELETE", f"/people/{self._number(who)}"))

    def photos(self, who: int | str) -> list[schemas.Photo]:
        """List the photos of somebody."""
        return self._get(f"/people/{self._number(who)}/photos", schemas.Photos).photos

    def remove_photo(self, who: int | str, photo: int) -> schemas.Forgotten:
        """Delete a photo for good; with the last one the person goes too."""
        return _read(schemas.Forgotten, self._ask("DELETE", f"/people/{self._number(who)}/photos/{photo}"))

    def thumbnail(self, who: int | str, photo: int) -> bytes:
        """Return the face of a photo as PNG, where faces are kept."""
        return self._ask("GET", f"/people/{self._number(who)}/photos/{photo}/thumbnail").content

    def identify(
        self, photo: Photo, top: int = 5, *, far: float | None = None, cropped: bool = False, quick: bool = False
    ) -> schemas.Answer:
        """Ask who is on a photo."""
        fields = {"top": str(top), "cropped": _said(cropped), "quick": _said(quick)} | _given(far=far)
        return self._post("/identify", schemas.Answer, fields, [_file("photo", photo)])

    def verify(
        self,
        photo: Photo,
        other: Photo | None = None,
        *,
        person: int | str | None = None,
        far: float | None = None,
        cropped: bool = False,
    ) -> schemas.Verification:
        """Ask whether a photo shows the same person as another one, or as somebody enrolled."""
        files = [_file("photo", photo)] + ([] if other is None else [_file("other", other)])
        who = None if person is None else self._number(person)
        return self._post(
            "/verify", schemas.Verification, {"cropped": _said(cropped)} | _given(far=far, person=who), files
        )

    def explain(
        self,
        photo: Photo,
        person: int | str | None = None,
        against: int | str | None = None,
        *,
        cropped: bool = False,
    ) -> schemas.Explanation:
        """Ask which patches speak for somebody."""
        return self._post("/explain", schemas.Explanation, *self._explaining(photo, person, against, cropped))

    def explain_map(
        self,
        photo: Photo,
        person: int | str | None = None,
        against: int | str | None = None,
        *,
        cropped: bool = False,
    ) -> bytes:
        """Ask the same, and return the picture as PNG."""
        fields, files = self._explaining(photo, person, against, cropped)
        return self._ask("POST", "/explain/map", data=fields, files=files).content

    def diagnose(self, photo: Photo, *, cropped: bool = False) -> schemas.Diagnosis:
        """Ask what the light does."""
        return self._post("/diagnose", schemas.Diagnosis, {"cropped": _said(cropped)}, [_file("photo", photo)])

    def calibration(self) -> schemas.Calibration:
        """Ask where the threshold is."""
        return self._get("/calibration", schemas.Calibration)

    def calibrate(self, far: float = 0.001) -> schemas.Calibration:
        """Have the gallery find out how well strangers do, and set the share that may be accepted."""
        return _read(schemas.Calibration, self._ask("POST", "/calibrate", json={"far": far}, timeout=LONG))

    def accuracy(self) -> schemas.Accuracy:
        """Ask how well the gallery recognizes its own photos, by light."""
        return _read(schemas.Accuracy, self._ask("GET", "/accuracy", timeout=LONG))

    def export(self, file: str | PathLike[str]) -> None:
        """Write the whole gallery to a file, which is there whole or not at all."""
        whole, asked = whole_file(Path(file)), self._http.stream("GET", "/v1/export", timeout=LONG)
        with self._reached(), whole as sink, asked as answer:
            if not answer.is_success:
                answer.read()
            _check(answer)
            for piece in answer.iter_bytes():
                sink.write(piece)

    def import_(self, file: str | PathLike[str]) -> schemas.Imported:
        """Add everybody of a gallery in a file."""
        with Path(file).open("rb") as source:
            headers = {"Content-Type": "application/octet-stream"}
            return _read(schemas.Imported, self._ask("POST", "/import", content=source, headers=headers, timeout=LONG))

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _find(self, name: str) -> int | None:
        # Names are kept in composed form; files on some systems are not called so.
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
        who, other = (None if one is None else self._number(one) for one in (person, against))
        return {"cropped": _said(cropped)} | _given(person=who, against=other), [_file("photo", photo)]

    def _get(self, place: str, kind: type[T], **query: Any) -> T:
        given = {name: value for name, value in query.items() if value is not None}
        return _read(kind, self._ask("GET", place, params=given))

    def _post(self, place: str, kind: type[T], fields: Mapping[str, str], files: Sequence[Any]) -> T:
        return _read(kind, self._ask("POST", place, data=fields, files=files))

    def _ask(self, method: str, place: str, **sent: Any) -> httpx.Response:
        with self._reached():
            answer = self._http.request(method, f"/v1{place}", **sent)
        _check(answer)
        return answer

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Say in one sentence that there was no answer, or no whole one."""
        import httpx2 as httpx

        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            got = str(problem).rstrip(".") or type(problem).__name__
            raise ServiceError(
                "unreachable", f"{self._http.base_url} must be a service that answers; got: {got}."
            ) from None


def _check(answer: httpx.Response) -> None:
    """Raise what the service says is wrong."""
    if answer.is_success:
        return
    try:
        problem = schemas.read(schemas.Problem, answer.json())
    except ValueError:
        detail = f"{answer.url} must be an address of lightproof; got {answer.status_code} and no problem."
        raise ServiceError("no_problem", detail, answer.status_code) from None
    raise ServiceError(problem.code, problem.detail, answer.status_code, problem)


def _read(kind: type[T], answer: httpx.Response) -> T:
    try:
        return schemas.read(kind, answer.json())
    except ValueError:
        detail = f"{answer.url} must answer as lightproof does; got something else."
        raise ServiceError("no_problem", detail, answer.status_code) from None


def _contents(photo: Photo) -> bytes:
    return photo if isinstance(photo, bytes) else Path(photo).read_bytes()


def _file(field: str, photo: Photo) -> tuple[str, tuple[str, bytes]]:
    # What the file is called here stays here.
    return field, ("photo", _contents(photo))


def _said(yes: bool) -> str:
    return "true" if yes else "false"


def _given(**fields: float | None) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items() if value is not None}
