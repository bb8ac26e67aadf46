"""People: list, create, read, rename, delete."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.gallery import Gallery
from lightproof.service import openapi, request_models, schemas, serializers
from lightproof.service.problems import ServiceProblem
from lightproof.service.state import Desk, FromDesk, told

router = APIRouter(tags=["people"])

PersonId = Annotated[int, Path(ge=1, lt=2**63, description="The number of a person.", examples=[17])]


@router.get(
    "/people",
    **openapi.answers("bad_value", of=schemas.PeoplePage([openapi.PERSON], 1, None)),
    summary="Who is enrolled?",
)
async def list_people(
    desk: FromDesk,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many on one page.")] = 100,
    after: Annotated[str | None, Query(max_length=2000, description="The `next` of the page before.")] = None,
    name: Annotated[str | None, Query(max_length=200, description="Only names that contain this.")] = None,
) -> Response:
    """List everybody by name, page by page."""
    last = None if after is None else _read_cursor(after)
    return told(await run_in_threadpool(_page, desk.gallery, limit, last, name))


def _page(gallery: Gallery, limit: int, after: str | None, part: str | None) -> schemas.PeoplePage:
    with gallery.store.reading() as view:
        # One more, to know whether there is another page.
        people, total = view.some_people(after, limit + 1, part)
    following = _cursor(people[limit - 1].name) if len(people) > limit else None
    return schemas.PeoplePage([serializers.person_told(person) for person in people[:limit]], total, following)


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode("ascii"), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise ServiceProblem("bad_value", "`after` must be the `next` of a page; got something else.") from None


@router.post(
    "/people",
    **openapi.answers(
        *openapi.SENDING, *openapi.LOOKING, "bad_name", "name_taken", "photo_of_another", "nothing_taken",
        of=schemas.Enrolled(openapi.DETAIL, [openapi.PHOTO], [], []), status=201,
    ),
    openapi_extra=request_models.body_of(request_models.NewPerson),
    summary="Enroll somebody new",
)  # fmt: skip
async def create_person(call: Call, desk: FromDesk) -> Response:
    """Enroll somebody with one or several photos, or enter the name alone and add photos later.

    Photos that cannot be used are listed with the reason; the others are enrolled, in one change. If none can be used,
    nobody is enrolled.
    """
    async with desk.asked(call, request_models.NewPerson) as asked:
        if asked.photos:
            enrolled = await desk.enroll(call, asked.name, asked.photos, asked.cropped)
        else:
            enrolled = await run_in_threadpool(_entered, desk.gallery, asked.name)
    return enrolled_told(call, desk, enrolled, 201)


def _entered(gallery: Gallery, name: str) -> schemas.Enrolled:
    return schemas.Enrolled(serializers.detail_told(gallery.add_person(name), [], gallery.place), [], [], [])


def enrolled_told(call: Call, desk: Desk, enrolled: schemas.Enrolled, status: int) -> Response:
    """Count and write down what became of the photos."""
    added, rejected = len(enrolled.added), len(enrolled.rejected)
    for outcome, count in (("added", added), ("known", len(enrolled.known)), ("rejected", rejected)):
        desk.metrics.photos.labels(outcome).inc(count)
    photos = [photo.id for photo in enrolled.added]
    desk.note(call, "enroll", person=enrolled.person.id, photos=photos, rejected=rejected)
    return told(enrolled, status)


@router.get(
    "/people/{person}",
    **openapi.answers("unknown_person", "bad_value", of=openapi.DETAIL),
    summary="Who is it?",
)
async def read_person(person: PersonId, desk: FromDesk) -> Response:
    """Tell who somebody is, and which light the photos lack."""
    return told(await run_in_threadpool(_detail, desk.gallery, person))


def _detail(gallery: Gallery, person: int) -> schemas.PersonDetail:
    with gallery.store.reading() as view:
        found = view.person(person)
        return serializers.detail_told(found, view.photos(found.id), gallery.place)


@router.patch(
    "/people/{person}",
    **openapi.answers(*openapi.SENDING, "unknown_person", "bad_name", "name_taken", of=openapi.DETAIL),
    openapi_extra=request_models.body_of(request_models.Naming),
    summary="Rename somebody",
)
async def rename_person(person: PersonId, call: Call, desk: FromDesk) -> Response:
    """Give somebody another name, which nobody may have."""
    async with desk.asked(call, request_models.Naming) as asked:
        await run_in_threadpool(desk.gallery.rename, person, asked.name)
    desk.note(call, "rename", person=person)
    return told(await run_in_threadpool(_detail, desk.gallery, person))


@router.delete(
    "/people/{person}",
    **openapi.answers("unknown_person", "bad_value", of=openapi.FORGOTTEN),
    summary="Delete somebody for good",
)
async def delete_person(person: PersonId, call: Call, desk: FromDesk) -> Response:
    """Delete somebody with all photos and templates; nobody else's answers change."""
    photos = await run_in_threadpool(desk.gallery.forget, person)
    desk.note(call, "delete", person=person, photos=photos)
    return told(schemas.Forgotten(1, photos, await leftover(desk)))


async def leftover(desk: Desk) -> str | None:
    """Say what may be left of what was deleted; where the gallery lies stays here."""
    said = await run_in_threadpool(desk.gallery.leftover)
    return said and said.replace(desk.gallery.place, "the gallery")
