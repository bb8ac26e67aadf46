"""Errors as problem details (RFC 9457) with stable codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from lightproof import errors
from lightproof.errors import LightproofError
from lightproof.service.schemas import RejectedSchema, Schema

MEDIA_TYPE: Final = "application/problem+json"


class ProblemKind(NamedTuple):
    """Status of the answer, and title for people."""

    status: int
    title: str


KINDS: Final = {
    "bad_request": ProblemKind(400, "The request cannot be read"),
    "unauthorized": ProblemKind(401, "A token is needed"),
    "foreign_origin": ProblemKind(403, "The request comes from another site"),
    "wrong_host": ProblemKind(403, "Unknown host name"),
    "not_found": ProblemKind(404, "Not found"),
    "unknown_person": ProblemKind(404, "There is no such person"),
    "unknown_photo": ProblemKind(404, "There is no such photo"),
    "face_not_kept": ProblemKind(404, "The face was not kept"),
    "method_not_allowed": ProblemKind(405, "The address does not allow this method"),
    "too_slow": ProblemKind(408, "The request came too slowly"),
    "name_taken": ProblemKind(409, "The name is taken"),
    "photo_of_another": ProblemKind(409, "The photo is enrolled under another name"),
    "nobody_enrolled": ProblemKind(409, "Nobody is enrolled"),
    "too_large": ProblemKind(413, "The request is too large"),
    "unsupported_media_type": ProblemKind(415, "Unsupported media type"),
    "bad_value": ProblemKind(422, "A value is not legal"),
    "bad_name": ProblemKind(422, "The name is not legal"),
    "bad_picture": ProblemKind(422, "The picture cannot be used"),
    "too_many_pixels": ProblemKind(422, "The picture is too large"),
    "no_face": ProblemKind(422, "No face was found"),
    "no_detector": ProblemKind(422, "The face detector is not installed"),
    "nothing_taken": ProblemKind(422, "None of the photos was enrolled"),
    "bad_gallery": ProblemKind(422, "The file is not a gallery that fits"),
    "too_many_requests": ProblemKind(429, "Too many requests"),
    "headers_too_large": ProblemKind(431, "The headers are too large"),
    "internal": ProblemKind(500, "Something went wrong"),
    "busy": ProblemKind(503, "The service is busy"),
    "interrupted": ProblemKind(503, "The work was interrupted"),
    "gallery_unavailable": ProblemKind(503, "The gallery cannot be used"),
}
"""Every code, for good: a code never changes its meaning."""

# The first that fits counts.
_CODES: Final[tuple[tuple[type[LightproofError], str], ...]] = (
    (errors.NoFace, "no_face"),
    (errors.TooManyPixels, "too_many_pixels"),
    (errors.BadImage, "bad_picture"),
    (errors.UnknownPerson, "unknown_person"),
    (errors.UnknownPhoto, "unknown_photo"),
    (errors.NameTaken, "name_taken"),
    (errors.DuplicatePhoto, "photo_of_another"),
    (errors.BadLabels, "bad_name"),
    (errors.BadParameter, "bad_value"),
    (errors.MissingExtra, "no_detector"),
    (errors.GalleryBusy, "busy"),
    (errors.BadGallery, "gallery_unavailable"),
    (errors.CannotWrite, "gallery_unavailable"),
)

# These errors name the place of the gallery, which is no business of callers.
DETAILS: Final = {
    "busy": "The gallery must be free for changes; got another writer.",
    "gallery_unavailable": "The gallery must be readable and writable; see the log.",
    "internal": "The service could not answer this request; see the log.",
}


class ProblemSchema(Schema):
    """What went wrong (RFC 9457)."""

    type: str
    """A name for the kind of problem, `urn:lightproof:problem:` and the code."""
    title: str
    """What kind of problem it is."""
    status: int
    detail: str
    """What is wrong, what is legal and what came, in one sentence."""
    code: str
    """Stable: for programs."""
    request: str
    """The id of the request, as in the header `X-Request-Id` and in the audit lines."""
    rejected: list[RejectedSchema] = field(default_factory=list)
    """If every photo was rejected: why, for each."""


class ServiceProblem(Exception):
    """A problem that is the answer to a request.

    ``code`` is one of ``KINDS``, ``detail`` one sentence: what is wrong, what is legal and what came. ``rejected`` says
    of several photos why each was rejected.
    """

    def __init__(
        self, code: str, detail: str, rejected: Sequence[RejectedSchema] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail
        self.rejected, self.headers = list(rejected), dict(headers or {})

    def __reduce__(self) -> tuple[Callable[..., ServiceProblem], tuple[Any, ...]]:
        # Problems travel between processes.
        return ServiceProblem, (self.code, self.detail, self.rejected, self.headers)

    @property
    def status(self) -> int:
        """HTTP status of the answer."""
        return KINDS[self.code].status

    def details(self, request: str) -> ProblemSchema:
        """Return the body of the answer to the request with this id."""
        return ProblemSchema(
            type=f"urn:lightproof:problem:{self.code}",
            title=KINDS[self.code].title,
            status=self.status,
            detail=self.detail,
            code=self.code,
            request=request,
            rejected=self.rejected,
        )


def busy(got: str, seconds: int = 1) -> ServiceProblem:
    """Make the problem of a service that has no room now."""
    return ServiceProblem("busy", f"The service must have room for another request; got {got}.", (), _later(seconds))


def too_many(detail: str, seconds: float) -> ServiceProblem:
    """Make the problem of an address that sends requests too often."""
    return ServiceProblem("too_many_requests", detail, (), _later(max(1, round(seconds + 0.5))))


def _later(seconds: int) -> dict[str, str]:
    return {"Retry-After": str(seconds)}


def code_of(error: LightproofError) -> str:
    """Return the code of an error of the library."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), "internal")


def problem_of(error: LightproofError) -> ServiceProblem:
    """Make a problem of an error of the library."""
    code = code_of(error)
    headers = _later(5) if KINDS[code].status == 503 else {}
    return ServiceProblem(code, DETAILS.get(code, str(error)), (), headers)
