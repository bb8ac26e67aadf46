"""From a folder on disk to the report, on written folders of the sets that may not be passed on."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lightproof.cli import app
from lightproof.datasets import cas_peal
from tests.datasets.test_ar import warped_people
from tests.datasets.test_cas_peal import Tree

pytestmark = pytest.mark.long


def reproduce(tmp_path, table, data, methods):
    out = tmp_path / "out"
    call = ["reproduce", table, "--data", data, "--methods", methods, "--frames", "full", "--jobs", "1", "--out", out]
    result = CliRunner().invoke(app, [str(word) for word in call])
    assert result.exit_code == 0, result.output
    return json.loads((out / "rows.json").read_text()), (out / "report.md").read_text()


def test_ar_from_the_folder_to_the_report(tmp_path):
    warped_people(tmp_path / "AR_warp_zip" / "test2")
    rows, report = reproduce(tmp_path, "ar", tmp_path, "hog,rcdt")
    figures = {(row["name"], row["subset"]): row for row in rows}
    assert {subset: figures["rcdt", subset]["n"] for subset in (1, 2, "all")} == {1: 400, 2: 200, "all": 600}
    assert {row["gallery"] for row in rows} == {"shots 1 and 14"}
    # Every shot of a written person is the same picture, so nobody can be missed.
    assert {row["accuracy"] for row in rows} == {100.0}
    assert figures["hog", 2]["published"] == 83.5
    assert "100 people, 800 photos" in report
    assert "400 in subset 1, 200 in subset 2" in report


def test_cas_peal_from_the_folder_to_the_report(tmp_path, monkeypatch):
    tree = Tree(tmp_path, people=4)
    tree.write_lists()
    monkeypatch.setattr(cas_peal, "LIT_PHOTOS", 4 * 9)
    rows, report = reproduce(tmp_path, "cas-peal", tmp_path, "lbp,rcdt")
    main = {(row["name"], row["subset"]): row for row in rows if row["table"] == "main"}
    assert {subset: main["lbp", subset]["n"] for subset in (1, 2, 3, "all")} == {1: 12, 2: 16, 3: 8, "all": 36}
    assert main["rcdt", 3]["published"] == 49.7
    enlarged = [row for row in rows if row["table"] == "enlarged"]
    assert [row["published"] for row in enlarged] == [49.7, 70.17, 82.51]
    assert [row["gallery"] for row in enlarged] == [
        "one normal photo",
        "normal and subset 1",
        "normal and subsets 1, 2",
    ]
    assert {row["n"] for row in enlarged} == {8}
    assert "Subset 3 with more photos enrolled" in report
    # Directions are known here, so there is a map of lights.
    assert "cas-peal-accuracy-by-light.png" in report
