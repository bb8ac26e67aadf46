from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lightproof import __version__, cli
from tests.datasets.test_yale_b import fake_yale

ROW_KEYS = [
    "dataset", "test", "subset", "method", "preset", "gallery", "accuracy", "std", "n", "published", "seconds",
]  # fmt: skip


def run_main(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "lightproof", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_the_version_is_shown():
    assert run_main("--version").stdout.strip() == __version__


def test_help_names_the_commands():
    shown = run_main("--help")
    assert shown.returncode == 0
    assert "demo" in shown.stdout
    assert "reproduce" in shown.stdout


def test_the_demo_prints_a_table_and_writes_a_report(tmp_path):
    result = CliRunner().invoke(
        cli.app, ["demo", "--people", "3", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "rows.json")]
    )
    assert result.exit_code == 0, result.output
    assert "raw pixels" in result.output
    assert "HoG" in result.output
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/png;base64,") > 10
    assert "http" not in page.replace("http-equiv", "")
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["severity"] for row in rows} == {1, 2, 3, 4}
    assert {row["n"] for row in rows} == {30, 54, 36, 39}
    best = {row["severity"]: row["accuracy"] for row in rows if row["method"] == "lightproof, log"}
    assert best[1] == 100


def test_a_folder_that_is_not_yale_is_one_sentence_and_exit_code_1(tmp_path):
    result = run_main("reproduce", "yale", "--data", tmp_path, "--json", tmp_path / "rows.json")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.strip().splitlines()[-1].startswith(f"lightproof: {tmp_path} must be the CroppedYale folder")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "rows.json").exists()


def test_an_incomplete_yale_folder_says_what_is_missing(tmp_path):
    result = run_main("reproduce", "yale", "--data", fake_yale(tmp_path))
    assert result.returncode == 1
    assert "2410 missing: yaleB01/yaleB01_P00A+000E+20.pgm" in result.stderr


def test_an_unknown_preset_is_refused_before_anything_is_read(tmp_path):
    result = run_main("reproduce", "yale", "--data", tmp_path, "--preset", "best")
    assert result.returncode == 1
    expected = "lightproof: `preset` of reproduce yale must be one of 'authors', 'paper'; got 'best'."
    assert result.stderr.strip() == expected


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    result = run_main("demo", "--people", 2, "--out", tmp_path / "taken")
    assert result.returncode == 1
    assert (
        result.stderr.strip()
        == f"lightproof: {tmp_path / 'taken'} must be a place that can be written; got: File exists."
    )


def test_a_place_for_the_figures_is_checked_before_the_work(tmp_path):
    for command in (["demo", "--out", tmp_path], ["reproduce", "yale", "--data", tmp_path]):
        result = run_main(*command, "--json", tmp_path / "nowhere" / "rows.json")
        assert result.returncode == 1
        assert result.stderr.strip().endswith("rows.json must be a place that can be written; got: no such folder.")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_without_signs_gets_question_marks_not_a_traceback(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "lightproof", "demo", "--people", "2", "--out", "ü"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip().endswith(b"?/report.html")


@pytest.mark.parametrize("arguments", [["reproduce", "yale"], ["demo", "--people", "1"], ["dance"]])
def test_a_wrong_call_is_exit_code_2(arguments):
    assert run_main(*arguments).returncode == 2


@pytest.mark.data
def test_reproduce_yale_writes_rows_with_stable_keys_for_one_preset(tmp_path, yale_data):
    result = run_main(
        "reproduce", "yale", "--data", yale_data, "--preset", "paper",
        "--json", tmp_path / "rows.json", "--out", tmp_path / "out",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert all(list(row) == ROW_KEYS for row in rows)
    assert {row["dataset"] for row in rows} == {"yale"}
    assert {row["preset"] for row in rows} == {"paper"}
    assert {row["test"] for row in rows} == {"Test 1", "Test 2"}
    assert {row["subset"] for row in rows} == {1, 2, 3, 4, "all"}
    assert {row["method"] for row in rows} == {"R-CDT + NS", "log + R-CDT + NS"}
    assert {row["gallery"] for row in rows} == {"mean of 11", "authors", "all training photos"}
    assert "Test 2, R-CDT + NS" in result.stdout
    assert (tmp_path / "out" / "report.html").read_text().count("<table>") == 4
