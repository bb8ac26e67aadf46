"""Copy one gallery into another: export and import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Final

from lightproof.core.progress import Progress
from lightproof.errors import BadGallery
from lightproof.gallery.codec import decode_template
from lightproof.gallery.enrollment import EnrollmentConfig, check_parameters, read_light, update_joined
from lightproof.gallery.store import Change, NewPhoto, Store, View

FACTS: Final = ("settings", "parameters", "preset", "keep", "calibration")
"""Facts that a copy takes over."""


def export(source: Store, place: str | PathLike[str], *, progress: Progress) -> int:
    """Copy everything to a new place, all or nothing; return the number of people."""
    with source.reading() as view, Store.making(place) as change:
        facts = view.facts()
        if "settings" in change.facts() or change.counts().people:
            raise BadGallery(change.place, "one that is there already; a copy needs a new place")
        for name in (name for name in FACTS if name in facts):
            change.set_fact(name, facts[name])
        n_people = len(list(progress(_copied(view, change), view.counts().people)))
        change.remember_refusals(view.refusals().values())
    return n_people


def _copied(view: View, change: Change) -> Iterable[str]:
    for person, photos, span in view.templates(faces=True):
        if not photos:
            change.add_person(person.name)
        change.add_photos(person.name, photos)
        if span is not None:
            change.set_span(person.name, span)
        yield person.name


def import_(source: Store, target: Store, config: EnrollmentConfig, *, progress: Progress) -> int:
    """Add all people of another gallery, in one change; return how many.

    The target, whose config this is, refuses templates of other parameters, and may not keep faces.
    """
    with source.reading() as view, target.writing() as change:
        check_parameters(change, config)
        if view.facts().get("parameters") != config.parameters:
            raise BadGallery(source.place, f"templates made with other parameters than those of {target.place}")
        n_people = len(list(progress(_added(view, change, config), view.counts().people)))
        refusals = view.refusals()
        known = change.owners_of(refusals)
        change.remember_refusals(refusal for number, refusal in refusals.items() if number not in known)
    return n_people


def _added(view: View, change: Change, config: EnrollmentConfig) -> Iterable[str]:
    enrolled = {person.name for person in change.people()}
    for person, photos, span in view.templates(faces=True):
        _check(photos, span, config, view.place)
        kept = photos if config.keep else [replace(photo, face=None) for photo in photos]
        if not kept and person.name not in enrolled:
            change.add_person(person.name)
        added = change.add_photos(person.name, kept)
        if person.name not in enrolled and span is not None:
            change.set_span(person.name, span)
        elif added.added:
            update_joined(change, [person.name], config)
        yield person.name


def _check(photos: Sequence[NewPhoto], span: bytes | None, config: EnrollmentConfig, place: str) -> None:
    """Refuse templates that the target could not compare."""
    for photo in photos:
        if photo.parameters != config.parameters:
            raise BadGallery(place, "a template made with other parameters")
        decode_template(photo.template, config.matcher, place)
        read_light(photo.light, place)
    if span is not None:
        decode_template(span, config.matcher, place)
