"""What can be asked: one model for the same request as multipart form and as JSON.

In a form a photo is a file, in JSON it is base64. Everything else is the same, so it is checked in one place.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

EXAMPLE_PHOTO: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGPYDgAA5ADjXaNTCQAAAABJRU5ErkJggg=="
"""A picture of one pixel: shows how a photo is written."""


def _contents(told: Any) -> Any:
    """Decode base64; what came as a file is there already."""
    if not isinstance(told, str):
        return told
    try:
        return base64.b64decode(told, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a photo in base64, or a file in a multipart form") from None


Photo = Annotated[
    bytes,
    BeforeValidator(_contents),
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
Cropped = Annotated[bool, Field(description="The picture is a face already: nothing is looked for.")]
Quick = Annotated[bool, Field(description="Look for a large face only, in one light: for the frames of a camera.")]
PersonId = Annotated[int, Field(ge=1, lt=2**63, examples=[17])]
Name = Annotated[str, Field(examples=["Ada Lovelace"], description="1 to 200 visible letters.")]


class Request(BaseModel):
    """A request; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Naming(Request):
    """What somebody is to be called."""

    name: Name


class NewPerson(Naming):
    """Somebody new, with or without photos."""

    photos: list[Photo] = Field(default=[], description="One or several.")
    cropped: Cropped = False


class NewPhotos(Request):
    """Photos of somebody."""

    photos: list[Photo] = Field(min_length=1, description="One or several.")
    cropped: Cropped = False


class Identify(Request):
    """A question: who is on a photo."""

    photo: Photo
    top: int = Field(default=5, ge=1, le=100, description="How many candidates to name at most.")
    far: Far = None
    cropped: Cropped = False
    quick: Quick = False


class Verify(Request):
    """A question: do two photos show the same person, or a photo and somebody enrolled."""

    photo: Photo
    other: Photo | None = Field(default=None, description="Another photo; or give `person`.")
    person: PersonId | None = Field(default=None, description="Somebody enrolled; or give `other`.")
    far: Far = None
    cropped: Cropped = False


class Explain(Request):
    """A question: which patches speak for somebody."""

    photo: Photo
    person: PersonId | None = Field(default=None, description="The best match if not given.")
    against: PersonId | None = Field(default=None, description="Why not this one?")
    cropped: Cropped = False


class Diagnose(Request):
    """A question: what does the light do."""

    photo: Photo
    cropped: Cropped = False
    quick: Quick = False


class Calibrate(Request):
    """How many strangers may be accepted."""

    far: float = Field(default=0.001, gt=0, lt=1, description="Share of strangers that may be accepted.")


@cache
def photo_fields(model: type[Request]) -> dict[str, bool]:
    """Name the fields that hold photos, and whether each holds several."""
    schema = model.model_json_schema()["properties"]
    return {name: told.get("type") == "array" for name, told in schema.items() if "base64" in str(told)}


@cache
def text_fields(model: type[Request]) -> frozenset[str]:
    """Name the fields that hold text; all others are written in a form as they are in JSON."""
    schema = model.model_json_schema()["properties"]
    return frozenset(name for name, told in schema.items() if told.get("type") == "string")


def body_of(model: type[Request]) -> dict[str, Any]:
    """Describe a request for the OpenAPI document: as JSON, and where it holds photos as a multipart form too."""
    schema = model.model_json_schema()
    content = {"application/json": {"schema": schema}}
    if photo_fields(model):
        content = {"multipart/form-data": {"schema": _as_form(model)}, **content}
    return {"requestBody": {"required": True, "content": content}}


def _as_form(model: type[Request]) -> dict[str, Any]:
    schema = model.model_json_schema()
    file = {"type": "string", "format": "binary", "description": "A photo, as a file."}
    for name, several in photo_fields(model).items():
        schema["properties"][name] = {"type": "array", "items": file} if several else file
    for name, told in schema["properties"].items():
        # In a form there is no null: what is not meant is left out.
        if "anyOf" in told:
            [kind] = [one for one in told.pop("anyOf") if one.get("type") != "null"]
            schema["properties"][name] = {**kind, **{key: value for key, value in told.items() if value is not None}}
    return schema
