"""A gallery that is asked: the half of :class:`~lightproof.gallery.Gallery` that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from lightproof.errors import BadParameter, UnknownPerson
from lightproof.gallery import decision, lifecycle
from lightproof.gallery.advice import Advice, advise
from lightproof.gallery.calibrate import FAR, Calibration
from lightproof.gallery.enrollment import (
    EnrollmentConfig,
    Face,
    Photo,
    called,
    extract_face,
    light_of,
)
from lightproof.gallery.results import Answer, Verification
from lightproof.gallery.shortlist import STEPS, PeopleIndex
from lightproof.gallery.store import Person, Store, check_name
from lightproof.matching.calibration import check_far
from lightproof.matching.explanation import Explanation, explain
from lightproof.matching.matcher import PROBES_PER_BLOCK, Matcher, ProbeSet
from lightproof.matching.templates import TemplateSet
from lightproof.method.presets import GallerySettings
from lightproof.types import Array, is_whole


class GalleryReader:
    """People who are enrolled, and answers about photos.

    Parameters
    ----------
    store : Store
        What is kept.
    settings : GallerySettings
        What the templates are made with.
    keep : bool
        Whether faces are kept.
    """

    def __init__(self, store: Store, settings: GallerySettings, keep: bool) -> None:
        self._store = store
        self._way = EnrollmentConfig(settings, keep=keep)
        self._register = PeopleIndex(store, self._way)
        self._known: tuple[int, Calibration] | None = None

    def identify(self, photo: Photo, top: int = 5, *, cropped: bool = False, far: float | None = None) -> Answer:
        """Tell who is on a photo, or that it is a stranger.

        Parameters
        ----------
        photo : str, Path, bytes or ndarray of shape (h, w)
            A photograph as a file, a face as an array.
        top : int
            How many candidates to name at most.
        cropped : bool
            Whether the file is a face already.
        far : float, optional
            Share of strangers that may be accepted; that of :meth:`calibrate` by default, or 0.001.
        """
        return self.identify_face(extract_face(photo, cropped), top, far=far)

    def identify_face(self, face: Face, top: int = 5, *, far: float | None = None) -> Answer:
        """Tell who a face is; see :meth:`identify`."""
        if not is_whole(top, 1):
            raise BadParameter("identify", "top", "a whole number of at least 1", top)
        known = self.calibration()
        asked = decision.far_asked("identify", far, known)
        query = self.matcher.probes([face.image])
        found = decision.best_candidates(query, self._register.shortlists(query), self.matcher, known, top)
        return decision.answer(found, top, asked, known)

    def verify(
        self, photo: Photo, other: Photo | None = None, *, person: str | None = None, cropped: bool = False,
        far: float | None = None,
    ) -> Verification:  # fmt: skip
        """Tell whether a photo shows the same person as another photo, or as somebody enrolled.

        Two photos are compared alone, whoever is enrolled.

        Parameters
        ----------
        photo, other : str, Path, bytes or ndarray of shape (h, w)
        person : str, optional
            Somebody enrolled, in place of ``other``.
        cropped : bool
            Whether files are faces already.
        far : float, optional
            Share of other people that may be accepted.
        """
        if (other is None) == (person is None):
            raise BadParameter("verify", "other", "given unless `person` is", other)
        if far is not None:
            check_far("verify", far)
        first = extract_face(photo, cropped, called(photo, 0))
        second = None if other is None else extract_face(other, cropped, called(other, 1))
        return self.verify_faces(first, second, person=person, far=far)

    def verify_faces(
        self, face: Face, other: Face | None = None, *, person: str | None = None, far: float | None = None
    ) -> Verification:
        """Tell whether a face is that of another photo, or of somebody enrolled; see :meth:`verify`."""
        known = self.calibration()
        asked = decision.far_asked("verify", far, known)
        if other is not None:
            found = decision.with_photo(face, other, self.matcher)
        elif person is not None:
            # Beside those whom everybody is measured against nobody else counts.
            people = self._register.near(including=[self._called(person)])
            found = decision.with_person(self.matcher.probes([face.image]), person, people, self.matcher, known)
        else:
            raise BadParameter("verify", "other", "given unless `person` is", other)
        return decision.verdict(found, asked)

    def explain(
        self, photo: Photo, person: str | None = None, against: str | None = None, *, cropped: bool = False
    ) -> Explanation:
        """Show which patches of a photo speak for somebody, and against.

        Parameters
        ----------
        photo : str, Path, bytes or ndarray of shape (h, w)
        person : str, optional
            The best match by default.
        against : str, optional
            "Why this person and not that one": the difference of the two maps.
        cropped : bool
            Whether the file is a face already.
        """
        if not self.follow():
            raise UnknownPerson(person, [], what="The person")
        return self.explain_face(extract_face(photo, cropped), person, against)

    def explain_face(self, face: Face, person: str | None = None, against: str | None = None) -> Explanation:
        """Show which patches of a face speak for somebody; see :meth:`explain`."""
        if person is None:
            person = self._best_match(face)
        named = [self._called(who) for who in (person, against) if who is not None]
        people = self._register.near(including=named)
        other = None if against is None else decision.among(people, against)
        return explain(self.matcher, people, face.image, decision.among(people, person), other)

    def _best_match(self, face: Face) -> str:
        """Name whom :meth:`identify` finds first, stranger or not."""
        query = self.matcher.probes([face.image])
        steps = self._register.shortlists(query)
        found = decision.best_candidates(query, steps, self.matcher, self.calibration(), 1)
        if not found:
            raise UnknownPerson(None, [], what="The person")
        return found[0].name

    def people(self) -> list[Person]:
        """Return everybody enrolled, by name."""
        return self._store.people()

    def everybody(self) -> TemplateSet:
        """Return the templates of everybody who is enrolled now; of many people they take much memory."""
        return self._register.everybody()

    def near(self, *asked: ProbeSet, including: Sequence[str] = (), without: str | None = None) -> TemplateSet:
        """Return those whom photos are to be compared with; see :meth:`PeopleIndex.near`."""
        return self._register.near(*asked, including=including, without=without)

    def near_all(self, images: Array, including: Sequence[str] = ()) -> TemplateSet:
        """Return everybody worth comparing with any of many faces, (n, h, w), and these people.

        Of a large gallery those are fewer than an answer looks at where nobody matches: of thousands of faces all of
        them would not fit into memory.
        """
        if not self._register.is_large():
            return self.everybody()
        people = self.sample()
        for start in range(0, len(images), PROBES_PER_BLOCK):
            asked = self.matcher.probes(images[start : start + PROBES_PER_BLOCK])
            some = self._register.near(asked, including=including if start == 0 else (), most=STEPS[-1])
            people = people.merged(some)
        return people

    def sample(self) -> TemplateSet:
        """Return those whom everybody is measured against; see :meth:`PeopleIndex.sample`."""
        return self._register.sample()

    def follow(self) -> int:
        """Take on what has changed; return how many people there are to be named."""
        return self._register.follow()

    def _called(self, name: str) -> str:
        """Return a name as it is enrolled; refuse one that nobody has."""
        wanted = check_name(name)
        with self._store.reading() as view:
            if not view.ids_of([wanted]):
                view.person(wanted)
        return wanted

    def calibration(self) -> Calibration:
        """Return what calibration found; what is usual where there was none."""
        revision = self._store.revision()
        if self._known is None or self._known[0] != revision:
            self._known = revision, Calibration.read(self._store.facts().get("calibration"), FAR, self.place)
        return self._known[1]

    def advice(self, name: str) -> Advice:
        """Say which lights the photos of somebody lack, and which one to add."""
        return advise(name, [light or (None, None) for light in self.lights(name)])

    def lights(self, name: str) -> list[tuple[float, float] | None]:
        """Azimuth and elevation of the light on each photo of somebody; None where it cannot be told."""
        return [light_of(photo.light, self.place) for photo in self._store.photos(name)]

    def is_current(self) -> bool:
        """Whether the templates are still those of when it was opened; after a rebuild it must be opened again."""
        return self._store.facts().get("parameters") == self._way.parameters

    def leftover(self) -> str | None:
        """Say in one sentence what may be left of what was forgotten, and until when; None if nothing is.

        In a file, what is deleted is overwritten at once unless somebody else is reading the gallery. On PostgreSQL the
        room of deleted rows is freed and not overwritten.
        """
        return self._store.leftover()

    def close(self) -> None:
        """Let go of the file, or of the server."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """What is kept."""
        return self._store

    @property
    def place(self) -> str:
        """Where the gallery is, without a password."""
        return self._store.place

    @property
    def config(self) -> EnrollmentConfig:
        """How photos are taken here."""
        return self._way

    @property
    def matcher(self) -> Matcher:
        """What makes templates and compares, under the settings of this gallery."""
        return self._way.matcher

    @property
    def preset(self) -> str | None:
        """The preset of the templates, if they have one."""
        return lifecycle.preset_of(self._way.settings)

    @property
    def keeps_photos(self) -> bool:
        """Whether the faces of new photos are kept."""
        return self._way.keep
