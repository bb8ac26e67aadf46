"""What a gallery is: written when it is made, read when it is opened, changed when it is rebuilt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Final

from lightproof.core.progress import Progress
from lightproof.errors import BadGallery, UserError
from lightproof.gallery.enrollment import EnrollmentConfig, Face, join_again, photos_of
from lightproof.gallery.store import Change, Store
from lightproof.gallery.template_codec import parameters_of, written
from lightproof.imaging.decode import read_grey
from lightproof.matching.matcher import preset_settings
from lightproof.method.presets import GALLERIES, GallerySettings

UNFINISHED: Final = "one that nobody has finished making"


def is_founded(place: str | PathLike[str], timeout: float) -> bool:
    """Tell whether a gallery is there; none is made."""
    if not Store.exists(place, timeout=timeout):
        return False
    with Store.open(place, create=False, timeout=timeout) as store:
        return "settings" in store.facts()


def found(store: Store, preset: str, keep: bool) -> None:
    """Write down what a new gallery is; whoever comes second finds it written."""
    with store.writing() as change:
        if "settings" not in change.facts():
            _write_preset(change, preset)
            change.set_fact("keep", "yes" if keep else "no")


def _write_preset(change: Change, preset: str) -> None:
    settings = preset_settings(preset)
    change.set_fact("settings", written(settings))
    change.set_fact("parameters", parameters_of(settings))
    # A later version has other settings of the same name: by this one it knows what to make the templates anew with.
    change.set_fact("preset", preset)


def read_facts(store: Store, preset: str | None, keep: bool | None) -> tuple[GallerySettings, bool]:
    """Read what a gallery is; refuse what was asked for otherwise.

    Parameters
    ----------
    store : Store
    preset : str, optional
        What it must be made with.
    keep : bool, optional
        Whether it must keep photos.

    Returns
    -------
    settings : GallerySettings
    keep : bool
    """
    facts = store.facts()
    settings, kept = _settings(facts, store.place), facts.get("keep") == "yes"
    if preset is not None and preset_settings(preset) != settings:
        own = preset_of(settings) or "other settings"
        raise BadGallery(store.place, f"one made with {own!r}, not {preset!r} (see: lightproof rebuild)")
    if keep is not None and keep != kept:
        raise BadGallery(store.place, f"one that {'keeps' if kept else 'does not keep'} photos")
    return settings, kept


def rebuild(change: Change, preset: str | None, progress: Progress) -> int:
    """Make every template anew from the faces that were kept; return how many.

    Parameters
    ----------
    change : Change
    preset : str, optional
        The gallery's own by default.
    progress : callable
    """
    facts = change.facts()
    if "settings" not in facts:
        raise BadGallery(change.place, UNFINISHED)
    preset = preset or facts.get("preset")
    if preset not in GALLERIES:
        raise BadGallery(change.place, "one that does not say its preset (see: lightproof rebuild --preset)")
    config = EnrollmentConfig(preset_settings(preset), keep=True)
    faceless = sum(not photo.has_face for photo in change.photos())
    if faceless:
        lacking = f"one where the faces of {faceless} photos were not kept; enroll them again, in a new one"
        raise BadGallery(change.place, lacking)
    count = 0
    for person, photos, _ in progress(change.templates(faces=True), change.counts().people):
        shown = f"a kept face of {person.name!r}"
        faces = [Face(photo.hash, photo.source or "", read_grey(photo.face or b"", where=shown)) for photo in photos]
        count += change.replace_templates(person.name, photos_of(faces, config))
        join_again(change, [person.name], config)
    _write_preset(change, preset)
    change.set_fact("calibration", None)
    return count


def preset_of(settings: GallerySettings) -> str | None:
    """Return the name of settings, if they have one."""
    return next((name for name, each in GALLERIES.items() if each == settings), None)


def _settings(facts: Mapping[str, str], place: str) -> GallerySettings:
    try:
        settings = json.loads(facts["settings"])
        settings["size"] = tuple(settings["size"])
        if facts.get("parameters") != parameters_of(settings):
            raise BadGallery(place, "templates of another version (see: lightproof rebuild)")
        # Settings that no gallery can have are refused here, not at the first question.
        return GallerySettings.checked("Gallery", settings)
    except BadGallery:
        raise
    except (KeyError, TypeError, ValueError, RecursionError, UserError):
        raise BadGallery(place, "settings that cannot be read (see: lightproof rebuild)") from None
