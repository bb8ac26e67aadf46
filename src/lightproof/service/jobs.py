"""Jobs that take time, as functions for worker processes, each of which has the gallery open.

Photos are decoded here and not where requests are read: a worker that dies over one is replaced.
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
from lightproof.gallery import ExtractedFace, Gallery
from lightproof.gallery.enrollment import face_in
from lightproof.gallery.store import check_name
from lightproof.imaging.detection import Portrait, read_portrait
from lightproof.imaging.detection.face_networks import SIDE, guess_faces
from lightproof.imaging.lighting import diagnose as diagnose_face
from lightproof.matching.explanation import Explanation
from lightproof.service import bodies, schemas, serializers
from lightproof.service.problems import ServiceProblem, code_of
from lightproof.service.serializers import from_attributes
from lightproof.service.settings import Settings

FOLLOW_SECONDS: Final = 0.5
"""How often an idle worker looks for changes: a person who is deleted leaves its memory, too."""

ENROLL_TRIES: Final = 3
"""How often photos are sorted again because somebody else enrolled one of them meanwhile."""

PHOTO_SOURCE: Final = "sent to the service"
"""Source of an enrolled photo; the name of its file stays with the sender."""


class WorkerState:
    """What a worker has: the settings, and the gallery once a job needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._gallery: Gallery | None = None
        self.measured: tuple[int, schemas.AccuracySchema] | None = None

    @property
    def gallery(self) -> Gallery:
        """The gallery, open."""
        with self._lock:
            if self._gallery is None:
                self._gallery = Gallery.open(self.settings.gallery, create=False, timeout=self.settings.wait)
            return self._gallery

    def follow(self) -> None:
        """Read what others have changed; open the gallery again if it was rebuilt with another preset."""
        if not self.gallery.is_current():
            with self._lock:
                self._gallery = None
        self.gallery.follow()


_state: WorkerState | None = None


def start_worker(settings: Settings) -> None:
    """Prepare a worker; called once in each process."""
    global _state
    # A terminal sends Ctrl-C to all processes; the service decides when its workers end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # There are as many workers as cores.
    threadpool_limits(1)
    _state = WorkerState(settings)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=_follow_gallery, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _follow_gallery() -> None:
    while True:
        time.sleep(FOLLOW_SECONDS)
        with suppress(LightproofError):  # the next job raises it
            worker_state().follow()


def worker_state() -> WorkerState:
    """Return the state of this worker."""
    assert _state is not None
    return _state


def warm_up() -> bool:
    """Do everything once that takes longer the first time; return whether the face detector is installed."""
    gallery = worker_state().gallery
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
class ProbeFace:
    """The face on a photo that was sent."""

    face: ExtractedFace
    portrait: Portrait

    @property
    def light(self) -> schemas.LightSchema:
        """The light on it, and its pose."""
        box = self.portrait.face
        distance = None if box is None else box.eye_distance
        diagnosis = diagnose_face(self.portrait.image, distance, self.portrait.pose)
        return from_attributes(schemas.LightSchema, diagnosis)


def _read_face(contents: bytes, where: str, cropped: bool, quick: bool = False) -> ProbeFace:
    limits = worker_state().settings.limits
    if len(contents) > limits.photo_bytes:
        detail = f"{where} must be of at most {limits.photo_bytes} bytes; got {len(contents)}."
        raise ServiceProblem("too_large", detail)
    portrait = read_portrait(contents, cropped=cropped, where=where, quick=quick, most_pixels=limits.photo_pixels)
    return ProbeFace(face_in(portrait, contents, where), portrait)


def _ids_of(names: list[str]) -> dict[str, int]:
    with worker_state().gallery.store.reading() as view:
        return view.ids_of(names)


def _name_of(number: int) -> str:
    person = worker_state().gallery.store.person(number)
    if not person.photos:
        raise ServiceProblem("bad_value", "The person must have a photo; got somebody without one.")
    return person.name


def identify(request: bodies.Identify) -> schemas.AnswerSchema:
    """Answer who is on a photo."""
    probe = _read_face(request.photo, "The photo", request.cropped, request.quick)
    answer = worker_state().gallery.identify_face(probe.face, request.top, far=request.far)
    ids = _ids_of([candidate.name for candidate in answer.candidates])
    return serializers.answer(answer, ids, probe.light, serializers.face(probe.portrait))


def verify(request: bodies.Verify) -> schemas.VerificationSchema:
    """Answer whether a photo shows the same person as another one, or as somebody enrolled."""
    if (request.other is None) == (request.person is None):
        got = "neither" if request.other is None else "both"
        raise ServiceProblem("bad_value", f"`other` or `person` must be given; got {got}.")
    gallery = worker_state().gallery
    probes = [_read_face(request.photo, "The photo", request.cropped)]
    if request.other is not None:
        probes.append(_read_face(request.other, "The other photo", request.cropped))
    other = probes[1].face if len(probes) > 1 else None
    person = None if request.person is None else _name_of(request.person)
    verification = gallery.verify_faces(probes[0].face, other, person=person, far=request.far)
    return serializers.verification(verification, [probe.light for probe in probes])


def explain(request: bodies.Explain) -> schemas.ExplanationSchema:
    """Answer which patches speak for somebody."""
    from lightproof.plots import png_of

    explanation, ids = _explanation(request)
    return serializers.explanation(explanation, ids, png_of(explanation.face))


def draw_explanation(request: bodies.Explain) -> tuple[int | None, int | None, bytes]:
    """Draw which patches speak for somebody; return the numbers of both people, too."""
    from lightproof.plots import explanation_figure

    explanation, ids = _explanation(request)
    picture = explanation_figure(explanation, name="the photo")
    return ids.get(str(explanation.person)), ids.get(str(explanation.against)), picture


def _explanation(request: bodies.Explain) -> tuple[Explanation, dict[str, int]]:
    """Explain a photo; return the numbers of both people, too."""
    gallery = worker_state().gallery
    if not gallery.follow():
        raise ServiceProblem("nobody_enrolled", "Somebody must be enrolled with a photo; got nobody.")
    probe = _read_face(request.photo, "The photo", request.cropped)
    names = (None if number is None else _name_of(number) for number in (request.person, request.against))
    explanation = gallery.explain_face(probe.face, *names)
    return explanation, _ids_of([str(name) for name in (explanation.person, explanation.against) if name is not None])


def diagnose(request: bodies.Diagnose) -> schemas.DiagnosisSchema:
    """Answer what light and pose do on a photo."""
    probe = _read_face(request.photo, "The photo", request.cropped, request.quick)
    return schemas.DiagnosisSchema(probe.light, serializers.face(probe.portrait))


# ------------------------------------------------------------------------------------------------------- enrolling


@dataclass(frozen=True)
class _SortedPhotos:
    """Photos that are new, those that were enrolled before, and those that cannot be enrolled, by place."""

    new: dict[int, ExtractedFace]
    known: list[int]
    rejected: list[schemas.RejectedSchema]


def enroll(who: str | int, photos: list[bytes], cropped: bool) -> schemas.EnrolledSchema:
    """Enroll those photos that can be used in one change, and give the reason why each other one cannot.

    ``who`` is the name of somebody new, or the number of somebody enrolled.
    """
    # Checked before the photos, which take time.
    with worker_state().gallery.store.reading() as view:
        if isinstance(who, int):
            view.person(who)
        elif view.ids_of([check_name(who)]):
            raise NameTaken(check_name(who))
    faces, rejected = _read_faces(photos, cropped)
    for _ in range(ENROLL_TRIES):
        batch = _sorted_photos(who, faces, rejected)
        if not batch.new and not batch.known:
            detail = f"At least one photo must be usable; got {len(photos)} that were rejected."
            raise ServiceProblem("nothing_taken", detail, batch.rejected)
        try:
            return _commit(who, batch)
        except DuplicatePhoto:
            continue  # somebody else enrolled one of them just now
    raise ServiceProblem("photo_of_another", "The photos must be new; got some that others are enrolling.")


def _read_faces(photos: list[bytes], cropped: bool) -> tuple[dict[int, ExtractedFace], list[schemas.RejectedSchema]]:
    faces: dict[int, ExtractedFace] = {}
    rejected = []
    for i, contents in enumerate(photos):
        try:
            faces[i] = _read_face(contents, f"Photo {i + 1}", cropped).face._replace(source=PHOTO_SOURCE)
        except (ServiceProblem, UserError) as problem:
            code = problem.code if isinstance(problem, ServiceProblem) else code_of(problem)
            rejected.append(schemas.RejectedSchema(i, code, str(problem)))
    return faces, rejected


def _sorted_photos(
    who: str | int, faces: dict[int, ExtractedFace], unreadable: list[schemas.RejectedSchema]
) -> _SortedPhotos:
    """Tell new photos from those that are enrolled already, as this person or as another."""
    with worker_state().gallery.store.reading() as view:
        name = view.person(who).name if isinstance(who, int) else None
        owners = view.owners_of([face.hash for face in faces.values()])
    new, known, rejected, hashes = {}, [], list(unreadable), set()
    for i, face in faces.items():
        owner = owners.get(face.hash)
        if owner is not None and owner != name:
            detail = f"Photo {i + 1} must be new; got one that is enrolled as {owner!r}."
            rejected.append(schemas.RejectedSchema(i, "photo_of_another", detail))
        elif owner is not None or face.hash in hashes:
            known.append(i)
        else:
            new[i] = face
            hashes.add(face.hash)
    return _SortedPhotos(new, known, sorted(rejected, key=lambda photo: photo.index))


def _commit(who: str | int, batch: _SortedPhotos) -> schemas.EnrolledSchema:
    gallery, faces = worker_state().gallery, list(batch.new.values())
    if isinstance(who, str):
        who = gallery.add_person(who, faces).id
    elif faces:
        gallery.enroll_faces(who, faces)
    with gallery.store.reading() as view:
        person = view.person(who)
        photos = view.photos(person.id)
    hashes = {face.hash for face in faces}
    return schemas.EnrolledSchema(
        person=serializers.person_detail(person, photos, gallery.place),
        added=serializers.photos([photo for photo in photos if photo.hash in hashes], gallery.place),
        known=batch.known,
        rejected=batch.rejected,
    )


# ------------------------------------------------------------------------------------------------ the whole gallery


def calibrate(far: float) -> schemas.CalibrationSchema:
    """Measure how well strangers score in the gallery, and set the share of them that may be accepted."""
    return serializers.calibration(worker_state().gallery.calibrate(far))


def accuracy() -> schemas.AccuracySchema:
    """Measure how well the gallery recognizes its own photos; once for each revision, because it takes long."""
    from lightproof.evaluation import evaluate_within

    state = worker_state()
    revision = state.gallery.store.revision()
    if state.measured is None or state.measured[0] != revision:
        result = evaluate_within(state.gallery)
        state.measured = revision, from_attributes(schemas.AccuracySchema, result)
    return state.measured[1]


def export(file: str) -> int:
    """Copy the gallery into a file that the service has named."""
    return worker_state().gallery.export(Path(file))


def import_(file: str) -> schemas.ImportedSchema:
    """Add everybody of a gallery in a file that the service has named."""
    gallery = worker_state().gallery
    try:
        Gallery.open(Path(file), create=False).close()  # errors from here on may be of either gallery
        return schemas.ImportedSchema(gallery.import_(Path(file)))
    except BadGallery as problem:
        detail = str(problem).replace(file, "The file").replace(gallery.place, "this gallery")
        raise ServiceProblem("bad_gallery", detail) from None
