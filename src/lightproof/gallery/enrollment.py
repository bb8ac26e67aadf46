"""Photos -> faces -> what a gallery keeps of them, or why they are refused; also in other processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.core.images import check_images, refuse_blank, to_bytes
from lightproof.core.progress import Progress
from lightproof.errors import BadGallery, BadImage, MissingExtra, UserError
from lightproof.gallery.codec import UNFINISHED, decode_template, write_preset
from lightproof.gallery.store import Change, NewPhoto, Refusal, View
from lightproof.imaging.decode import contents_of, in_one_line, read_grey
from lightproof.imaging.detection import FACE_SIZE, AlignedFace, File, Portrait, align_crop, read_portrait
from lightproof.imaging.detection.face_networks import DETECTOR
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings
from lightproof.matching.template_codec import encode_template, parameters_of
from lightproof.matching.templates import Template
from lightproof.method.presets import ENGINES, EngineSettings
from lightproof.types import Array

PNG_END: Final = b"\0\0\0\0IEND\xaeB`\x82"
"""The last twelve bytes of every PNG."""

Photo: TypeAlias = File | Array
"""A photograph as a file, the contents of one, or a face as an array."""


@dataclass(frozen=True)
class EnrollmentConfig:
    """How photos are enrolled: by which settings, as faces or as photographs, and whether the faces are kept."""

    settings: EngineSettings
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
    def detector(self) -> str:
        """How a face is found: refused photos are worth another try once this changes."""
        return "cropped" if self.cropped else DETECTOR


class ExtractedFace(NamedTuple):
    """A face to be enrolled or compared: the hash of its photo, what to call the photo, and the face."""

    hash: str
    source: str
    aligned: AlignedFace

    @property
    def image(self) -> Array:
        """The face, cut by its eyes."""
        return self.aligned.image


def hash_of(contents: bytes) -> str:
    """Return the hash of a file; a copy of it has the same, wherever it lies."""
    return hashlib.sha256(contents).hexdigest()


def as_list(photos: Sequence[Photo] | Photo) -> list[Photo]:
    """Return a list of one photo, of several, or of a stack of faces."""
    if isinstance(photos, str | bytes | PathLike) or (isinstance(photos, np.ndarray) and photos.ndim != 3):
        return [photos]
    return list(photos)


def name_in_list(photo: Photo, i: int) -> str | None:
    """Return what to call a photo that has no path: its place in the list."""
    return f"photo {i + 1}" if isinstance(photo, bytes | np.ndarray) else None


def extract_face(photo: Photo, cropped: bool = False, where: str | None = None) -> ExtractedFace:
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
        [image] = check_images([photo])
        contents = repr((image.shape, image.dtype.str)).encode() + image.tobytes()
        return face_of(image, contents, where or "the array", lambda: align_crop(image))
    contents, where = contents_of(photo, where)
    portrait = read_portrait(contents, cropped=cropped, where=where)
    return face_in(portrait, contents, where)


def face_in(portrait: Portrait, contents: bytes, where: str) -> ExtractedFace:
    """Return the face in a portrait of a photo with these contents; see :func:`face_of`."""
    return face_of(portrait.image, contents, where, lambda: portrait.aligned)


def face_of(image: Array, contents: bytes, where: str, aligned: Callable[[], AlignedFace]) -> ExtractedFace:
    """Return the face in a photo with these contents; refuse one that is too small or even, by the photo's name."""
    if min(image.shape) < 16:
        raise BadImage(where, "a face of 16 x 16 pixels or more", f"{image.shape[0]} x {image.shape[1]}")
    try:
        refuse_blank([image])
    except BadImage:
        raise BadImage(where, "a picture of something", f"one even grey, every pixel {image.flat[0]}") from None
    return ExtractedFace(hash_of(contents), where, aligned())


def write_kept_face(face: AlignedFace) -> bytes:
    """Write a face as PNG, for people to look at; behind it, if it has a mesh, PNG of its other shapes."""
    from lightproof.plots import png_of

    pictures = [face.image]
    if face.eyes is not None and face.shaped is not None:
        pictures += [face.shaped, *([] if face.eyes is face.image else [face.eyes])]
    return b"".join(png_of(to_bytes([picture], FACE_SIZE)[0]) for picture in pictures)


def read_kept_face(kept: bytes, where: str) -> AlignedFace:
    """Read what :func:`write_kept_face` wrote."""
    pictures = []
    while kept:
        first = picture_of_kept(kept)
        pictures.append(read_grey(first, where=where))
        kept = kept[len(first) :]
    if not pictures:
        raise BadImage(where, "a picture", "nothing")
    if len(pictures) == 1:
        return AlignedFace(pictures[0])
    eyes = pictures[2] if len(pictures) > 2 else pictures[0]
    return AlignedFace(pictures[0], eyes=eyes, shaped=pictures[1])


def picture_of_kept(kept: bytes) -> bytes:
    """Return the first PNG of a face that is kept, for people to look at."""
    end = kept.find(PNG_END)
    return kept if end < 0 else kept[: end + len(PNG_END)]


def new_photos(faces: Sequence[ExtractedFace], config: EnrollmentConfig) -> list[NewPhoto]:
    """Make what a gallery keeps of some faces."""
    if not faces:
        return []
    templates = config.matcher.templates([face.aligned for face in faces])
    codes = config.matcher.encoder.encode_templates(templates)
    pictures = [write_kept_face(face.aligned) if config.keep else None for face in faces]
    return [
        NewPhoto(
            hash=face.hash,
            parameters=config.parameters,
            template=encode_template(template),
            source=face.source,
            light=_write_light(template),
            face=picture,
            code=code.astype("<u8").tobytes(),
        )
        for face, template, picture, code in zip(faces, templates, pictures, codes, strict=True)
    ]


def _write_light(template: Template) -> str | None:
    if not template.lights:
        return None
    azimuth, elevation = template.lights[0]
    return f'{{"azimuth": {round(azimuth, 1)}, "elevation": {round(elevation, 1)}}}'


def read_light(written: str | None, place: str) -> tuple[float, float] | None:
    """Read azimuth and elevation as they are kept; the place of the gallery is for the message."""
    if written is None:
        return None
    try:
        read = json.loads(written)
        light = float(read["azimuth"]), float(read["elevation"])
        legal = all(abs(angle) <= 180 for angle in light)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        legal = False
    if not legal:
        raise BadGallery(place, "a note on the light that cannot be read")
    return light


def read_lights(photos: Iterable[NewPhoto], place: str) -> tuple[tuple[float, float], ...]:
    """Read the lights of photos as a template has them: without those that are unknown."""
    return tuple(light for photo in photos if (light := read_light(photo.light, place)))


class PhotoFile(NamedTuple):
    """A file of a folder of photos."""

    person: str
    source: str
    """Its place in the folder."""
    path: str
    hash: str = ""
    """Of its contents; empty if it was not read yet."""
    problem: str = ""
    """Why it could not be read."""


class BatchResult(NamedTuple):
    """What was made of some files of a folder."""

    photos: dict[str, list[NewPhoto]]
    spans: dict[str, bytes]
    """The joint template of each person with several photos here."""
    refused: list[Refusal]
    """Bad photos, to be remembered."""
    unread: list[PhotoFile]
    """Files that cannot be read now, which says nothing about the photos."""


def process_files(files: Iterable[PhotoFile], config: EnrollmentConfig, folder: str) -> BatchResult:
    """Read some files and make their templates; a bad photo becomes a refusal."""
    faces: list[tuple[PhotoFile, ExtractedFace]] = []
    refused, unread = [], []
    for file in files:
        try:
            contents, _ = contents_of(file.path, file.source)
        except BadImage as mistake:
            unread.append(file._replace(problem=mistake.got))
            continue
        try:
            portrait = read_portrait(contents, cropped=config.cropped, where=file.source)
            faces.append((file, face_in(portrait, contents, file.source)))
        except MissingExtra:  # no fault of the photo
            raise
        except UserError as mistake:
            hashed = file._replace(hash=file.hash or hash_of(contents))
            refused.append(refusal_of(hashed, config, folder, str(mistake)))
    photos: dict[str, list[NewPhoto]] = {}
    for (file, _), photo in zip(faces, new_photos([face for _, face in faces], config), strict=True):
        photos.setdefault(file.person, []).append(replace(photo, folder=folder))
    # The gallery keeps photos in the order of their hashes.
    several = {person: sorted(own, key=lambda photo: photo.hash) for person, own in photos.items() if len(own) > 1}
    templates = [[photo.template for photo in own] for own in several.values()]
    spans = join_templates(templates, config, "what was just made")
    return BatchResult(photos, dict(zip(several, spans, strict=True)), refused, unread)


def refusal_of(file: PhotoFile, config: EnrollmentConfig, folder: str | None, reason: str) -> Refusal:
    """Make the refusal of a file."""
    return Refusal(file.hash, file.person, file.source, folder, config.detector, in_one_line(reason, 500))


def killed_workers(photo: str, deaths: int) -> BadImage:
    """Return the error for a photo over which workers died."""
    return BadImage(photo, "a photo that workers survive", f"{deaths} killed workers")


def check_parameters(view: View, config: EnrollmentConfig) -> None:
    """Refuse to change a gallery that was rebuilt with other parameters since it was opened."""
    if view.facts().get("parameters") != config.parameters:
        raise BadGallery(view.place, "templates that were made anew with other parameters meanwhile; open it again")


def update_joined(change: Change, names: Iterable[str], config: EnrollmentConfig) -> None:
    """Join the templates of each of these people who has several photos, as the gallery keeps them now."""
    for name in names:
        templates = change.templates_of(name)
        if len(templates) > 1:
            change.set_span(name, join_templates([templates], config, change.place)[0])


def join_templates(people: Sequence[Sequence[bytes]], config: EnrollmentConfig, place: str) -> list[bytes]:
    """Make one template for each of several people, of the templates of their photos in the order of the hashes."""
    decoded = [[decode_template(template, config.matcher, place) for template in own] for own in people]
    return [encode_template(span) for span in config.matcher.joined_people(decoded)]


def rebuild(change: Change, preset: str | None, progress: Progress) -> int:
    """Make every template anew from the faces that were kept; see :meth:`lightproof.Gallery.rebuild`."""
    facts = change.facts()
    if "settings" not in facts:
        raise BadGallery(change.place, UNFINISHED)
    preset = preset or facts.get("preset")
    if preset not in ENGINES:
        raise BadGallery(change.place, "one that does not say its preset (see: lightproof rebuild --preset)")
    config = EnrollmentConfig(preset_settings(preset), keep=True)
    faceless = sum(not photo.has_face for photo in change.photos())
    if faceless:
        lacking = f"one where the faces of {faceless} photos were not kept; enroll them again, in a new one"
        raise BadGallery(change.place, lacking)
    count = 0
    for person, photos, _ in progress(change.templates(faces=True), change.counts().people):
        where = f"a kept face of {person.name!r}"
        kept = [read_kept_face(photo.face or b"", where) for photo in photos]
        faces = [
            ExtractedFace(photo.hash, photo.source or "", face if face.shaped is not None else align_crop(face.image))
            for photo, face in zip(photos, kept, strict=True)
        ]
        count += change.replace_templates(person.name, new_photos(faces, config))
        update_joined(change, [person.name], config)
    write_preset(change, preset)
    change.set_fact("calibration", None)
    return count
