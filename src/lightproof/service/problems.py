"""What goes wrong, as problem details (RFC 9457) with stable codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lightproof.errors import (
    BadGallery,
    BadImage,
    BadLabels,
    BadParameter,
    CannotWrite,
    DuplicatePhoto,
    GalleryBusy,
    LightproofError,
    MissingExtra,
    NameTaken,
    NoFace,
    TooManyPixels,
    UnknownPerson,
    UnknownPhoto,
)
from lightproof.service import schemas

MEDIA_TYPE: Final = "application/problem+json"


class Kind(NamedTuple):
    """A kind of problem: the status of its answers, and what it is called."""

    status: int
    title: str


KINDS: Final = {
    "bad_request": Kind(400, "The request cannot be read"),
    "unauthorized": Kind(401, "A token is needed"),
    "foreign_origin": Kind(403, "The request comes from another site"),
    "wrong_host": Kind(403, "The service is not called so"),
    "not_found": Kind(404, "There is no such thing"),
    "unknown_person": Kind(404, "There is no such person"),
    "unknown_photo": Kind(404, "There is no such photo"),
    "face_not_kept": Kind(404, "The face was not kept"),
    "method_not_allowed": Kind(405, "That cannot be done with it"),
    "too_slow": Kind(408, "The request came too slowly"),
    "name_taken": Kind(409, "Somebody has the name already"),
    "photo_of_another": Kind(409, "The photo is enrolled under another name"),
    "nobody_enrolled": Kind(409, "Nobody is enrolled"),
    "too_large": Kind(413, "The request is too large"),
    "unsupported_media_type": Kind(415, "Requests of that kind are not taken"),
    "bad_value": Kind(422, "A value is not legal"),
    "bad_name": Kind(422, "Nobody can be called so"),
    "bad_picture": Kind(422, "The picture cannot be used"),
    "too_many_pixels": Kind(422, "The picture is too large"),
    "no_face": Kind(422, "No face was found"),
    "no_detector": Kind(422, "Faces cannot be looked for"),
    "nothing_taken": Kind(422, "None of the photos was taken"),
    "bad_gallery": Kind(422, "The file is no gallery that fits"),
    "too_many_requests": Kind(429, "Too many requests"),
    "headers_too_large": Kind(431, "The headers are too large"),
    "internal": Kind(500, "Something went wrong"),
    "busy": Kind(503, "The service is busy"),
    "interrupted": Kind(503, "The work was interrupted"),
    "gallery_unavailable": Kind(503, "The gallery cannot be used"),
}
"""Every code, for good: a code never changes its meaning."""

# The first that fits counts.
_CODES: Final[tuple[tuple[type[LightproofError], str], ...]] = (
    (NoFace, "no_face"),
    (TooManyPixels, "too_many_pixels"),
    (BadImage, "bad_picture"),
    (UnknownPerson, "unknown_person"),
    (UnknownPhoto, "unknown_photo"),
    (NameTaken, "name_taken"),
    (DuplicatePhoto, "photo_of_another"),
    (BadLabels, "bad_name"),
    (BadParameter, "bad_value"),
    (MissingExtra, "no_detector"),
    (GalleryBusy, "busy"),
    (BadGallery, "gallery_unavailable"),
    (CannotWrite, "gallery_unavailable"),
)

# Where the gallery lies is no business of who asks.
_UNSAID: Final = {
    "busy": "The gallery must be free to be changed; got another who changes it.",
    "gallery_unavailable": "The gallery must be one that can be read and changed; see the log.",
    "internal": "The request must be one that can be answered; see the log.",
}


class ServiceProblem(Exception):
    """A problem to be answered.

    Parameters
    ----------
    code : str
        One of ``KINDS``.
    detail : str
        What is wrong, what is legal and what came, in one sentence.
    rejected : sequence of Rejected
        Of several photos, why each was not taken.
    headers : mapping
        For the answer.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        rejected: Sequence[schemas.Rejected] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail
        self.rejected, self.headers = list(rejected), dict(headers or {})

    def __reduce__(self) -> tuple[Callable[..., ServiceProblem], tuple[Any, ...]]:
        # Problems travel between processes.
        return ServiceProblem, (self.code, self.detail, self.rejected, self.headers)

    @property
    def status(self) -> int:
        """Of the answer."""
        return KINDS[self.code].status

    def told(self, request: str) -> schemas.Problem:
        """Tell it to who sent the request."""
        return schemas.Problem(
            type=f"urn:lightproof:problem:{self.code}",
            title=KINDS[self.code].title,
            status=self.status,
            detail=self.detail,
            code=self.code,
            request=request,
            rejected=self.rejected,
        )


def busy(what: str, seconds: int = 1) -> ServiceProblem:
    """Say that somebody else must be done first."""
    return ServiceProblem("busy", f"The service must have room for another request; got {what}.", (), _later(seconds))


def too_many(what: str, seconds: float) -> ServiceProblem:
    """Say that somebody asks too often."""
    return ServiceProblem("too_many_requests", what, (), _later(max(1, round(seconds + 0.5))))


def _later(seconds: int) -> dict[str, str]:
    return {"Retry-After": str(seconds)}


def code_of(problem: LightproofError) -> str:
    """Give an error of the library its code."""
    return next((code for kind, code in _CODES if isinstance(problem, kind)), "internal")


def problem_of(problem: LightproofError) -> ServiceProblem:
    """Make a problem of an error of the library."""
    code = code_of(problem)
    headers = _later(5) if KINDS[code].status == 503 else {}
    return ServiceProblem(code, _UNSAID.get(code, str(problem)), (), headers)
