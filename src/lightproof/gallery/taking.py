"""Photos -> what a gallery keeps of them, or why not; also in other processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lightproof.diagnosis import light_directions
from lightproof.errors import BadGallery, BadImage, UserError
from lightproof.faces import FACE_SIZE, File, read_portrait
from lightproof.faces.networks import DETECTOR
from lightproof.gallery.templates import decode, encode, parameters_of, written
from lightproof.images import bring_to_size, check_images, refuse_blank
from lightproof.matcher import Matcher, matcher_of
from lightproof.pixels import contents_of, in_one_line
from lightproof.store import Change, NewPhoto, Refusal, View
from lightproof.types import Array

Photo: TypeAlias = File | Array
"""A photograph as a file, the contents of one, or a face as an array."""


@dataclass(frozen=True)
class Way:
    """How photos are taken: under which settings, as faces or as photographs, and whether the faces are kept."""

    settings: str
    cropped: bool = False
    keep: bool = False

    @property
    def matcher(self) -> Matcher:
        """The matcher of these settings."""
        return matcher_of(self.settings)

    @property
    def parameters(self) -> str:
        """The parameters of the templates."""
        return parameters_of(json.loads(self.settings))

    @property
    def looking(self) -> str:
        """How a face is looked for: what was refused is worth another try once this changes."""
        return "cropped" if self.cropped else DETECTOR


class Face(NamedTuple):
    """A face to be enrolled or compared: its photo's hash, what to call the photo, and the picture."""

    hash: str
    source: str
    image: Array


def hash_of(contents: bytes) -> str:
    """Sum up the contents of a file; a copy of it has the same sum, wherever it lies."""
    return hashlib.sha256(contents).hexdigest()


def take(photo: Photo, cropped: bool = False, where: str | None = None) -> Face:
    """Read a photo and cut out the face.

    Parameters
    ----------
    photo : str, Path, bytes or ndarray of shape (h, w)
        An array is a face already.
    cropped : bool
        Whether files are faces already.
    where : str, optional
        What to call it.
    """
    if isinstance(photo, np.ndarray):
        where = where or "the array"
        image = check_images([photo])[0]
        refuse_even(image, where)
        return Face(hash_of(repr((image.shape, image.dtype.str)).encode() + image.tobytes()), where, image)
    contents, where = contents_of(photo, where)
    return taken(contents, where, cropped)


def taken(contents: bytes, where: str, cropped: bool) -> Face:
    """Cut the face out of a photo whose contents are there."""
    image = read_portrait(contents, cropped=cropped, where=where).image
    refuse_even(image, where)
    return Face(hash_of(contents), where, image)


def refuse_even(image: Array, where: str) -> None:
    """Refuse a picture of one even grey, by its name, and one too small to have patches."""
    if min(image.shape) < 16:
        raise BadImage(where, "a face of 16 x 16 pixels or more", f"{image.shape[0]} x {image.shape[1]}")
    try:
        refuse_blank([image])
    except BadImage:
        raise BadImage(where, "a picture of something", f"one even grey, every pixel {image.flat[0]}") from None


def photos_of(faces: Sequence[Face], way: Way) -> list[NewPhoto]:
    """Make what a gallery keeps of some faces."""
    if not faces:
        return []
    images = [face.image for face in faces]
    templates = way.matcher.templates(images)
    small = kept_pictures(images)
    lights = light_directions(small)
    parameters = way.parameters
    pictures = [_png(picture) for picture in small] if way.keep else [None] * len(faces)
    return [
        NewPhoto(
            hash=face.hash,
            parameters=parameters,
            template=encode(template),
            source=face.source,
            light=_light(*light),
            face=picture,
        )
        for face, template, light, picture in zip(faces, templates, lights, pictures, strict=True)
    ]


def kept_pictures(images: Sequence[Array]) -> Array:
    """Bring faces to the size in which they are kept and their light is read, shape (n, 192, 168), uint8."""
    plain = all(image.dtype == np.uint8 and image.shape == FACE_SIZE for image in images)
    if plain:
        return np.stack(images)
    return np.clip(np.rint(255 * bring_to_size(list(images), FACE_SIZE, np.float32)), 0, 255).astype(np.uint8)


def _light(azimuth: float, elevation: float) -> str | None:
    if not np.isfinite(azimuth):
        return None
    return json.dumps({"azimuth": round(float(azimuth), 1), "elevation": round(float(elevation), 1)})


def light_of(note: str | None, place: str) -> tuple[float, float] | None:
    """Read azimuth and elevation as they are kept; the place of the gallery is for the message."""
    if note is None:
        return None
    try:
        read = json.loads(note)
        return float(read["azimuth"]), float(read["elevation"])
    except (KeyError, TypeError, ValueError):
        raise BadGallery(place, "a note on the light that cannot be read") from None


def _png(image: Array) -> bytes:
    from lightproof.plots import png_of

    return png_of(image)


class Job(NamedTuple):
    """A file to be enrolled: whose folder it lies in, its place in the folder, and the file itself."""

    person: str
    source: str
    path: str
    hash: str


class Made(NamedTuple):
    """What came of some files of a folder.

    Attributes
    ----------
    photos : dict of str to list of NewPhoto
        By person.
    spans : dict of str to bytes
        One template for all these photos of a person with several.
    refused : list of Refusal
    """

    photos: dict[str, list[NewPhoto]]
    spans: dict[str, bytes]
    refused: list[Refusal]


def make(jobs: Iterable[Job], way: Way, folder: str) -> Made:
    """Read some files and make their templates; a bad one is a refusal."""
    faces: list[tuple[Job, Face]] = []
    refused = []
    for job in jobs:
        try:
            contents, _ = contents_of(job.path, job.source)
            face = taken(contents, job.source, way.cropped)
            faces.append((job, face))
        except UserError as mistake:
            reason = in_one_line(str(mistake), 500)
            refused.append(Refusal(job.hash, job.person, job.source, folder, way.looking, reason))
    photos: dict[str, list[NewPhoto]] = {}
    made = photos_of([face for _, face in faces], way)
    for (job, _), photo in zip(faces, made, strict=True):
        photos.setdefault(job.person, []).append(replace(photo, folder=folder))
    spans = {person: joined(own, way) for person, own in photos.items() if len(own) > 1}
    return Made(photos, spans, refused)


def joined(photos: Sequence[NewPhoto], way: Way) -> bytes:
    """Make one template for several photos of a person, the same in whatever order they came."""
    return join_templates([photo.template for photo in sorted(photos, key=lambda photo: photo.hash)], way)


def check_parameters(view: View, way: Way, place: str) -> None:
    """Refuse to change a gallery that was rebuilt with other parameters since it was opened."""
    if view.facts().get("parameters") != way.parameters:
        raise BadGallery(place, "templates that were made anew with other parameters meanwhile; open it again")


def join_again(change: Change, names: Iterable[str], way: Way) -> None:
    """Make one template for each of these people who has several photos, from what the gallery keeps now."""
    for name in names:
        templates = change.templates_of(name)
        if len(templates) > 1:
            change.set_span(name, join_templates(templates, way))


def join_templates(templates: Sequence[bytes], way: Way) -> bytes:
    """Make one template of several, in the order of their photos' hashes."""
    return encode(way.matcher.joined([decode(template, way.matcher, "the photos") for template in templates]))


def way_of(settings: dict[str, Any], cropped: bool = False, keep: bool = False) -> Way:
    """Make a way of settings."""
    return Way(written(settings), cropped, keep)
