"""What the library found -> what goes over the wire."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from lightproof.gallery import Answer, Calibration, Verification, advice, store
from lightproof.gallery.enrollment import light_of
from lightproof.imaging.detection import Portrait
from lightproof.imaging.lighting import Diagnosis
from lightproof.matching.calibration import score_of
from lightproof.matching.explanation import Explanation
from lightproof.service import schemas

if TYPE_CHECKING:
    from lightproof.evaluation import Counted, Within

MEANING: Final = (
    "One in 10^(6 x score) strangers would score this well: 0.33 is one in a hundred, 0.5 one in a thousand, 1 one "
    "in a million or fewer."
)


def person_told(person: store.Person) -> schemas.Person:
    """Tell who somebody is."""
    return schemas.Person(person.id, person.name, person.photos, person.added)


def detail_told(person: store.Person, photos: Sequence[store.Photo], place: str) -> schemas.PersonDetail:
    """Tell who somebody is, and which light is missing."""
    lights = [light_of(photo.light, place) or (None, None) for photo in photos]
    given = advice.advise(person.name, lights)
    has, lacks = (cast(list[schemas.LightName], list(names)) for names in (given.has, given.lacks))
    told = schemas.Advice(has, lacks, given.next, given.gain)
    return schemas.PersonDetail(person.id, person.name, len(photos), person.added, told)


def photos_told(photos: Sequence[store.Photo], place: str) -> list[schemas.Photo]:
    """Tell what is known of photos."""
    lights = [light_of(photo.light, place) or (None, None) for photo in photos]
    names = advice.light_names(lights)
    return [
        schemas.Photo(
            id=photo.id,
            sha256=photo.hash,
            added=photo.added,
            azimuth=light[0],
            elevation=light[1],
            light=cast(schemas.LightName | None, name),
            has_thumbnail=photo.has_face,
        )
        for photo, light, name in zip(photos, lights, names, strict=True)
    ]


def light_told(found: Diagnosis) -> schemas.Light:
    """Tell what the light does."""
    return schemas.Light(**asdict(found))


def face_told(portrait: Portrait) -> schemas.FoundFace | None:
    """Tell where a face was."""
    face = portrait.face
    if face is None:
        return None
    return schemas.FoundFace(face.right_eye, face.left_eye, portrait.n_faces, face.look)


def answer_told(
    answer: Answer, ids: Mapping[str, int], light: schemas.Light, face: schemas.FoundFace | None
) -> schemas.Answer:
    """Tell who is on a photo."""
    return schemas.Answer(
        answer="unknown" if answer.name is None else "known",
        person=None if answer.name is None else ids.get(answer.name),
        name=answer.name,
        score=answer.score,
        one_in=answer.one_in,
        threshold=answer.threshold,
        far=answer.far,
        calibrated=answer.calibrated,
        meaning=MEANING,
        sentence=answer.sentence,
        candidates=[
            schemas.Candidate(ids.get(one.name), one.name, one.score, one.one_in, one.lead, one.distance)
            for one in answer.candidates
        ],
        light=light,
        face=face,
    )


def verification_told(found: Verification, lights: Sequence[schemas.Light]) -> schemas.Verification:
    """Tell whether two photos show the same person."""
    return schemas.Verification(
        **asdict(found),
        meaning=MEANING,
        sentence=found.sentence,
        light=lights[0],
        other_light=lights[1] if len(lights) > 1 else None,
    )


def explanation_told(found: Explanation, ids: Mapping[str, int], picture: bytes) -> schemas.Explanation:
    """Tell which patches speak for somebody."""
    values = found.patches if found.difference is None else found.difference
    against = None if found.against is None else str(found.against)
    return schemas.Explanation(
        person=ids.get(str(found.person)),
        name=str(found.person),
        lead=found.lead,
        against=None if against is None else ids.get(against),
        against_name=against,
        against_lead=found.rival_lead,
        rivals=list(found.rivals),
        sentence=found.sentence,
        rows=found.grid.rows,
        columns=found.grid.columns,
        patches=list(_patches(found, values.ravel().tolist())),
        width=found.grid.width,
        height=found.grid.height,
        picture=base64.b64encode(picture).decode(),
    )


def _patches(found: Explanation, values: Iterable[float]) -> Iterable[schemas.Patch]:
    cell = found.grid.cell
    for (top, left), value in zip(found.grid.corners.tolist(), values, strict=True):
        yield schemas.Patch(left, top, cell, cell, value)


def calibration_told(found: Calibration) -> schemas.Calibration:
    """Tell where the threshold lies."""
    threshold = float(score_of(np.asarray(found.far)))
    return schemas.Calibration(**asdict(found), threshold=threshold, calibrated=found.strangers > 0, meaning=MEANING)


def accuracy_told(found: Within) -> schemas.Accuracy:
    """Tell how well a gallery recognizes its own photos."""
    return schemas.Accuracy(
        far=found.far,
        threshold=found.threshold,
        calibrated=found.calibrated,
        people=found.people,
        asked=found.asked,
        lights=[
            schemas.AccuracyInLight(
                light=cast(schemas.LightGroup, one.light),
                words=one.words,
                named=_share(one.named),
                found=_share(one.found),
                strangers=_share(one.strangers),
            )
            for one in found.lights
        ],
        note=found.note,
    )


def _share(counted: Counted) -> schemas.Share:
    return schemas.Share(counted.count, counted.of, counted.share, counted.low, counted.high)
