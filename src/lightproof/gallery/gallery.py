"""Gallery: people are enrolled, photos identified, strangers told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import Any, Self, overload

import numpy as np

from lightproof.advice import Advice, advise
from lightproof.errors import BadLabels, BadParameter, UnknownPerson
from lightproof.explain import Explanation, explain
from lightproof.gallery import calibration, exchange, folders, founding
from lightproof.gallery.answers import Answer, Candidate, Mark, Verification, mark
from lightproof.gallery.calibration import FAR, Calibration
from lightproof.gallery.register import Register
from lightproof.gallery.sifting import FolderReport
from lightproof.gallery.taking import Face, Photo, Way, check_parameters, join_again, light_of, photos_of, take, way_of
from lightproof.matcher import Matcher, preset_settings
from lightproof.people import People
from lightproof.store import Person, Store, check_name
from lightproof.strangers import check_far, leads, score_of
from lightproof.types import is_whole

Progress = Callable[[Iterable[Any], int], Iterable[Any]]
"""Wraps a stream of finished pieces, given how many there will be."""


def _silent(pieces: Iterable[Any], total: int) -> Iterable[Any]:
    return pieces


class Gallery:
    """People, one or more photos of each, and answers about photos.

    Made by :meth:`open`. A gallery may be open in several threads, processes and machines at once; each sees what the
    others have enrolled. Every change is there whole or not at all.

    Parameters
    ----------
    store : Store
        What is kept.
    settings : dict
        What the templates are made with.
    keep : bool
        Whether faces are kept.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> from tempfile import TemporaryDirectory
    >>> faces = make_relit_faces(n_subjects=4, lights=[(0, 0), (45, 10)])
    >>> with TemporaryDirectory() as folder, Gallery.open(f"{folder}/office.gallery", preset="fast") as gallery:
    ...     for i, name in enumerate(["Ada", "Ben", "Cleo"]):
    ...         _ = gallery.enroll(name, [faces.images[2 * i]])
    ...     gallery.identify(faces.images[3]).name, gallery.identify(faces.images[7]).name
    ('Ben', None)
    """

    def __init__(self, store: Store, settings: dict[str, Any], keep: bool) -> None:
        self._store = store
        self._way = way_of(settings, keep=keep)
        self._register = Register(store, self._way)

    @classmethod
    def open(
        cls,
        place: str | PathLike[str],
        *,
        preset: str | None = None,
        keep_photos: bool | None = None,
        create: bool = True,
        timeout: float = 30.0,
    ) -> Self:
        """Open a gallery, or make a new one.

        Parameters
        ----------
        place : str or Path
            A file (SQLite), or ``postgresql://user@host/database`` for several machines, with the extra ``postgres``.
        preset : {"robust", "fast"}, optional
            What the templates are made with: ``"robust"`` where the gallery is new. That of a gallery that is there
            cannot be changed so; see :meth:`rebuild`.
        keep_photos : bool, optional
            Whether the face cut out of each enrolled photo is kept, so that templates can be made anew and calibration
            can put them under other lights. No by default; said once, when the gallery is made.
        create : bool
            Whether a gallery is made where there is none.
        timeout : float
            Seconds to wait for other writers.
        """
        if preset is not None:
            preset_settings(preset)
        store = Store.open(place, create=create, timeout=timeout)
        try:
            if "settings" not in store.facts():
                founding.found(store, preset or "robust", bool(keep_photos))
            return cls(store, *founding.read_facts(store, preset, keep_photos))
        except BaseException:
            store.close()
            raise

    @classmethod
    def rebuild(
        cls,
        place: str | PathLike[str],
        preset: str | None = None,
        *,
        progress: Progress = _silent,
        timeout: float = 30.0,
    ) -> int:
        """Make every template anew from the faces that were kept, with another preset or by a newer version.

        Parameters
        ----------
        place : str or Path
        preset : {"robust", "fast"}, optional
            The gallery's own by default.

        Returns
        -------
        int
            How many templates were made.
        """
        if preset is not None:
            preset_settings(preset)
        with Store.open(place, create=False, timeout=timeout) as store, store.writing() as change:
            return founding.rebuild(change, preset, store.place, progress)

    def enroll(self, name: str, photos: Sequence[Photo] | Photo, *, cropped: bool = False) -> int:
        """Enroll somebody, or add photos of somebody who is there: all of them, or none if one is refused.

        Parameters
        ----------
        name : str
        photos : list of str, Path, bytes or ndarray of shape (h, w)
            Photographs as files, faces as arrays. A photo that is there already is left out.
        cropped : bool
            Whether files are faces already.

        Returns
        -------
        int
            How many photos were new.
        """
        name = check_name(name)
        listed = [photos] if isinstance(photos, str | bytes | PathLike | np.ndarray) else list(photos)
        if isinstance(photos, np.ndarray) and photos.ndim == 3:
            listed = list(photos)
        return self.enroll_faces(name, [take(photo, cropped, _called(photo, i)) for i, photo in enumerate(listed)])

    def enroll_faces(self, name: str, faces: Sequence[Face]) -> int:
        """Enroll faces that are cut out already; see :meth:`enroll`."""
        name = check_name(name)
        if not faces:
            raise BadLabels(f"Person {name!r}", "enrolled with at least one photo", "none")
        made = photos_of(list({face.hash: face for face in faces}.values()), self._way)
        with self._store.writing() as change:
            check_parameters(change, self._way, self.place)
            added = change.add_photos(name, made)
            if added.added:
                join_again(change, [name], self._way)
        return added.added

    def enroll_folder(
        self,
        folder: str | PathLike[str],
        *,
        cropped: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        jobs: int = -1,
        progress: Progress = _silent,
    ) -> FolderReport:
        """Enroll a folder with a folder of photos for each person.

        Photos that are there already are left out, wherever they lay. Those that were refused before are not tried
        again unless the way faces are found has changed. Finished photos are kept some hundred at a time: after an
        interrupt the same call goes on.

        Parameters
        ----------
        folder : str or Path
        cropped : bool
            Whether the pictures are faces already.
        dry_run : bool
            Look at everything, enroll nothing.
        retry : bool
            Try those again that were refused.
        jobs : int
            Processes; -1 is one for each core.
        progress : callable
            Shows how far it is.
        """
        with self._store.reading() as view:
            check_parameters(view, self._way, self.place)
        plan = folders.plan(folder, retry)
        return folders.enroll(self._store, plan, self._in(cropped), dry_run, jobs, progress)

    def sync(
        self,
        folder: str | PathLike[str],
        *,
        cropped: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        jobs: int = -1,
        progress: Progress = _silent,
    ) -> FolderReport:
        """Make the gallery follow a folder: enroll what is new, remove what came from it and is no longer there.

        People and photos that were enrolled by other ways stay. A folder without a single photo is refused: a disk
        that is not there must not empty a gallery. Parameters are those of :meth:`enroll_folder`.
        """
        with self._store.reading() as view:
            check_parameters(view, self._way, self.place)
        plan = folders.plan(folder, retry, syncing=True)
        return folders.enroll(self._store, plan, self._in(cropped), dry_run, jobs, progress)

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
        return self.identify_face(take(photo, cropped), top, far=far)

    def identify_face(self, face: Face, top: int = 5, *, far: float | None = None) -> Answer:
        """Tell who a face is; see :meth:`identify`."""
        if not is_whole(top, 1):
            raise BadParameter("identify", "top", "a whole number of at least 1", top)
        known = self.calibration()
        asked = check_far("identify", far) if far is not None else known.far
        people = self.everybody()
        candidates = self._candidates(face, people, known)[:top]
        best = candidates[0] if candidates else None
        threshold = float(score_of(np.asarray(asked)))
        accepted = best is not None and best.one_in * asked >= 1
        return Answer(
            name=best.name if best and accepted else None,
            score=best.score if best else 0.0,
            one_in=best.one_in if best else 1.0,
            threshold=threshold,
            far=asked,
            candidates=tuple(candidates),
            calibrated=known.strangers > 0,
        )

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
        known = self.calibration()
        asked = check_far("verify", far) if far is not None else known.far
        probe = take(photo, cropped, _called(photo, 0))
        marked = self._compared(probe, person, known) if person is not None else self._paired(probe, other, cropped)
        threshold = float(score_of(np.asarray(asked)))
        return Verification(
            marked.score, marked.one_in, marked.lead, marked.distance, marked.one_in * asked >= 1, threshold, asked
        )

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
        people = self.everybody()
        if not people.spans:
            raise UnknownPerson(person, [], what="The person")
        face = take(photo, cropped)
        if person is None:
            person = self._candidates(face, people, self.calibration())[0].name
        return explain(self.matcher, people, face.image, _among(people, person), _among(people, against))

    def people(self) -> list[Person]:
        """Return everybody enrolled, by name."""
        return self._store.people()

    def rename(self, old: str, new: str) -> None:
        """Give somebody another name, which nobody may have."""
        with self._store.writing() as change:
            change.rename(old, new)

    def forget(self, *names: str) -> int:
        """Remove people, all of them or none; return how many photos were theirs.

        Nothing of them is left, and nobody else's template or distance changes: the gallery answers as if they had
        never been there. What calibration found out with their help goes too; the rate that was asked for stays.
        """
        with self._store.writing() as change:
            photos = sum(change.forget(name).photos for name in names)
            if names:
                calibration.unlearn(change, self.place)
        return photos

    def calibrate(self, far: float = FAR, *, progress: Progress = _silent) -> Calibration:
        """Find out how well strangers do here, and set the share of them that may be accepted.

        Each enrolled person in turn is taken for a stranger and compared with all others; where faces are kept, so are
        copies of them under other lights.

        Parameters
        ----------
        far : float
        progress : callable
            Shows how far it is.
        """
        far = check_far("calibrate", far)
        people = self.everybody()
        found = Calibration(far)
        if len(people.spans) > 1:
            names = set(calibration.chosen([str(name) for name in people.spans]))
            strangers = calibration.best_of_others(self.matcher, people, self._store, names)
            best = list(progress(strangers, len(names)))
            found = calibration.calibrated(best, far, len(people.spans) - 1)
        with self._store.writing() as change:
            check_parameters(change, self._way, self.place)
            change.set_fact("calibration", found.written())
        return found

    def calibration(self) -> Calibration:
        """Return what calibration found; what is usual where there was none."""
        return Calibration.read(self._store.facts().get("calibration"), FAR, self.place)

    def advice(self, name: str) -> Advice:
        """Say which lights the photos of somebody lack, and which one to add."""
        return advise(name, [light or (None, None) for light in self.lights(name)])

    def lights(self, name: str) -> list[tuple[float, float] | None]:
        """Azimuth and elevation of the light on each photo of somebody; None where it cannot be told."""
        return [light_of(photo.light, self.place) for photo in self._store.photos(name)]

    def export(self, place: str | PathLike[str], *, progress: Progress = _silent) -> int:
        """Copy everything into a new gallery, such as a file to carry away; return how many people."""
        with Store.open(place) as target:
            return exchange.export(self._store, target, progress=progress)

    def import_(self, place: str | PathLike[str], *, progress: Progress = _silent) -> int:
        """Add everybody of another gallery, made with the same parameters; return how many people."""
        with Store.open(place, create=False) as source:
            return exchange.import_(source, self._store, self._way, progress=progress)

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
    def matcher(self) -> Matcher:
        """What makes templates and compares, under the settings of this gallery."""
        return self._way.matcher

    @property
    def preset(self) -> str | None:
        """The preset of the templates, if they have one."""
        return founding.preset_of(self._way.settings)

    @property
    def keeps_photos(self) -> bool:
        """Whether the faces of new photos are kept."""
        return self._way.keep

    def everybody(self) -> People:
        """Return the templates of everybody who is enrolled now."""
        return self._register.everybody()

    def _in(self, cropped: bool) -> Way:
        return Way(self._way.settings, cropped, self._way.keep)

    def _candidates(self, face: Face, people: People, known: Calibration) -> list[Candidate]:
        if not people.spans:
            return []
        evidence = self.matcher.compare([face.image], people)
        assert evidence.distances is not None
        strangers = known.among(len(people.spans))
        ahead = leads(evidence)[0]
        names = list(people.spans)
        order = np.argsort(-ahead, kind="stable")
        return [
            Candidate(**vars(mark(ahead[i], evidence.distances[0, i], strangers)), name=str(names[i])) for i in order
        ]

    def _compared(self, probe: Face, person: str, known: Calibration) -> Mark:
        """Compare with somebody enrolled, among all who are."""
        people = self.everybody()
        name = _among(people, person)
        named = next(one for one in self._candidates(probe, people, known) if one.name == name)
        count = len(people.spans)
        return mark(named.lead, named.distance, known.among(count).one_of(count))

    def _paired(self, probe: Face, other: Photo | None, cropped: bool) -> Mark:
        """Compare with another photo, alone."""
        assert other is not None
        claimed = take(other, cropped, _called(other, 1))
        people = self.matcher.everybody({"": self.matcher.templates([claimed.image])[0]})
        [marked] = self._candidates(probe, people, Calibration(FAR))
        return marked


def _called(photo: Photo, i: int) -> str | None:
    """Return what a photo that has no path is called: by its place in the list."""
    return f"photo {i + 1}" if isinstance(photo, bytes | np.ndarray) else None


@overload
def _among(people: People, name: str) -> str: ...
@overload
def _among(people: People, name: None) -> None: ...
def _among(people: People, name: str | None) -> str | None:
    """Return the name as it is enrolled; refuse one that nobody has."""
    if name is None:
        return None
    wanted, known = check_name(name), [str(one) for one in people.spans]
    if wanted not in people.spans:
        raise UnknownPerson(wanted, known, what="The name", nearest=get_close_matches(wanted, known))
    return wanted
