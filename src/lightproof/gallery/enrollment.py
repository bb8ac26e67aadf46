"""Photos -> what a gallery keeps of them, or why not; also in other processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import NamedTuple, TypeAlias

import numpy as np

from lightproof.core.images import check_images, refuse_blank, to_bytes
from lightproof.errors import BadGallery, BadImage, MissingExtra, UserError
from lightproof.gallery.store import Change, NewPhoto, Refusal, View
from lightproof.gallery.template_codec import decode, encode, parameters_of
from lightproof.imaging.decode import contents_of, in_one_line
from lightproof.imaging.detection import FACE_SIZE, File, Portrait, read_portrait
from lightproof.imaging.detection.face_networks import DETECTOR
from lightproof.matching.matcher import Matcher, matcher_for
from lightproof.matching.templates import Template
from lightproof.method.presets import GallerySettings
from lightproof.types import Array

Photo: TypeAlias = File | Array
"""A photograph as a file, the contents of one, or a face as an array."""


@dataclass(frozen=True)
class EnrollmentConfig:
    """How photos are taken: under which settings, as faces or as photographs, and whether the faces are kept."""

    settings: GallerySettings
    cropped: bool = False
    keep: bool = False

    @property
    def matcher(self) -> Matcher:
        """The matcher of these settings."""
        return matcher_for(self.settings)

    @cached_property
    def parameters(self) -> str:
        """The parameters of the templates."""
        return parameters_of(self.settings)

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


def listed(photos: Sequence[Photo] | Photo) -> list[Photo]:
    """Make a list of photos of one of them, of several, or of a stack of faces."""
    if isinstance(photos, str | bytes | PathLike) or (isinstance(photos, np.ndarray) and photos.ndim != 3):
        return [photos]
    return list(photos)


def called(photo: Photo, i: int) -> str | None:
    """Return what a photo that has no path is called: by its place in the list."""
    return f"photo {i + 1}" if isinstance(photo, bytes | np.ndarray) else None


def extract_face(photo: Photo, cropped: bool = False, where: str | None = None) -> Face:
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
    return face_of(read_portrait(contents, cropped=cropped, where=where), contents, where)


def face_of(portrait: Portrait, contents: bytes, where: str) -> Face:
    """Take a face that was cut out of a photo with these contents."""
    refuse_even(portrait.image, where)
    return Face(hash_of(contents), where, portrait.image)


def refuse_even(image: Array, where: str) -> None:
    """Refuse a picture of one even grey, by its name, and one too small to have patches."""
    if min(image.shape) < 16:
        raise BadImage(where, "a face of 16 x 16 pixels or more", f"{image.shape[0]} x {image.shape[1]}")
    try:
        refuse_blank([image])
    except BadImage:
        raise BadImage(where, "a picture of something", f"one even grey, every pixel {image.flat[0]}") from None


def photos_of(faces: Sequence[Face], config: EnrollmentConfig) -> list[NewPhoto]:
    """Make what a gallery keeps of some faces."""
    if not faces:
        return []
    images = [face.image for face in faces]
    templates = config.matcher.templates(images)
    codes = config.matcher.encoder.encode_templates(templates)
    parameters = config.parameters
    pictures = [_png(picture) for picture in to_bytes(images, FACE_SIZE)] if config.keep else [None] * len(faces)
    return [
        NewPhoto(
            hash=face.hash,
            parameters=parameters,
            template=encode(template),
            source=face.source,
            light=_light(template),
            face=picture,
            code=code.astype("<u8").tobytes(),
        )
        for face, template, picture, code in zip(faces, templates, pictures, codes, strict=True)
    ]


def _light(template: Template) -> str | None:
    if not template.lights:
        return None
    azimuth, elevation = template.lights[0]
    return f'{{"azimuth": {round(azimuth, 1)}, "elevation": {round(elevation, 1)}}}'


def light_of(note: str | None, place: str) -> tuple[float, float] | None:
    """Read azimuth and elevation as they are kept; the place of the gallery is for the message."""
    if note is None:
        return None
    try:
        read = json.loads(note)
        light = float(read["azimuth"]), float(read["elevation"])
        sound = all(abs(angle) <= 180 for angle in light)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        sound = False
    if not sound:
        raise BadGallery(place, "a note on the light that cannot be read")
    return light


def lights_of(photos: Iterable[NewPhoto], place: str) -> tuple[tuple[float, float], ...]:
    """Read the lights of photos as a template has them: those that are known."""
    return tuple(light for photo in photos if (light := light_of(photo.light, place)))


def _png(image: Array) -> bytes:
    from lightproof.plots import png_of

    return png_of(image)


class PhotoFile(NamedTuple):
    """A file of a folder of photos.

    Attributes
    ----------
    person : str
        Whose it is.
    source : str
        Its place in the folder.
    path : str
        The file itself.
    hash : str
        Of its contents; empty if it was not read yet.
    problem : str
        Why it could not be read.
    """

    person: str
    source: str
    path: str
    hash: str = ""
    problem: str = ""


class BatchResult(NamedTuple):
    """What came of some files of a folder.

    Attributes
    ----------
    photos : dict of str to list of NewPhoto
        By person.
    spans : dict of str to bytes
        The joint template of each person with several photos here.
    refused : list of Refusal
        Bad photos, to be remembered.
    unread : list of PhotoFile
        Files that cannot be read now, which says nothing about the photos.
    """

    photos: dict[str, list[NewPhoto]]
    spans: dict[str, bytes]
    refused: list[Refusal]
    unread: list[PhotoFile]


def process_files(files: Iterable[PhotoFile], config: EnrollmentConfig, folder: str) -> BatchResult:
    """Read some files and make their templates; a bad photo becomes a refusal."""
    faces: list[tuple[PhotoFile, Face]] = []
    refused, unread = [], []
    for file in files:
        try:
            contents, _ = contents_of(file.path, file.source)
        except BadImage as mistake:
            unread.append(file._replace(problem=mistake.got))
            continue
        try:
            faces.append((file, taken(contents, file.source, config.cropped)))
        except MissingExtra:  # no fault of the photo
            raise
        except UserError as mistake:
            known = file._replace(hash=file.hash or hash_of(contents))
            refused.append(refusal_of(known, config, folder, str(mistake)))
    photos: dict[str, list[NewPhoto]] = {}
    new = photos_of([face for _, face in faces], config)
    for (file, _), photo in zip(faces, new, strict=True):
        photos.setdefault(file.person, []).append(replace(photo, folder=folder))
    # The gallery keeps photos in the order of their hashes.
    several = {person: sorted(own, key=lambda photo: photo.hash) for person, own in photos.items() if len(own) > 1}
    spans = joined([[photo.template for photo in own] for own in several.values()], config, "what was just made")
    return BatchResult(photos, dict(zip(several, spans, strict=True)), refused, unread)


def refusal_of(file: PhotoFile, config: EnrollmentConfig, folder: str | None, reason: str) -> Refusal:
    """Make the refusal of a file."""
    return Refusal(file.hash, file.person, file.source, folder, config.looking, in_one_line(reason, 500))


def killing(photo: str, deaths: int) -> BadImage:
    """Say that workers died over a photo."""
    return BadImage(photo, "a photo that workers survive", f"{deaths} killed workers")


def check_parameters(view: View, config: EnrollmentConfig) -> None:
    """Refuse to change a gallery that was rebuilt with other parameters since it was opened."""
    if view.facts().get("parameters") != config.parameters:
        raise BadGallery(view.place, "templates that were made anew with other parameters meanwhile; open it again")


def join_again(change: Change, names: Iterable[str], config: EnrollmentConfig) -> None:
    """Make one template for each of these people who has several photos, from what the gallery keeps now."""
    for name in names:
        templates = change.templates_of(name)
        if len(templates) > 1:
            change.set_span(name, joined([templates], config, change.place)[0])


def joined(people: Sequence[Sequence[bytes]], config: EnrollmentConfig, place: str) -> list[bytes]:
    """Make one template for each of several people, of those of their photos in the order of the hashes.

    Parameters
    ----------
    people : sequence of sequence of bytes
        The templates of each person's photos.
    config : EnrollmentConfig
    place : str
        Of the gallery, for the message.
    """
    decoded = [[decode(template, config.matcher, place) for template in own] for own in people]
    return [encode(span) for span in config.matcher.joined_people(decoded)]
