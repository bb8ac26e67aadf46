"""Photos of a person: add, list, delete, thumbnail."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.errors import UnknownPhoto
from lightproof.gallery import Gallery
from lightproof.service import openapi, request_models, schemas, serializers
from lightproof.service.problems import ServiceProblem
from lightproof.service.routes.people import PersonId, enrolled_told, leftover
from lightproof.service.state import FromDesk, told

router = APIRouter(tags=["photos"])

PhotoId = Annotated[int, Path(ge=1, lt=2**63, description="The number of a photo.", examples=[40])]


@router.get(
    "/people/{person}/photos",
    **openapi.answers("unknown_person", "bad_value", of=schemas.Photos([openapi.PHOTO])),
    summary="Which photos?",
)
async def list_photos(person: PersonId, desk: FromDesk) -> Response:
    """List the photos of somebody, and the light on each."""
    return told(await run_in_threadpool(_photos, desk.gallery, person))


def _photos(gallery: Gallery, person: int) -> schemas.Photos:
    return schemas.Photos(serializers.photos_told(gallery.store.photos(person), gallery.place))


@router.post(
    "/people/{person}/photos",
    **openapi.answers(
        *openapi.SENDING, *openapi.LOOKING, "unknown_person", "photo_of_another", "nothing_taken",
        of=schemas.Enrolled(openapi.DETAIL, [openapi.PHOTO], [], []),
    ),
    openapi_extra=request_models.body_of(request_models.NewPhotos),
    summary="Add photos",
)  # fmt: skip
async def add_photos(person: PersonId, call: Call, desk: FromDesk) -> Response:
    """Add one or several photos of somebody.

    Photos that cannot be used are listed with the reason; the others are enrolled, in one change.
    """
    async with desk.asked(call, request_models.NewPhotos) as asked:
        enrolled = await desk.enroll(call, person, asked.photos, asked.cropped)
    return enrolled_told(call, desk, enrolled, 200)


@router.delete(
    "/people/{person}/photos/{photo}",
    **openapi.answers("unknown_person", "unknown_photo", "bad_value", of=schemas.Forgotten(0, 1, None)),
    summary="Delete a photo for good",
)
async def delete_photo(person: PersonId, photo: PhotoId, call: Call, desk: FromDesk) -> Response:
    """Delete a photo with its template; with the last one the person goes too."""
    removed = await run_in_threadpool(desk.gallery.remove_photos, person, [photo])
    desk.note(call, "delete", person=person, photo=photo, people=len(removed.people))
    return told(schemas.Forgotten(len(removed.people), removed.photos, await leftover(desk)))


@router.get(
    "/people/{person}/photos/{photo}/thumbnail",
    **openapi.answers("unknown_person", "unknown_photo", "face_not_kept", "bad_value", media="image/png"),
    summary="The face on a photo",
)
async def thumbnail(person: PersonId, photo: PhotoId, desk: FromDesk) -> Response:
    """Show the face of a photo, where faces are kept."""
    return Response(await run_in_threadpool(_face, desk.gallery, person, photo), media_type="image/png")


def _face(gallery: Gallery, person: int, photo: int) -> bytes:
    with gallery.store.reading() as view:
        found = view.person(person)
        if photo not in {one.id for one in view.photos(found.id)}:
            raise UnknownPhoto(photo, found.name)
        face = view.face(photo)
    if face is None:
        raise ServiceProblem("face_not_kept", "The gallery must be one that keeps faces; got one that did not.")
    return face
