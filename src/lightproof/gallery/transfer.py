"""Everybody of one gallery into another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Final

from lightproof.core.progress import Progress
from lightproof.errors import BadGallery
from lightproof.gallery.enrollment import EnrollmentConfig, check_parameters, join_again, light_of
from lightproof.gallery.store import Change, NewPhoto, Person, Store, View
from lightproof.gallery.template_codec import decode

FACTS: Final = ("settings", "parameters", "preset", "keep", "calibration")
"""What makes a gallery what it is, beside its people."""


def export(source: Store, place: str | PathLike[str], *, progress: Progress) -> int:
    """Copy everything to a new place, all or nothing: after an error nothing is there; return how many people."""
    with source.reading() as view, Store.making(place) as change:
        facts = view.facts()
        if "settings" in change.facts() or change.counts().people:
            raise BadGallery(change.place, "one that is there already; a copy needs a new place")
        for name in (name for name in FACTS if name in facts):
            change.set_fact(name, facts[name])
        people = list(progress(_copied(view, change), view.counts().people))
        change.remember_refusals(view.refusals().values())
    return len(people)


def _copied(view: View, change: Change) -> Iterable[str]:
    for person, photos, span in view.templates(faces=True):
        if not photos:
            change.add_person(person.name)
        change.add_photos(person.name, photos)
        if span is not None:
            change.set_span(person.name, span)
        yield person.name


def import_(source: Store, target: Store, config: EnrollmentConfig, *, progress: Progress) -> int:
    """Add everybody of another gallery, in one change: all or nothing; return how many people.

    Parameters
    ----------
    source, target : Store
    config : EnrollmentConfig
        Of the target: templates made in another way are refused, faces that it does not keep are left behind.
    progress : callable
        Shows how far it is.
    """
    with source.reading() as view, target.writing() as change:
        check_parameters(change, config)
        if view.facts().get("parameters") != config.parameters:
            raise BadGallery(source.place, f"templates made with other parameters than those of {target.place}")
        people = list(progress(_added(view, change, config), view.counts().people))
        refusals = view.refusals()
        enrolled = change.known_hashes(refusals)
        change.remember_refusals(refusal for number, refusal in refusals.items() if number not in enrolled)
    return len(people)


def _added(view: View, change: Change, config: EnrollmentConfig) -> Iterable[str]:
    here = {person.name for person in change.people()}
    for person, photos, span in view.templates(faces=True):
        _check(person, photos, span, config, view.place)
        kept = photos if config.keep else [replace(photo, face=None) for photo in photos]
        if not kept and person.name not in here:
            change.add_person(person.name)
        added = change.add_photos(person.name, kept)
        if person.name not in here and span is not None:
            change.set_span(person.name, span)
        elif added.added:
            join_again(change, [person.name], config)
        yield person.name


def _check(
    person: Person, photos: Sequence[NewPhoto], span: bytes | None, config: EnrollmentConfig, place: str
) -> None:
    """Refuse to take over what could not be compared."""
    for photo in photos:
        if photo.parameters != config.parameters:
            raise BadGallery(place, "a template made with other parameters")
        decode(photo.template, config.matcher, place)
        light_of(photo.light, place)
    if span is not None:
        decode(span, config.matcher, place)
