"""Old names: for one release they give what the new ones give, and warn."""

from __future__ import annotations

import importlib
import sys

import pytest

from lightproof import Gallery, gallery, plots
from lightproof.core.moved import MOVED
from lightproof.service import schemas


@pytest.mark.parametrize("name", MOVED)
def test_a_module_has_its_old_name_too(name, monkeypatch):
    if name == "baselines.networks":
        pytest.importorskip("torch")
    old, new = f"lightproof.{name}", f"lightproof.{MOVED[name]}"
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}; the old name goes"):
        assert importlib.import_module(old) is importlib.import_module(new)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (gallery, "Face", "ExtractedFace"),
        (gallery, "Mark", "Match"),
        (gallery, "take", "extract_face"),
        (plots, "Patch", "DrawnPatch"),
        (schemas, "Answer", "AnswerSchema"),
        (schemas, "Wire", "Schema"),
    ],
)
def test_a_renamed_name_of_a_module_warns(module, old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} is now {module.__name__}.{new}; the old name goes"):
        assert getattr(module, old) is getattr(module, new)


def test_answers_of_the_service_are_where_they_were(monkeypatch):
    monkeypatch.delitem(sys.modules, "lightproof.wire", raising=False)
    with pytest.warns(DeprecationWarning, match=r"lightproof\.wire is now|Answer is now"):
        from lightproof.wire import Answer
    assert Answer is schemas.AnswerSchema


def test_a_name_that_never_was_is_no_attribute():
    with pytest.raises(AttributeError, match=r"^module 'lightproof\.gallery' has no attribute 'Grocery'$"):
        gallery.Grocery  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [("near", "shortlist"), ("near_all", "shortlist_for_all"), ("sample", "reference_people"), ("way", "config")],
)
def test_a_renamed_attribute_of_a_gallery_warns(old, new, tmp_path):
    with Gallery.open(tmp_path / "a.gallery", preset="fast") as opened:
        with pytest.warns(DeprecationWarning, match=f"Gallery.{old} is now Gallery.{new}; the old name goes"):
            value = getattr(opened, old)
        assert value == getattr(opened, new)


def test_a_renamed_method_of_a_calibration_warns():
    calibration = gallery.Calibration(0.01)
    with pytest.warns(DeprecationWarning, match="Calibration.among is now Calibration.impostor_model; the old name"):
        assert calibration.among(10) == calibration.impostor_model(10)
