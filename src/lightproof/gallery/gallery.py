"""Gallery: people are enrolled, photos identified, strangers told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Self

from lightproof.core.cluster import Cluster
from lightproof.core.progress import Progress, silent
from lightproof.errors import BadGallery, BadLabels, UnknownPhoto
from lightproof.gallery import calibrate, lifecycle, transfer
from lightproof.gallery.calibrate import FAR, Calibration
from lightproof.gallery.enrollment import (
    Face,
    Photo,
    called,
    check_parameters,
    extract_face,
    join_again,
    listed,
    photos_of,
)
from lightproof.gallery.folders import enroll_folder
from lightproof.gallery.folders.scan import FolderReport, FolderScan, scan_folder
from lightproof.gallery.reader import GalleryReader
from lightproof.gallery.store import Person, Removed, Store, check_name
from lightproof.matching.calibration import check_far
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import preset_settings


class Gallery(GalleryReader):
    """People, one or more photos of each, and answers about photos.

    Made by :meth:`open`. A gallery may be open in several threads, processes and machines at once; each sees what the
    others have enrolled. Every change is there whole or not at all.

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
                if not create:
                    raise BadGallery(store.place, lifecycle.UNFINISHED)
                lifecycle.found(store, preset or "robust", bool(keep_photos))
            return cls(store, *lifecycle.read_facts(store, preset, keep_photos))
        except BaseException:
            store.close()
            raise

    @staticmethod
    def exists(place: str | PathLike[str], *, timeout: float = 30.0) -> bool:
        """Tell whether there is a gallery; where there is none, :meth:`open` would make one."""
        return lifecycle.is_founded(place, timeout)

    @classmethod
    def rebuild(
        cls,
        place: str | PathLike[str],
        preset: str | None = None,
        *,
        progress: Progress = silent,
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
            return lifecycle.rebuild(change, preset, progress)

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
        return self.enroll_faces(
            name, [extract_face(one, cropped, called(one, i)) for i, one in enumerate(listed(photos))]
        )

    def enroll_faces(self, who: str | int, faces: Sequence[Face]) -> int:
        """Enroll faces that are cut out already; see :meth:`enroll`.

        Parameters
        ----------
        who : str or int
            A name, or the number of somebody who is there, whatever they are called by now.
        faces : sequence of Face
        """
        who = who if isinstance(who, int) else check_name(who)
        if not faces:
            raise BadLabels(f"Person {who!r}", "enrolled with at least one photo", "none")
        made = photos_of(list({face.hash: face for face in faces}.values()), self._way)
        with self._store.writing() as change:
            check_parameters(change, self._way)
            name = change.person(who).name if isinstance(who, int) else who
            added = change.add_photos(name, made)
            if added.added:
                join_again(change, [name], self._way)
        return added.added

    def add_person(self, name: str, faces: Sequence[Face] = ()) -> Person:
        """Enter somebody new, whose name nobody may have; without a photo nobody is taken for them.

        Parameters
        ----------
        name : str
        faces : sequence of Face
            Cut out already; all of them are enrolled, or none and nobody.
        """
        name = check_name(name)
        made = photos_of(list({face.hash: face for face in faces}.values()), self._way)
        with self._store.writing() as change:
            check_parameters(change, self._way)
            change.add_person(name)
            change.add_photos(name, made)
            join_again(change, [name], self._way)
            return change.person(name)

    def enroll_folder(
        self,
        folder: str | PathLike[str] | FolderScan,
        *,
        cropped: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        jobs: int = -1,
        cluster: str | Cluster | None = None,
        progress: Progress = silent,
    ) -> FolderReport:
        """Enroll a folder with a folder of photos for each person.

        Photos that are there already are left out, wherever they lay. Those that were refused before are not tried
        again unless the way faces are found has changed. Finished photos are kept some hundred at a time: after an
        interrupt the same call goes on.

        A folder is of the person it is called after. If that person was renamed since, new photos in it go to the
        renamed person, as long as the folder's photos are all theirs.

        Parameters
        ----------
        folder : str or Path
            Or what :func:`~lightproof.gallery.folders.scan.scan_folder` found in it.
        cropped : bool
            Whether the pictures are faces already.
        dry_run : bool
            Look at everything, enroll nothing.
        retry : bool
            Try those again that were refused.
        jobs : int
            Processes; -1 is one for each core.
        cluster : str or Cluster, optional
            A Dask scheduler whose workers do it, such as ``"tcp://host:8786"``; they must see the folder as we do.
        progress : callable
            Shows how far it is.
        """
        scan = folder if isinstance(folder, FolderScan) else scan_folder(folder)
        config = replace(self._way, cropped=cropped)
        return enroll_folder(
            self._store, scan, config, progress, dry_run=dry_run, retry=retry, jobs=jobs, cluster=cluster
        )

    def sync(
        self,
        folder: str | PathLike[str],
        *,
        cropped: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        jobs: int = -1,
        cluster: str | Cluster | None = None,
        progress: Progress = silent,
    ) -> FolderReport:
        """Make the gallery follow a folder: enroll what is new, remove what came from it and is no longer there.

        People and photos that were enrolled by other ways stay. A folder without a single photo is refused: a disk
        that is not there must not empty a gallery. Parameters are those of :meth:`enroll_folder`.

        A photo goes to another person only when its file was moved to the folder of that person. Who was renamed keeps
        the photos of the old folder, and gets the new ones that are put there.
        """
        scan, config = scan_folder(folder, syncing=True), replace(self._way, cropped=cropped)
        return enroll_folder(
            self._store, scan, config, progress, syncing=True, dry_run=dry_run, retry=retry, jobs=jobs, cluster=cluster
        )

    def rename(self, old: str | int, new: str) -> None:
        """Give somebody, known by name or by number, another name, which nobody may have."""
        with self._store.writing() as change:
            change.rename(change.person(old).name, new)

    def forget(self, *people: str | int) -> int:
        """Remove people, by name or by number, all of them or none; return how many photos were theirs.

        Nobody else's template or distance changes: the gallery answers as if they had never been there. What
        calibration found out with their help goes too; the rate that was asked for stays. Somebody whose photos were
        all refused is forgotten as well, with their name and those of the files.

        The rows are gone when this returns. In a file, so are their bytes, unless somebody else is reading the gallery;
        see :meth:`leftover`.
        """
        with self._store.writing() as change:
            names = [who if isinstance(who, str) else change.person(who).name for who in people]
            photos = sum(change.forget(name).photos for name in names)
            if photos:
                calibrate.unlearn(change)
        return photos

    def compact(self) -> str | None:
        """Overwrite what may be left in the file of all that was forgotten; see :meth:`leftover`.

        A small gallery does so by itself. A large file is packed anew, beside itself: that takes minutes, and as much
        room again for that time.

        Returns
        -------
        str or None
            What may be left all the same, in one sentence.
        """
        self._store.compact()
        return self.leftover()

    def remove_photos(self, who: str | int, photos: Sequence[int]) -> Removed:
        """Remove photos of somebody, by their numbers, all of them or none; with the last one the person goes too.

        What is said of :meth:`forget` holds for them.
        """
        with self._store.writing() as change:
            check_parameters(change, self._way)
            person = change.person(who)
            hashes = {photo.id: photo.hash for photo in change.photos(person.id)}
            for number in photos:
                if number not in hashes:
                    raise UnknownPhoto(number, person.name)
            removed = change.remove_photos([hashes[number] for number in photos])
            if removed.photos:
                calibrate.unlearn(change)
                join_again(change, [] if removed.people else [person.name], self._way)
        return removed

    def calibrate(self, far: float = FAR, *, progress: Progress = silent) -> Calibration:
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
        count = self.follow()
        found = Calibration(far)
        if count > 1:
            strangers = calibrate.best_of_others(self.near, self.matcher, self._store)
            best = list(progress(strangers, min(count, calibrate.MOST)))
            found = calibrate.calibrated(best, far, count - 1, mutual_agreement(self.sample()))
        with self._store.writing() as change:
            check_parameters(change, self._way)
            change.set_fact("calibration", found.written())
        return found

    def export(self, place: str | PathLike[str], *, progress: Progress = silent) -> int:
        """Copy everything into a new gallery, such as a file to carry away; return how many people.

        All or nothing: where it fails, nothing is left of the new gallery.
        """
        return transfer.export(self._store, place, progress=progress)

    def import_(self, place: str | PathLike[str], *, progress: Progress = silent) -> int:
        """Add everybody of another gallery, made with the same parameters; return how many people."""
        with Store.open(place, create=False) as source:
            return transfer.import_(source, self._store, self._way, progress=progress)
