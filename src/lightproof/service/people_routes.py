"""Routes of people and of their photos: list, enroll, read, rename, delete."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.errors import UnknownPhoto
from lightproof.gallery import Gallery
from lightproof.gallery.enrollment import picture_of_kept
from lightproof.service import bodies, jobs, openapi, schemas, serializers
from lightproof.service.problems import ServiceProblem
from lightproof.service.serializers import from_attributes, json_response
from lightproof.service.state import ServiceState, State

people_router = APIRouter(tags=["people"])
photo_router = APIRouter(tags=["photos"])

PersonId = Annotated[int, Path(ge=1, lt=2**63, description="The number of a person.", examples=[17])]
PhotoId = Annotated[int, Path(ge=1, lt=2**63, description="The number of a photo.", examples=[40])]


@people_router.get(
    "/people",
    **openapi.describe("bad_value", of=schemas.PeoplePageSchema([openapi.PERSON], 1, None)),
    summary="Who is enrolled?",
)
def list_people(
    state: State,
    limit: Annotated[int, Query(ge=1, le=1000, description="Number of people on one page.")] = 100,
    after: Annotated[str | None, Query(max_length=2000, description="The `next` of the page before.")] = None,
    name: Annotated[str | None, Query(max_length=200, description="Only names that contain this.")] = None,
) -> Response:
    """List everybody by name, page by page."""
    last = None if after is None else _name_of_cursor(after)
    with state.gallery.store.reading() as view:
        # One person more than the page shows tells whether there is another page.
        people, total = view.some_people(last, limit + 1, name)
    following = base64.urlsafe_b64encode(people[limit - 1].name.encode()).decode() if len(people) > limit else None
    shown = [from_attributes(schemas.PersonSchema, person) for person in people[:limit]]
    return json_response(schemas.PeoplePageSchema(shown, total, following))


def _name_of_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode("ascii"), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise ServiceProblem("bad_value", "`after` must be the `next` of a page; got something else.") from None


@people_router.post(
    "/people",
    **openapi.describe(
        *openapi.WITH_PHOTO, "bad_name", "name_taken", "photo_of_another", "nothing_taken",
        of=openapi.ENROLLED, body=bodies.NewPerson, status=201,
    ),
    summary="Enroll somebody new",
)  # fmt: skip
async def create_person(call: Call, state: State) -> Response:
    """Enroll somebody with one or several photos, or enter the name alone and add photos later.

    Photos that cannot be used are listed with the reason; the others are enrolled, in one change. If none can be used,
    nobody is enrolled.
    """
    async with state.reading(call, bodies.NewPerson) as request:
        if request.photos:
            enrolled = await _enroll(call, state, request.name, request)
        else:
            gallery = state.gallery
            person = await run_in_threadpool(gallery.add_person, request.name)
            enrolled = schemas.EnrolledSchema(serializers.person_detail(person, [], gallery.place), [], [], [])
    return _enrolled_response(call, state, enrolled, 201)


async def _enroll(
    call: Call, state: ServiceState, who: str | int, request: bodies.NewPerson | bodies.NewPhotos
) -> schemas.EnrolledSchema:
    # If the worker dies, nobody knows which photos it has enrolled, so the job is not repeated.
    job = call.is_disconnected, jobs.enroll, who, request.photos, request.cropped
    return await state.pool.do(*job, parts=len(request.photos), again=False)


def _enrolled_response(call: Call, state: ServiceState, enrolled: schemas.EnrolledSchema, status: int) -> Response:
    """Count and record what became of the photos, and answer."""
    added, rejected = len(enrolled.added), len(enrolled.rejected)
    for outcome, count in (("added", added), ("known", len(enrolled.known)), ("rejected", rejected)):
        state.metrics.photos.labels(outcome).inc(count)
    photos = [photo.id for photo in enrolled.added]
    state.record(call, "enroll", person=enrolled.person.id, photos=photos, rejected=rejected)
    return json_response(enrolled, status)


@people_router.get(
    "/people/{person}", **openapi.describe("unknown_person", "bad_value", of=openapi.DETAIL), summary="Who is it?"
)
def read_person(person: PersonId, state: State) -> Response:
    """Tell who somebody is, and which light the photos lack."""
    return json_response(_detail(state.gallery, person))


def _detail(gallery: Gallery, number: int) -> schemas.PersonDetailSchema:
    with gallery.store.reading() as view:
        person = view.person(number)
        return serializers.person_detail(person, view.photos(person.id), gallery.place)


@people_router.patch(
    "/people/{person}",
    **openapi.describe("unknown_person", "bad_name", "name_taken", of=openapi.DETAIL, body=bodies.Naming),
    summary="Rename somebody",
)
async def rename_person(person: PersonId, call: Call, state: State) -> Response:
    """Give somebody another name, which must be free."""
    async with state.reading(call, bodies.Naming) as request:
        await run_in_threadpool(state.gallery.rename, person, request.name)
    state.record(call, "rename", person=person)
    return json_response(await run_in_threadpool(_detail, state.gallery, person))


@people_router.delete(
    "/people/{person}",
    **openapi.describe("unknown_person", "bad_value", of=schemas.ForgottenSchema(1, 3, None)),
    summary="Delete somebody for good",
)
def delete_person(person: PersonId, call: Call, state: State) -> Response:
    """Delete somebody with all photos and templates; nobody else's answers change."""
    photos = state.gallery.forget(person)
    state.record(call, "delete", person=person, photos=photos)
    return _forgotten_response(state.gallery, 1, photos)


def _forgotten_response(gallery: Gallery, people: int, photos: int) -> Response:
    leftover = gallery.leftover()
    # Callers are not told where the gallery lies.
    leftover = leftover and leftover.replace(gallery.place, "the gallery")
    return json_response(schemas.ForgottenSchema(people, photos, leftover))


@photo_router.get(
    "/people/{person}/photos",
    **openapi.describe("unknown_person", "bad_value", of=schemas.PhotosSchema([openapi.PHOTO])),
    summary="Which photos?",
)
def list_photos(person: PersonId, state: State) -> Response:
    """List the photos of somebody, and the light on each."""
    gallery = state.gallery
    return json_response(schemas.PhotosSchema(serializers.photos(gallery.store.photos(person), gallery.place)))


@photo_router.post(
    "/people/{person}/photos",
    **openapi.describe(
        *openapi.WITH_PHOTO, "unknown_person", "photo_of_another", "nothing_taken",
        of=openapi.ENROLLED, body=bodies.NewPhotos,
    ),
    summary="Add photos",
)  # fmt: skip
async def add_photos(person: PersonId, call: Call, state: State) -> Response:
    """Add one or several photos of somebody.

    Photos that cannot be used are listed with the reason; the others are enrolled, in one change.
    """
    async with state.reading(call, bodies.NewPhotos) as request:
        enrolled = await _enroll(call, state, person, request)
    return _enrolled_response(call, state, enrolled, 200)


@photo_router.delete(
    "/people/{person}/photos/{photo}",
    **openapi.describe("unknown_person", "unknown_photo", "bad_value", of=schemas.ForgottenSchema(0, 1, None)),
    summary="Delete a photo for good",
)
def delete_photo(person: PersonId, photo: PhotoId, call: Call, state: State) -> Response:
    """Delete a photo with its template; with the last one the person goes too."""
    removed = state.gallery.remove_photos(person, [photo])
    state.record(call, "delete", person=person, photo=photo, people=len(removed.people))
    return _forgotten_response(state.gallery, len(removed.people), removed.photos)


@photo_router.get(
    "/people/{person}/photos/{photo}/thumbnail",
    **openapi.describe("unknown_person", "unknown_photo", "face_not_kept", "bad_value", media="image/png"),
    summary="The face on a photo",
)
def thumbnail(person: PersonId, photo: PhotoId, state: State) -> Response:
    """Show the face of a photo, where faces are kept."""
    with state.gallery.store.reading() as view:
        owner = view.person(person)
        if photo not in {own.id for own in view.photos(owner.id)}:
            raise UnknownPhoto(photo, owner.name)
        face = view.face(photo)
    if face is None:
        raise ServiceProblem("face_not_kept", "The gallery must keep faces; got one that did not keep this face.")
    return Response(picture_of_kept(face), media_type="image/png")
