"""Gallery: people are enrolled, photos identified, and strangers reported as unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Self

from lightproof.core.dask_cluster import Cluster
from lightproof.core.progress import Progress, silent
from lightproof.errors import BadGallery, BadLabels, UnknownPhoto
from lightproof.gallery import calibrate, codec, enrollment, transfer
from lightproof.gallery.decision import FAR, Calibration
from lightproof.gallery.enrollment import (
    ExtractedFace,
    Photo,
    as_list,
    check_parameters,
    extract_face,
    name_in_list,
    new_photos,
    update_joined,
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
            What the templates are made with: ``"robust"`` for a new gallery. An existing gallery keeps its own; see
            :meth:`rebuild`.
        keep_photos : bool, optional
            Whether the face cut out of each enrolled photo is kept, so that templates can be made anew and calibration
            can put them under other lights. No by default; a gallery cannot change it later.
        create : bool
            Whether to make a gallery if there is none.
        timeout : float
            Seconds to wait for other writers.
        """
        if preset is not None:
            preset_settings(preset)
        store = Store.open(place, create=create, timeout=timeout)
        try:
            if "settings" not in store.facts():
                if not create:
                    raise BadGallery(store.place, codec.UNFINISHED)
                codec.write_new(store, preset or "robust", bool(keep_photos))
            return cls(store, *codec.read_settings(store, preset, keep_photos))
        except BaseException:
            store.close()
            raise

    @staticmethod
    def exists(place: str | PathLike[str], *, timeout: float = 30.0) -> bool:
        """Tell whether there is a gallery; if there is none, :meth:`open` would make one."""
        return codec.has_settings(place, timeout)

    @classmethod
    def rebuild(
        cls,
        place: str | PathLike[str],
        preset: str | None = None,
        *,
        progress: Progress = silent,
        timeout: float = 30.0,
    ) -> int:
        """Make every template anew from the faces that were kept; return how many.

        Parameters
        ----------
        place : str or Path
        preset : {"robust", "fast"}, optional
            Another one than the gallery's own.
        """
        if preset is not None:
            preset_settings(preset)
        with Store.open(place, create=False, timeout=timeout) as store, store.writing() as change:
            return enrollment.rebuild(change, preset, progress)

    def enroll(self, name: str, photos: Sequence[Photo] | Photo, *, cropped: bool = False) -> int:
        """Enroll a person, or add photos of one: all of them, or none if one is refused.

        Parameters
        ----------
        name : str
        photos : list of str, Path, bytes or ndarray of shape (h, w)
            Photographs as files, faces as arrays. Photos that are enrolled already are skipped.
        cropped : bool
            Whether files are faces already.

        Returns
        -------
        int
            How many photos were new.
        """
        name = check_name(name)
        faces = [extract_face(photo, cropped, name_in_list(photo, i)) for i, photo in enumerate(as_list(photos))]
        return self.enroll_faces(name, faces)

    def enroll_faces(self, who: str | int, faces: Sequence[ExtractedFace]) -> int:
        """Enroll faces that are cut out already; see :meth:`enroll`.

        Parameters
        ----------
        who : str or int
            A name, or the number of a person, whose name may have changed.
        """
        who = who if isinstance(who, int) else check_name(who)
        if not faces:
            raise BadLabels(f"Person {who!r}", "enrolled with at least one photo", "none")
        photos = new_photos(list({face.hash: face for face in faces}.values()), self.config)
        with self.store.writing() as change:
            check_parameters(change, self.config)
            name = change.person(who).name if isinstance(who, int) else who
            added = change.add_photos(name, photos)
            if added.added:
                update_joined(change, [name], self.config)
        return added.added

    def add_person(self, name: str, faces: Sequence[ExtractedFace] = ()) -> Person:
        """Enter a new person, whose name nobody may have; without a photo no probe matches them.

        Parameters
        ----------
        name : str
        faces : sequence of ExtractedFace
            Cut out already. If one is refused, the person is not entered.
        """
        name = check_name(name)
        photos = new_photos(list({face.hash: face for face in faces}.values()), self.config)
        with self.store.writing() as change:
            check_parameters(change, self.config)
            change.add_person(name)
            change.add_photos(name, photos)
            update_joined(change, [name], self.config)
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

        Photos that are enrolled already are skipped, wherever they lie. Photos that were refused before are not tried
        again unless the face detector has changed. Finished photos are committed some hundred at a time: after an
        interrupt the same call goes on.

        A folder has the name of its person. If that person was renamed since, new photos in it go to the renamed
        person, as long as the folder's photos are all theirs.

        Parameters
        ----------
        folder : str or Path
            Or what :func:`~lightproof.gallery.folders.scan.scan_folder` found in it.
        cropped : bool
            Whether the pictures are faces already.
        dry_run : bool
            Check everything, enroll nothing.
        retry : bool
            Try refused photos again.
        jobs : int
            Processes; -1 is one for each core.
        cluster : str or Cluster, optional
            A Dask scheduler whose workers do it, such as ``"tcp://host:8786"``; they must see the folder at this path.
        progress : callable
        """
        scan = folder if isinstance(folder, FolderScan) else scan_folder(folder)
        config = replace(self.config, cropped=cropped)
        return enroll_folder(
            self.store, scan, config, progress, dry_run=dry_run, retry=retry, jobs=jobs, cluster=cluster
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

        People and photos that were not enrolled from folders stay. A folder without a single photo is refused: a
        missing disk must not empty a gallery. Parameters are those of :meth:`enroll_folder`.

        A photo goes to another person only if its file was moved to the folder of that person. A renamed person keeps
        the photos of the old folder, and gets new ones that are put there.
        """
        scan, config = scan_folder(folder, syncing=True), replace(self.config, cropped=cropped)
        return enroll_folder(
            self.store, scan, config, progress, syncing=True, dry_run=dry_run, retry=retry, jobs=jobs, cluster=cluster
        )

    def rename(self, old: str | int, new: str) -> None:
        """Give a person, by name or by number, another name, which nobody may have."""
        with self.store.writing() as change:
            change.rename(change.person(old).name, new)

    def forget(self, *people: str | int) -> int:
        """Remove people, by name or by number, all of them or none; return how many photos they had.

        No other template or distance changes: the gallery answers as if they had never been enrolled. What
        :meth:`calibrate` measured on them goes too; the rate stays. People whose photos were all refused are removed as
        well, with their names and those of the files.

        The rows are gone when this returns. In a file, so are their bytes, unless somebody else is reading the gallery;
        see :meth:`leftover`.
        """
        with self.store.writing() as change:
            names = [person if isinstance(person, str) else change.person(person).name for person in people]
            photos = sum(change.forget(name).photos for name in names)
            if photos:
                calibrate.discard_measurements(change)
        return photos

    def compact(self) -> str | None:
        """Overwrite what may be left of forgotten people in the file; return what :meth:`leftover` says then.

        A small gallery does so by itself. A large file is written anew, beside itself: that takes minutes, and as much
        disk space again for that time.
        """
        self.store.compact()
        return self.leftover()

    def remove_photos(self, who: str | int, photos: Sequence[int]) -> Removed:
        """Remove photos of a person, by their numbers, all of them or none; with the last one the person goes too.

        They are removed like people by :meth:`forget`.
        """
        with self.store.writing() as change:
            check_parameters(change, self.config)
            person = change.person(who)
            hashes = {photo.id: photo.hash for photo in change.photos(person.id)}
            for number in photos:
                if number not in hashes:
                    raise UnknownPhoto(number, person.name)
            removed = change.remove_photos([hashes[number] for number in photos])
            if removed.photos:
                calibrate.discard_measurements(change)
                update_joined(change, [] if removed.people else [person.name], self.config)
        return removed

    def calibrate(self, far: float = FAR, *, progress: Progress = silent) -> Calibration:
        """Measure how well strangers match here, and set the share of them that may be accepted.

        Each enrolled person in turn plays a stranger and is compared with all others; if faces are kept, so are copies
        of them under other lights.

        Parameters
        ----------
        far : float
            See :meth:`identify`.
        progress : callable
        """
        far = check_far("calibrate", far)
        count = self.follow()
        calibration = Calibration(far)
        if count > 1:
            leads = calibrate.impostor_leads(self.shortlist, self.matcher, self.store)
            measured = list(progress(leads, min(count, calibrate.MAX_STRANGERS)))
            calibration = calibrate.calibrated(measured, far, count - 1, mutual_agreement(self.reference_people()))
        with self.store.writing() as change:
            check_parameters(change, self.config)
            change.set_fact("calibration", calibration.written())
        return calibration

    def export(self, place: str | PathLike[str], *, progress: Progress = silent) -> int:
        """Copy everything into a new gallery, or nothing if it fails; return how many people."""
        return transfer.export(self.store, place, progress=progress)

    def import_(self, place: str | PathLike[str], *, progress: Progress = silent) -> int:
        """Add everybody of another gallery, made with the same parameters; return how many people."""
        with Store.open(place, create=False) as source:
            return transfer.import_(source, self.store, self.config, progress=progress)
