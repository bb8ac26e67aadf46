"""The half of :class:`~lightproof.gallery.Gallery` that changes nothing: it answers questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from lightproof.core.moved import Renamed
from lightproof.errors import BadParameter, UnknownPerson
from lightproof.gallery import codec, decision
from lightproof.gallery.advice import Advice, advise
from lightproof.gallery.decision import FAR, Answer, Calibration, Verification
from lightproof.gallery.enrollment import EnrollmentConfig, ExtractedFace, Photo, extract_face, name_in_list, read_light
from lightproof.gallery.shortlist import SHORTLIST_SIZES, PeopleIndex
from lightproof.gallery.store import Person, Store, check_name
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import check_far
from lightproof.matching.explanation import Explanation, explain
from lightproof.matching.matcher import PROBES_PER_BLOCK
from lightproof.matching.scores import ProbeSet
from lightproof.matching.templates import TemplateSet
from lightproof.method.presets import EngineSettings
from lightproof.types import is_whole


class GalleryReader:
    """People who are enrolled, and answers about photos.

    Attributes
    ----------
    store : Store
    config : EnrollmentConfig
        How photos are enrolled.
    matcher : Matcher
        What makes templates and compares, under the settings of this gallery.
    """

    def __init__(self, store: Store, settings: EngineSettings, keep: bool) -> None:
        self.store = store
        self.config = EnrollmentConfig(settings, keep=keep)
        self.matcher = self.config.matcher
        self._people_index = PeopleIndex(store, self.config)
        self._calibration: tuple[int, Calibration] | None = None

    def identify(self, photo: Photo, top: int = 5, *, cropped: bool = False, far: float | None = None) -> Answer:
        """Tell who is on a photo, or that it is a stranger.

        Parameters
        ----------
        photo : str, Path, bytes or ndarray of shape (h, w)
            A photograph as a file, a face as an array.
        top : int
            Maximum number of candidates.
        cropped : bool
            Whether the file is a face already.
        far : float, optional
            Share of strangers that may be accepted, the false positive identification rate (FPIR) of ISO/IEC 19795-1;
            that of :meth:`calibrate` by default, or 0.001. The share of enrolled people who are named at this rate is
            the true positive identification rate (TPIR), "found" in reports.
        """
        return self.identify_face(extract_face(photo, cropped), top, far=far)

    def identify_face(self, face: ExtractedFace, top: int = 5, *, far: float | None = None) -> Answer:
        """Tell who a face is; see :meth:`identify`."""
        if not is_whole(top, 1):
            raise BadParameter("identify", "top", "a whole number of at least 1", top)
        calibration = self.calibration()
        far = calibration.far if far is None else check_far("identify", far)
        probe = self.matcher.probes([face.aligned])
        shortlists = self._people_index.shortlists(probe)
        candidates = decision.best_candidates(probe, shortlists, self.matcher, calibration, top)
        return decision.answer(candidates, top, far, calibration, face.aligned.has_mesh)

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
        first = extract_face(photo, cropped, name_in_list(photo, 0))
        second = None if other is None else extract_face(other, cropped, name_in_list(other, 1))
        return self.verify_faces(first, second, person=person, far=far)

    def verify_faces(
        self,
        face: ExtractedFace,
        other: ExtractedFace | None = None,
        *,
        person: str | None = None,
        far: float | None = None,
    ) -> Verification:
        """Tell whether a face is that of another photo, or of somebody enrolled; see :meth:`verify`."""
        calibration = self.calibration()
        far = calibration.far if far is None else check_far("verify", far)
        if other is not None:
            match = decision.match_with_photo(face, other, self.matcher)
            other_has_mesh = other.aligned.has_mesh
        elif person is not None:
            # Nobody else counts but the reference people.
            people = self._people_index.shortlist(including=[self._enrolled(person)])
            probe = self.matcher.probes([face.aligned])
            match = decision.match_with_person(probe, person, people, self.matcher, calibration)
            other_has_mesh = people.templates[decision.enrolled_name(people, person)].has_mesh
        else:
            raise BadParameter("verify", "other", "given unless `person` is", other)
        return decision.verdict(match, far, face.aligned.has_mesh and other_has_mesh)

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

    def explain_face(self, face: ExtractedFace, person: str | None = None, against: str | None = None) -> Explanation:
        """Show which patches of a face speak for somebody; see :meth:`explain`."""
        if person is None:
            probe = self.matcher.probes([face.aligned])
            shortlists = self._people_index.shortlists(probe)
            best = decision.best_candidates(probe, shortlists, self.matcher, self.calibration(), 1)
            if not best:
                raise UnknownPerson(None, [], what="The person")
            person = best[0].name
        names = [self._enrolled(name) for name in (person, against) if name is not None]
        people = self._people_index.shortlist(including=names)
        other = None if against is None else decision.enrolled_name(people, against)
        return explain(self.matcher, people, face.aligned, decision.enrolled_name(people, person), other)

    def people(self) -> list[Person]:
        """Return everybody enrolled, by name."""
        return self.store.people()

    def everybody(self) -> TemplateSet:
        """Return the templates of everybody who is enrolled now; of many people they take much memory."""
        return self._people_index.everybody()

    def shortlist(self, *probes: ProbeSet, including: Sequence[str] = (), without: str | None = None) -> TemplateSet:
        """Return the people that probes are to be compared with; see :meth:`PeopleIndex.shortlist`."""
        return self._people_index.shortlist(*probes, including=including, without=without)

    def shortlist_for_all(self, faces: Sequence[AlignedFace], including: Sequence[str] = ()) -> TemplateSet:
        """Return one shortlist for many faces, and these people.

        Of a large gallery it has fewer people for each face than an answer may compare: for thousands of faces all of
        them would not fit into memory.
        """
        if not self._people_index.is_large():
            return self.everybody()
        people = self.reference_people()
        for start in range(0, len(faces), PROBES_PER_BLOCK):
            probes = self.matcher.probes(faces[start : start + PROBES_PER_BLOCK])
            wanted = including if start == 0 else ()
            nearest = self._people_index.shortlist(probes, including=wanted, limit=SHORTLIST_SIZES[-1])
            people = people.merged(nearest)
        return people

    def reference_people(self) -> TemplateSet:
        """Return the people that scores are normalized by; see :meth:`PeopleIndex.reference_people`."""
        return self._people_index.reference_people()

    def follow(self) -> int:
        """Read what has changed; return how many people can be named."""
        return self._people_index.follow()

    def _enrolled(self, name: str) -> str:
        """Return a name as it is enrolled; refuse one that nobody has."""
        name = check_name(name)
        with self.store.reading() as view:
            if not view.ids_of([name]):
                view.person(name)
        return name

    def calibration(self) -> Calibration:
        """Return the calibration of this gallery, or default values."""
        revision = self.store.revision()
        if self._calibration is None or self._calibration[0] != revision:
            written = self.store.facts().get("calibration")
            self._calibration = revision, Calibration.read(written, FAR, self.place)
        return self._calibration[1]

    def advice(self, name: str) -> Advice:
        """Say which lights the photos of somebody lack, and which one to add."""
        return advise(name, [light or (None, None) for light in self.lights(name)])

    def lights(self, name: str) -> list[tuple[float, float] | None]:
        """Azimuth and elevation of the light on each photo of somebody; None where the photo does not show it."""
        return [read_light(photo.light, self.place) for photo in self.store.photos(name)]

    def is_current(self) -> bool:
        """Whether the templates are still those of when it was opened; after a rebuild it must be opened again."""
        return self.store.facts().get("parameters") == self.config.parameters

    def leftover(self) -> str | None:
        """Say in one sentence what may be left of forgotten people, and until when; None if nothing is.

        In a file, what is deleted is overwritten at once unless somebody else is reading the gallery. On PostgreSQL the
        room of deleted rows is freed and not overwritten.
        """
        return self.store.leftover()

    def close(self) -> None:
        """Let go of the file, or of the server."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where the gallery is, without a password."""
        return self.store.place

    @property
    def preset(self) -> str | None:
        """The preset of the templates, if they have one."""
        return codec.preset_of(self.config.settings)

    @property
    def keeps_photos(self) -> bool:
        """Whether the faces of new photos are kept."""
        return self.config.keep

    near = Renamed("shortlist")
    near_all = Renamed("shortlist_for_all")
    sample = Renamed("reference_people")
    way = Renamed("config")
