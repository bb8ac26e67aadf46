"""The work that takes time, as functions that run in processes of their own, each with the gallery open.

What a photo does to a decoder happens here, not where requests are read: a process that dies is replaced.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from lightproof.errors import BadGallery, DuplicatePhoto, LightproofError, MissingExtra, NameTaken, UserError
from lightproof.gallery import Face, Gallery
from lightproof.gallery.enrollment import face_of
from lightproof.gallery.store import check_name
from lightproof.imaging.detection import Portrait, read_portrait
from lightproof.imaging.detection.face_networks import SIDE, guess_faces
from lightproof.imaging.lighting import diagnose as diagnose_face
from lightproof.matching.explanation import Explanation
from lightproof.service import request_models, schemas, serializers
from lightproof.service.problems import ServiceProblem, code_of
from lightproof.service.settings import Settings

FOLLOWING: Final = 0.5
"""Seconds after which a process that nobody asks looks for changes: whoever was deleted leaves its memory, too."""


class _Own:
    """What a process has: the settings, and the gallery once somebody asks."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._alone = threading.Lock()
        self._gallery: Gallery | None = None
        self.measured: tuple[int, schemas.Accuracy] | None = None

    @property
    def gallery(self) -> Gallery:
        """The gallery, open."""
        with self._alone:
            if self._gallery is None:
                self._gallery = Gallery.open(self.settings.gallery, create=False, timeout=self.settings.wait)
            return self._gallery

    def follow(self) -> None:
        """Take on what others have changed; also that all templates were made anew, with another preset."""
        if not self.gallery.is_current():
            with self._alone:
                self._gallery = None
        self.gallery.follow()


_own: _Own | None = None


def begin(settings: Settings) -> None:
    """Make ready to work; called once in each process."""
    global _own
    # A terminal sends Ctrl-C to everybody, and so do others; who serves decides when those who work for it end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # There are as many processes as cores to share.
    threadpool_limits(1)
    _own = _Own(settings)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=_follow, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _follow() -> None:
    while True:
        time.sleep(FOLLOWING)
        with suppress(LightproofError):  # who asks next is told
            _here().follow()


def _here() -> _Own:
    assert _own is not None
    return _own


def warm_up() -> bool:
    """Do everything once that takes longer the first time; tell whether what finds faces is installed."""
    gallery = _here().gallery
    gallery.follow()
    grey = np.random.default_rng(0).integers(0, 255, (192, 168)).astype(np.uint8)
    diagnose_face(grey)
    gallery.matcher.compare([grey], gallery.matcher.cohort)
    try:
        guess_faces(np.zeros((SIDE, SIDE)))
    except MissingExtra:
        return False
    return True


# ------------------------------------------------------------------------------------------------------- one photo


@dataclass(frozen=True)
class Seen:
    """A face that was found in what was sent."""

    face: Face
    portrait: Portrait

    @property
    def light(self) -> schemas.Light:
        """What the light does to it."""
        found = self.portrait.face
        return serializers.light_told(diagnose_face(self.portrait.image, None if found is None else found.eye_distance))


def _look(contents: bytes, where: str, cropped: bool, quick: bool = False) -> Seen:
    limits = _here().settings.limits
    if len(contents) > limits.photo_bytes:
        raise ServiceProblem(
            "too_large", f"{where} must be of at most {limits.photo_bytes} bytes; got {len(contents)}."
        )
    portrait = read_portrait(contents, cropped=cropped, where=where, quick=quick, most_pixels=limits.photo_pixels)
    return Seen(face_of(portrait, contents, where), portrait)


def _ids(names: list[str]) -> dict[str, int]:
    with _here().gallery.store.reading() as view:
        return view.ids_of(names)


def identify(asked: request_models.Identify) -> schemas.Answer:
    """Tell who is on a photo."""
    seen = _look(asked.photo, "The photo", asked.cropped, asked.quick)
    answer = _here().gallery.identify_face(seen.face, asked.top, far=asked.far)
    ids = _ids([one.name for one in answer.candidates])
    return serializers.answer_told(answer, ids, seen.light, serializers.face_told(seen.portrait))


def verify(asked: request_models.Verify) -> schemas.Verification:
    """Tell whether a photo shows the same person as another one, or as somebody enrolled."""
    if (asked.other is None) == (asked.person is None):
        got = "neither" if asked.other is None else "both"
        raise ServiceProblem("bad_value", f"`other` or `person` must be given; got {got}.")
    gallery = _here().gallery
    seen = [_look(asked.photo, "The photo", asked.cropped)]
    if asked.other is not None:
        seen.append(_look(asked.other, "The other photo", asked.cropped))
        found = gallery.verify_faces(seen[0].face, seen[1].face, far=asked.far)
    else:
        found = gallery.verify_faces(seen[0].face, person=_named(asked.person), far=asked.far)
    return serializers.verification_told(found, [one.light for one in seen])


def explain(asked: request_models.Explain) -> schemas.Explanation:
    """Tell which patches speak for somebody."""
    from lightproof.plots import png_of

    found = _explained(asked)
    return serializers.explanation_told(found, _ids_in(found), png_of(found.face))


def draw_explanation(asked: request_models.Explain) -> tuple[int | None, int | None, bytes]:
    """Draw which patches speak for somebody; return the numbers of both people, too."""
    from lightproof.plots import explanation_figure

    found = _explained(asked)
    ids = _ids_in(found)
    return ids.get(str(found.person)), ids.get(str(found.against)), explanation_figure(found, name="the photo")


def _ids_in(found: Explanation) -> dict[str, int]:
    return _ids([str(name) for name in (found.person, found.against) if name is not None])


def _explained(asked: request_models.Explain) -> Explanation:
    gallery = _here().gallery
    if not gallery.follow():
        raise ServiceProblem("nobody_enrolled", "Somebody must be enrolled with a photo; got nobody.")
    seen = _look(asked.photo, "The photo", asked.cropped)
    person, against = (None if who is None else _named(who) for who in (asked.person, asked.against))
    return gallery.explain_face(seen.face, person, against)


def _named(who: int | None) -> str:
    assert who is not None
    person = _here().gallery.store.person(who)
    if not person.photos:
        raise ServiceProblem("bad_value", "The person must have a photo; got somebody without one.")
    return person.name


def diagnose(asked: request_models.Diagnose) -> schemas.Diagnosis:
    """Tell what the light does on a photo."""
    seen = _look(asked.photo, "The photo", asked.cropped, asked.quick)
    return schemas.Diagnosis(seen.light, serializers.face_told(seen.portrait))


# ------------------------------------------------------------------------------------------------------- enrolling


@dataclass(frozen=True)
class _Sifted:
    faces: dict[int, Face]
    known: list[int]
    rejected: list[schemas.Rejected]


def enroll(who: str | int, photos: list[bytes], cropped: bool) -> schemas.Enrolled:
    """Enroll photos: those that are sound in one change, the others with the reason why not.

    Parameters
    ----------
    who : str or int
        The name of somebody new, or the number of somebody who is there.
    photos : list of bytes
    cropped : bool
    """
    # Before photos are looked at for nothing.
    with _here().gallery.store.reading() as view:
        if isinstance(who, int):
            view.person(who)
        elif view.ids_of([check_name(who)]):
            raise NameTaken(check_name(who))
    faces, rejected = _faces(photos, cropped)
    for _ in range(3):
        sifted = _sift(who, faces, rejected)
        if not sifted.faces and not sifted.known:
            detail = f"At least one photo must be taken; got {len(photos)} that were not."
            raise ServiceProblem("nothing_taken", detail, sifted.rejected)
        try:
            return _enrolled(who, sifted)
        except DuplicatePhoto:
            continue  # somebody else enrolled one of them just now
    raise ServiceProblem("photo_of_another", "The photos must be new; got some that others are enrolling.")


def _faces(photos: list[bytes], cropped: bool) -> tuple[dict[int, Face], list[schemas.Rejected]]:
    faces: dict[int, Face] = {}
    rejected = []
    for i, contents in enumerate(photos):
        try:
            faces[i] = _look(contents, f"Photo {i + 1}", cropped).face._replace(source=SENT)
        except ServiceProblem as problem:
            rejected.append(schemas.Rejected(i, problem.code, problem.detail))
        except UserError as problem:
            rejected.append(schemas.Rejected(i, code_of(problem), str(problem)))
    return faces, rejected


SENT: Final = "sent to the service"
"""Where such a photo came from; what its file was called stays with who sent it."""


def _sift(who: str | int, faces: dict[int, Face], rejected: list[schemas.Rejected]) -> _Sifted:
    """Tell new photos from those that are enrolled already, as this person or as another."""
    with _here().gallery.store.reading() as view:
        name = view.person(who).name if isinstance(who, int) else None
        owners = view.known_hashes([face.hash for face in faces.values()])
    new, known, refused, seen = {}, [], list(rejected), set()
    for i, face in faces.items():
        owner = owners.get(face.hash)
        if owner is not None and owner != name:
            detail = f"Photo {i + 1} must be new; got one that is enrolled as {owner!r}."
            refused.append(schemas.Rejected(i, "photo_of_another", detail))
        elif owner is not None or face.hash in seen:
            known.append(i)
        else:
            new[i] = face
            seen.add(face.hash)
    return _Sifted(new, known, sorted(refused, key=lambda one: one.index))


def _enrolled(who: str | int, sifted: _Sifted) -> schemas.Enrolled:
    gallery = _here().gallery
    if isinstance(who, str):
        who = gallery.add_person(who, list(sifted.faces.values())).id
    elif sifted.faces:
        gallery.enroll_faces(who, list(sifted.faces.values()))
    with gallery.store.reading() as view:
        person = view.person(who)
        photos = view.photos(person.id)
    new = {face.hash for face in sifted.faces.values()}
    added = [photo for photo in photos if photo.hash in new]
    return schemas.Enrolled(
        person=serializers.detail_told(person, photos, gallery.place),
        added=serializers.photos_told(added, gallery.place),
        known=sifted.known,
        rejected=sifted.rejected,
    )


# ------------------------------------------------------------------------------------------------------ long work


def calibrate(far: float) -> schemas.Calibration:
    """Ask the gallery how well strangers do."""
    return serializers.calibration_told(_here().gallery.calibrate(far))


def accuracy() -> schemas.Accuracy:
    """Ask the gallery how well it recognizes its own photos; once for each state of it, for it takes long."""
    from lightproof.evaluation import evaluate_within

    own = _here()
    revision = own.gallery.store.revision()
    if own.measured is None or own.measured[0] != revision:
        own.measured = revision, serializers.accuracy_told(evaluate_within(own.gallery))
    return own.measured[1]


def export(file: str) -> int:
    """Copy the gallery into a file, whose name the service has chosen."""
    return _here().gallery.export(Path(file))


def import_(file: str) -> schemas.Imported:
    """Add everybody of a gallery in a file, whose name the service has chosen."""
    try:
        with Gallery.open(Path(file), create=False):
            pass  # what is wrong from here on is wrong with either
        return schemas.Imported(_here().gallery.import_(Path(file)))
    except BadGallery as problem:
        detail = str(problem).replace(file, "The file").replace(_here().gallery.place, "this gallery")
        raise ServiceProblem("bad_gallery", detail) from None
