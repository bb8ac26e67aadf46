"""How a gallery writes down its settings, and reads them and its templates back."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Final

from lightproof.errors import BadGallery
from lightproof.gallery.store import Change, Store
from lightproof.matching import template_codec
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.template_codec import parameters_of, settings_json
from lightproof.matching.templates import Template
from lightproof.method.presets import ENGINES, EngineSettings

UNFINISHED: Final = "one that nobody has finished making"


def preset_of(settings: EngineSettings) -> str | None:
    """Return the name of settings, if they have one."""
    return next((name for name, each in ENGINES.items() if each == settings), None)


def has_settings(place: str | PathLike[str], timeout: float) -> bool:
    """Tell whether a gallery is there; none is made."""
    if not Store.exists(place, timeout=timeout):
        return False
    with Store.open(place, create=False, timeout=timeout) as store:
        return "settings" in store.facts()


def write_new(store: Store, preset: str, keep: bool) -> None:
    """Write the settings of a new gallery, unless somebody else was faster."""
    with store.writing() as change:
        if "settings" not in change.facts():
            write_preset(change, preset)
            change.set_fact("keep", "yes" if keep else "no")


def write_preset(change: Change, preset: str) -> None:
    """Write the settings that templates are made with."""
    settings = preset_settings(preset)
    change.set_fact("settings", settings_json(settings))
    change.set_fact("parameters", parameters_of(settings))
    # A later version has other settings by the same name: the name tells it what to rebuild the templates with.
    change.set_fact("preset", preset)


def read_settings(store: Store, preset: str | None, keep: bool | None) -> tuple[EngineSettings, bool]:
    """Read the settings of a gallery, and whether it keeps photos; refuse other ones than those wanted, if any are."""
    facts, place = store.facts(), store.place
    known = {parameters_of(settings): settings for settings in ENGINES.values()}
    settings = known.get(facts.get("parameters", ""))
    if settings is None:
        raise BadGallery(place, "templates of another version (see: lightproof rebuild)")
    if facts.get("settings") != settings_json(settings):
        raise BadGallery(place, "settings that cannot be read (see: lightproof rebuild)")
    kept = facts.get("keep") == "yes"
    if preset is not None and preset_settings(preset) != settings:
        raise BadGallery(place, f"one made with {preset_of(settings)!r}, not {preset!r} (see: lightproof rebuild)")
    if keep is not None and keep != kept:
        raise BadGallery(place, f"one that {'keeps' if kept else 'does not keep'} photos")
    return settings, kept


def decode_template(encoded: bytes, matcher: Matcher, place: str) -> Template:
    """Read a template of a gallery; see :func:`decode_templates`."""
    return decode_templates([encoded], matcher, place)[0]


def decode_templates(encoded: Sequence[bytes], matcher: Matcher, place: str) -> list[Template]:
    """Read the templates of a gallery under a matcher's settings; messages name the place of the gallery."""
    try:
        return template_codec.decode_templates(encoded, matcher.views)
    except ValueError as problem:
        raise BadGallery(place, str(problem)) from None
