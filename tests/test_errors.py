from __future__ import annotations

import copy
from pathlib import Path

import pytest

from lightproof import errors
from lightproof.estimators.sklearn_contract import NotFitted

EXAMPLES = [
    errors.BadParameter("FaceRecognizer", "cell", "an int", 2.5),
    errors.GridDoesNotFit(3, 3, 4),
    errors.BadImage("X[0]", "grey", "colour"),
    errors.BadLabels("y", "names", "numbers"),
    errors.UnknownPerson("Ann", ["Bob"]),
    errors.UnknownPhoto(7, "Bob"),
    errors.NameTaken("Bob"),
    errors.DuplicatePhoto("a.jpg", "Ann", "Bob"),
    errors.BadGallery("a.gallery", "a picture"),
    errors.GalleryBusy("a.gallery", "free", "another writer"),
    NotFitted("FaceRecognizer", "predict"),
    errors.BadModelFile(Path("a.zip"), "nothing"),
    errors.BadCluster("Worker tcp://a:1", "one with numpy 2.4.6, as here", "numpy 2.0.0"),
    errors.CannotWrite(Path("a"), OSError("no such folder")),
    errors.DatasetMissing(Path("a"), "a folder", "a file"),
    errors.MissingExtra("NetworkClassifier needs PyTorch", "deep"),
    errors.UnknownName("method", "hogg", ["hog"], ["hog"]),
    errors.TooManyPixels("photo.jpg", "small", "large"),
    errors.NoFace("photo.jpg", ["gamma", "plain"], 20.0),
    errors.SeveralFaces("photo.jpg", 3),
]


def test_every_member_of_the_family_is_here():
    def members(kind):
        return {kind}.union(*(members(child) for child in kind.__subclasses__()))

    assert members(errors.UserError) - {errors.UserError} == {type(error) for error in EXAMPLES}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_an_error_keeps_its_sentence_on_the_way_between_processes(error):
    back = copy.deepcopy(error)  # the same way that processes take
    assert type(back) is type(error)
    assert str(back) == str(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_every_error_is_drawn_in_the_tree_and_ends_its_sentence(error):
    assert type(error).__name__ in (errors.__doc__ or "")
    assert str(error)[-1] in ".?"


def test_a_photo_without_a_face_or_with_too_many_is_a_bad_image_and_says_so():
    none, many = EXAMPLES[-2:]
    assert isinstance(none, errors.BadImage)
    assert isinstance(many, errors.BadImage)
    said = "photo.jpg must be a photo of a face with at least 20 pixels between the eyes; "
    assert str(none) == said + "got none in any look (gamma, plain)."
    assert str(many) == "photo.jpg must be a photo of one face; got 3 faces."


def test_an_unknown_person_is_told_with_the_names_there_are_and_the_nearest():
    said = str(errors.UnknownPerson("Anna", ["Ann", "Bob"], what="The name", nearest=["Ann"]))
    assert said == "The name must be one of the 2 enrolled people ('Ann', 'Bob'); got 'Anna'. Did you mean 'Ann'?"
    assert str(errors.UnknownPerson("Ann", [])) == "`label` must be somebody enrolled (there is nobody); got 'Ann'."
