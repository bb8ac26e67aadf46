from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from lightproof import __version__, cli
from lightproof.datasets import make_relit_faces
from lightproof.datasets.protocols import YALE_LIGHTS
from lightproof.experiments.methods import METHODS
from tests.datasets.test_yale_b import fake_yale
from tests.scenes import compose, seat

pytestmark = pytest.mark.slow

ROW_KEYS = [
    "dataset", "test", "subset", "method", "preset", "gallery", "accuracy", "std", "n", "published", "seconds",
    "name", "table", "frame", "low", "high", "chosen", "alignment", "detector",
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
    assert {row["severity"] for row in rows} == {1, 2, 3, 4, 5}
    assert {row["kind"] for row in rows if row["severity"] == 5} == {"turned 25°"}
    assert {row["n"] for row in rows} == {30, 54, 36, 39, 18}
    best = {row["severity"]: row["accuracy"] for row in rows if row["method"] == "lightproof"}
    assert best[1] == 100


def test_a_folder_that_is_not_yale_is_one_sentence_and_exit_code_1(tmp_path):
    result = run_main(
        "reproduce", "yale", "--data", tmp_path, "--json", tmp_path / "rows.json", "--out", tmp_path / "o"
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.strip().splitlines()[-1].startswith(f"lightproof: {tmp_path} must be the CroppedYale folder")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "rows.json").exists()


def test_an_incomplete_yale_folder_says_what_is_missing(tmp_path):
    result = run_main("reproduce", "yale", "--data", fake_yale(tmp_path), "--out", tmp_path / "o")
    assert result.returncode == 1
    assert "2410 missing: yaleB01/yaleB01_P00A+000E+20.pgm" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("reproduce yael", "cas-peal, orl, lfw, folder, rendered, all; got 'yael'. Did you mean 'yale'?"),
        ("reproduce yale --methods hogg", "; got 'hogg'. Did you mean 'hog'?"),
        ("reproduce yale --frames inner", "one of full, interior, outer; got 'inner'. Did you mean 'interior'?"),
        ("reproduce yale --budget -1", "`budget` of reproduce must be more than 0 minutes; got -1.0."),
        ("reproduce yale --preset autors", "; got 'autors'. Did you mean 'authors'?"),
        ("reproduce yale --preset ,", "The preset must be one of robust, fast, authors, paper"),
        (
            "reproduce yale --preset authors --methods rcdt",
            "`preset` of reproduce must be given without --methods and --deep; got 'authors'.",
        ),
        (
            "reproduce yale --preset paper --deep",
            "`preset` of reproduce must be given without --methods and --deep; got 'paper'.",
        ),
        ("reproduce yale --preset paper --budget 5", "with --deep or a network among --methods; got 5.0."),
        ("reproduce yale --jobs 0", "`jobs` of reproduce must be a number of processes, or -1 for one a core; got 0."),
        ("reproduce yale --budget 5", "given together with --deep or a network among --methods; got 5.0."),
        ("reproduce yale --budget inf", "`budget` of reproduce must be more than 0 minutes; got inf."),
        ("reproduce yale --frames ,", "one of full, interior, outer; got ','."),
        ("reproduce yale", "`--data` of yale must be the folder with yale; got None."),
        ("reproduce folder", "`--data` of folder must be the folder with your photos; got None."),
        ("reproduce ar --cropped", "`cropped` of reproduce must be given for the table folder alone; got 'ar'."),
        ("sweep --cropped", "`cropped` of sweep must be given for the table folder alone; got 'rendered'."),
        ("reproduce ar --end-to-end", "must be given for one of the tables yale, rendered, orl, lfw; got 'ar'."),
        ("reproduce ar --open-set", "must be given for one of the tables yale, rendered, orl, lfw; got 'ar'."),
        ("reproduce lfw --deep", "`lfw` of reproduce must be given without --deep and --frames; got"),
        ("reproduce orl", "`--data` of orl must be the folder with orl; got None."),
        ("reproduce yale --end-to-end --frames full", "must be given without --deep and --frames; got"),
        ("sweep --cells 4,128", "`cells` of sweep must be at most 64, the side of the picture; got '4,128'."),
        (
            "sweep rended",
            "The data set must be one of yale, ar, cas-peal, orl, lfw, folder, rendered; got 'rended'. Did you mean",
        ),
        ("sweep --lights logg", "The light must be one of none, log, tan-triggs; got 'logg'. Did you mean 'log'?"),
        ("sweep --cells 4,x", "`cells` of sweep must be whole numbers of at least 2, with commas; got '4,x'."),
        ("sweep --cells 4 --overlaps 4,5", "must be smaller than the largest of the cells; got '4,5'."),
    ],
)
def test_a_wrong_word_is_one_sentence_before_anything_is_read(tmp_path, arguments, sentence, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lightproof", *arguments.split()])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    result = run_main("demo", "--people", 2, "--out", tmp_path / "taken")
    assert result.returncode == 1
    assert (
        result.stderr.strip()
        == f"lightproof: {tmp_path / 'taken'} must be a place that can be written; got: File exists."
    )


def test_a_place_for_the_figures_is_checked_before_the_work(tmp_path):
    for command in (["demo", "--out", tmp_path], ["reproduce", "yale", "--data", tmp_path], ["sweep"]):
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


@pytest.mark.parametrize("arguments", [["reproduce", "--dance"], ["demo", "--people", "1"], ["dance"]])
def test_a_wrong_call_is_exit_code_2(arguments):
    assert run_main(*arguments).returncode == 2


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """Four people with four photos each as files, and some junk."""
    folder = tmp_path_factory.mktemp("album")
    faces = make_relit_faces(4, [(0, 0), (20, 10), (50, 0), (-35, 15)], size=(64, 56))
    for image, name, file in zip(faces.images, faces.labels, faces.files, strict=True):
        (folder / name).mkdir(exist_ok=True)
        Image.fromarray(image).save(folder / name / f"{file.rpartition('/')[2]}.png")
    (folder / "person-00" / "broken.jpg").write_bytes(b"not a picture")
    (folder / "person-00" / "Thumbs.db").write_bytes(b"junk")
    return folder


def test_a_users_own_folder_is_compared_and_broken_pictures_are_counted(album, tmp_path):
    out = tmp_path / "out"
    result = run_main(
        "reproduce", "folder", "--cropped", "--data", album, "--methods", "hog,lbp,log-rcdt", "--jobs", 1,
        "--out", out, "--json", tmp_path / "rows.json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "folder: 16 photos; left out: 1 not a picture, 1 not a readable picture" in result.stderr
    assert "person-00/broken.jpg: not a readable picture" in result.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert all(list(row) == ROW_KEYS for row in rows)
    assert {row["name"] for row in rows} == {"hog", "lbp", "log-rcdt"}
    assert {row["frame"] for row in rows} == {"full", "interior", "outer"}
    assert {row["n"] for row in rows} == {12}
    assert json.loads((out / "rows.json").read_text()) == rows
    assert {path.name for path in out.iterdir()} == {
        "cache", "figures", "report.html", "report.md", "rows.csv", "rows.json",
    }  # fmt: skip
    assert "log + R-CDT + NS" in result.stdout


def test_rows_for_machines_go_to_stdout_alone(album, tmp_path):
    call = ["reproduce", "folder", "--cropped", "--data", album, "--methods", "hog", "--frames", "full", "--jobs", 1]
    result = run_main(*call, "--out", tmp_path / "out", "--json", "-")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == json.loads((tmp_path / "out" / "rows.json").read_text())


def test_end_to_end_finds_the_faces_first_and_says_so(photos_extra, tmp_path, monkeypatch, capsys):
    few = make_relit_faces(3, [(a, e) for a, e in YALE_LIGHTS if abs(a) < 30 or abs(a) > 100], size=(192, 168))
    monkeypatch.setattr("lightproof.experiments.demonstration.render_people", lambda *_: few)
    monkeypatch.chdir(tmp_path)
    call = "lightproof reproduce rendered --end-to-end --methods hog,fast --jobs 1 --json rows.json --out out"
    monkeypatch.setattr(sys, "argv", call.split())
    with pytest.raises(SystemExit, match="0"):
        cli.main()
    rows = json.loads(Path("rows.json").read_text())
    assert all(list(row) == ROW_KEYS for row in rows)
    assert {(row["table"], row["alignment"], row["detector"]) for row in rows} == {
        ("end to end", "found", "blazeface + mesh")
    }
    said = capsys.readouterr().out
    assert "Rendered faces, end to end" in said
    assert "Faces found" in said
    assert "Test 2, end to end: accuracy in %" in said
    assert "--end-to-end" in Path("out/report.md").read_text()


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """LFW with four rendered people, each in three photos, and one photo of nobody at all."""
    folder = tmp_path_factory.mktemp("snapshots") / "LFW"
    for name, sitter in zip(("Ada", "Ben", "Cleo", "Dan"), seat(4, (0.0, 50.0)), strict=True):
        (folder / name).mkdir(parents=True)
        for i, azimuth in enumerate((0.0, 50.0, 50.0), 1):
            photo = compose(sitter, (250, 250), 50.0, middle=125 + 110j, azimuth=azimuth, seed=i).photo
            Image.fromarray(photo).save(folder / name / f"{name}_{i:04d}.jpg", quality=95)
    Image.new("RGB", (250, 250), "grey").save(folder / "Dan" / "Dan_0003.jpg")
    return folder.parent


def test_photos_are_searched_and_people_named_by_their_first_photo(photos_extra, snapshots, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = ["reproduce", "lfw", "--data", str(snapshots), "--methods", "hog,fast", "--jobs", "1", "--json", "rows.json"]
    result = CliRunner().invoke(cli.app, call)
    assert result.exit_code == 0, result.output
    rows = json.loads(Path("rows.json").read_text())
    assert all(list(row) == ROW_KEYS for row in rows)
    assert {(row["dataset"], row["table"], row["alignment"]) for row in rows} == {("lfw", "main", "found")}
    assert {row["gallery"] for row in rows} == {"first photo"}
    # Of eight probes one shows nobody; that is a mistake.
    found = {row["accuracy"]: row["n"] for row in rows if row["name"] == "fast" and row["n"] == 8}
    assert found == {100 * 7 / 8: 8}
    assert "One photo: accuracy in %" in result.output
    assert "91.67" in result.output  # 11 of 12 faces are found
    report = Path("lightproof-reproduce/lfw/report.md").read_text()
    assert "## Labeled Faces in the Wild, end to end\n\n4 people, 12 photos. One photo: first photo enrolled" in report
    assert "lightproof reproduce lfw --data FOLDER --methods hog,fast." in report


def test_strangers_on_photos_are_asked_for_by_one_command(photos_extra, snapshots, tmp_path):
    call = ["reproduce", "lfw", "--data", str(snapshots), "--preset", "fast", "--open-set", "--jobs", "1"]
    result = CliRunner().invoke(cli.app, [*call, "--json", str(tmp_path / "rows.json")])
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["far"] for row in rows} == {0.01, 0.001, None}
    assert {(row["dataset"], row["people"], row["galleries"]) for row in rows} == {("lfw", "all", 20)}
    assert "Half of the people enrolled with one photo, the others strangers; 20 draws." in result.output


def test_brackets_in_a_name_are_no_markup(album, tmp_path):
    few = ["--methods", "hog", "--frames", "interior", "--jobs", 1]
    call = ["reproduce", "folder", "--cropped", "--data", album, *few]
    result = run_main(*call, "--out", "[red]x[", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"The report with figures: {Path('[red]x[') / 'report.html'}" in result.stdout
    assert "face and rim alone" in result.stdout


def test_the_budget_is_in_minutes_and_stands_in_the_report():
    from lightproof.cli.research import Reproduction, trained

    assert trained(METHODS["vgg16"], 1.5, "cuda").settings["budget"] == 90
    assert trained(METHODS["vgg16"], None, "cpu").settings["budget"] is None
    assert trained(METHODS["hog"], 1.5, "cuda") is METHODS["hog"]
    asked = Reproduction("yale", methods="vgg16", frames="full", deep=True, budget=1.5, device="cuda")
    assert asked.as_typed() == (
        "lightproof reproduce yale --data FOLDER --methods vgg16 --frames full --deep --budget 1.5 --device cuda"
    )


@pytest.mark.long
def test_a_preset_is_run_in_all_its_methods_and_stands_in_the_report(album, tmp_path):
    result = run_main(
        "reproduce", "folder", "--cropped", "--data", album, "--preset", "paper", "--jobs", 1,
        "--out", tmp_path / "out", "--json", tmp_path / "rows.json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["name"] for row in rows} == {"rcdt-text", "log-rcdt-text"}
    assert {row["preset"] for row in rows} == {"paper"}
    assert {row["frame"] for row in rows} == {"full", "interior", "outer"}
    assert {row["alignment"] for row in rows} == {"by hand"}
    command = "lightproof reproduce folder --data FOLDER --preset paper --cropped."
    assert command in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.long
def test_a_second_run_comes_from_the_cache_and_writes_the_same_report(album, tmp_path):
    call = ["reproduce", "folder", "--cropped", "--data", album, "--methods", "hog", "--out", tmp_path / "out"]
    assert run_main(*call).returncode == 0
    first = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert run_main(*call).returncode == 0
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == first


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_ctrl_c_keeps_what_is_finished_and_the_next_run_goes_on(album, tmp_path):
    out = tmp_path / "out"
    asked = ["reproduce", "folder", "--cropped", "--data", str(album), "--out", str(out)]
    call = [sys.executable, "-m", "lightproof", *asked]
    process = subprocess.Popen(
        [*call, "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job may ignore it
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(out.glob("cache/*.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert f"Stopped. What is finished is kept in {out / 'cache'}; the same command goes on from there." in said
    assert "Traceback" not in said
    finished = {path: path.stat().st_mtime_ns for path in out.glob("cache/*.json")}
    assert finished
    assert subprocess.run(call, capture_output=True, check=False).returncode == 0
    every = set(out.glob("cache/*.json"))
    assert set(finished) < every
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    rows = json.loads((out / "rows.json").read_text())
    assert len(rows) == 3 * 14


def test_an_interrupt_before_anything_is_finished_says_so(tmp_path, capsys):
    from lightproof.cli.command import stoppable
    from lightproof.cli.research import kept_in

    with pytest.raises(typer.Exit), stoppable(lambda: kept_in(tmp_path / "cache")):
        raise KeyboardInterrupt
    assert "Stopped. Nothing was finished yet; the same command goes on from there." in capsys.readouterr().err


def test_each_table_has_a_folder_of_its_own(album, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ["--methods", "hog", "--frames", "full", "--jobs", "1"]
    call = ["reproduce", "folder", "--cropped", "--data", str(album), *few]
    assert CliRunner().invoke(cli.app, call).exit_code == 0
    assert (tmp_path / "lightproof-reproduce" / "folder" / "report.html").is_file()


@pytest.mark.parametrize("photos", [{"ann": 3}, {"ann": 1, "bob": 1}])
def test_a_folder_with_one_person_or_one_photo_each_is_refused(tmp_path, photos, album):
    picture = next(album.rglob("*.png")).read_bytes()
    for name, count in photos.items():
        for i in range(count):
            (tmp_path / "data" / name).mkdir(parents=True, exist_ok=True)
            (tmp_path / "data" / name / f"{i}.png").write_bytes(picture)
    result = run_main("reproduce", "folder", "--cropped", "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert result.returncode == 1
    assert "two or more people" in result.stderr
    assert "Traceback" not in result.stderr


def test_all_runs_what_is_there_and_says_what_is_missing(tmp_path):
    result = run_main("reproduce", "all", "--data", tmp_path, "--out", tmp_path / "out")
    assert result.returncode == 1
    for words in ("CroppedYale", "AR", "CAS-PEAL"):
        assert words in result.stderr
    assert result.stdout == ""


def test_networks_without_their_extra_give_the_pip_line(album, tmp_path):
    hide = "import sys; sys.modules['pytorchcv'] = None; from lightproof.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", hide, "reproduce", "folder", "--cropped", "--data", str(album), "--methods", "resnet50",
         "--jobs", "1", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "pip install 'lightproof[deep]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_sweep_prints_a_table_and_draws_a_map(album, tmp_path):
    result = run_main(
        "sweep", "folder", "--cropped", "--data", album, "--cells", "4,8", "--overlaps", "0", "--angles", "2,4",
        "--lights", "log",
        "--jobs", 1, "--out", tmp_path / "out", "--json", tmp_path / "rows.json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "light log: accuracy in %" in result.stdout
    assert "cell 8, overlap 0" in result.stdout
    assert (tmp_path / "out" / "report.html").read_text().count("data:image/png") == 1
    assert len(json.loads((tmp_path / "rows.json").read_text())) == 4


@pytest.mark.data
def test_reproduce_yale_prints_the_published_figures_beside_ours(tmp_path, yale_data):
    result = run_main(
        "reproduce", "yale", "--data", yale_data, "--methods", "rcdt-text", "--frames", "full",
        "--json", tmp_path / "rows.json", "--out", tmp_path / "out",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["dataset"] for row in rows} == {"yale"}
    assert {row["test"] for row in rows} == {"Test 1", "Test 2"}
    assert {row["subset"] for row in rows} == {1, 2, 3, 4, "all"}
    assert {row["method"] for row in rows} == {"R-CDT + NS, text to the letter"}
    assert {row["gallery"] for row in rows} == {
        "mean of 11", "own lights, mean of 11", "jittered, mean of 11", "authors", "all training photos",
    }  # fmt: skip
    assert "Test 2: accuracy in %" in result.stdout


@pytest.mark.data
def test_reproduce_yale_runs_the_whole_protocol_of_a_preset(tmp_path, yale_data, monkeypatch):
    """What is asked, not what comes of it: the runs themselves would take minutes."""
    plans = []
    monkeypatch.setattr("lightproof.experiments.runner.run_all", lambda plan, *rest: plans.append(plan) or [])
    monkeypatch.setattr("lightproof.experiments.reproduction_report.reports", lambda *arguments: iter([]))
    call = ["reproduce", "yale", "--data", str(yale_data), "--preset", "authors", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.app, [*call, "--json", str(tmp_path / "rows.json")])
    assert result.exit_code == 0, result.output
    (plan,) = plans
    assert {e.method.name for e in plan} == {"rcdt", "log-rcdt"}
    asked = {(e.test, e.gallery, e.crop, e.alignment) for e in plan if e.table in ("main", "jittered")}
    assert asked == {
        *(("Test 1", "all training photos", frame, "by hand") for frame in ("full", "interior", "outer")),
        *(("Test 2", "mean of 11", frame, "by hand") for frame in ("full", "interior", "outer")),
        ("Test 2", "jittered, mean of 11", "full", "jittered"),
    }
