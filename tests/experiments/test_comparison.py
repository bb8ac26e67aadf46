"""What the tables of a reproduction say, from rows made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.datasets.protocols import Protocol, Split
from lightproof.experiments.accuracies import rows_of
from lightproof.experiments.comparison import all_tables
from lightproof.experiments.measure import Measurement
from lightproof.experiments.methods import METHODS
from lightproof.experiments.plan import Experiment
from lightproof.experiments.published_accuracies import GUESSES
from lightproof.experiments.runner import Result

LABELS = np.repeat(["a", "b"], 20)
SPLIT = Split(np.array([0, 20]), {1: np.arange(1, 11), 2: np.arange(21, 31)})


def result(
    name,
    right,
    published=None,
    table="main",
    crop="full",
    change="",
    chosen="",
    galleries=1,
    gallery="some",
    **more,
):
    """A method with so many right answers of ten in each of two subsets."""
    method = METHODS[name].changed(change, **more)
    protocol = Protocol("Test", gallery, lambda faces: SPLIT)
    hits = [{s: np.arange(10) < r - i for s, r in zip((1, 2), right, strict=True)} for i in range(galleries)]
    known = dict(zip((1, 2), published, strict=True)) if published else {}
    experiment = Experiment("yale", table, method, [protocol] * galleries, gallery, crop, known)
    return Result(experiment, [SPLIT] * galleries, Measurement(hits, 1.0, {1: 0.5, 2: 0.5}, [chosen] * galleries))


def tables(*results):
    rows = [row for one in results for row in rows_of(one)]
    return {table.title: table for table in all_tables(results, rows, LABELS)}


def test_jittered_crops_have_a_table_that_says_what_they_are():
    found = tables(result("hog", (9, 9), (95.0, 95.0)), result("hog", (5, 3), table="jittered"))
    table = found["Test 2, jittered: accuracy in %"]
    assert table.head == ["method", "subset 1", "subset 2", "all [95 % interval]", "seconds"]
    assert [line[:3] for line in table.lines] == [["HoG + SVM", "50.0", "30.0"]]
    assert table.note.startswith("Every crop, enrolled or asked about, is cut again as a detector would cut it: each")
    assert "4 % of the eye distance" in table.note
    assert [line[1] for line in found["Test: accuracy in %"].lines] == ["90.0 (95.0: \N{MINUS SIGN}5.0)"]


def test_the_halves_of_the_people_have_tables_that_say_who_they_are():
    found = tables(
        result("rcdt", (5, 3), table="held-out people"), result("rcdt", (7, 8), table="people chosen on")
    )  # fmt: skip
    held_out, chosen_on = (found[f"Test 2, {who}: accuracy in %"] for who in ("held-out people", "people chosen on"))
    assert [line[:3] for line in held_out.lines] == [["R-CDT + NS", "50.0", "30.0"]]
    assert held_out.note.startswith("The settings were chosen without these people: only those with even numbers are")
    assert [line[:3] for line in chosen_on.lines] == [["R-CDT + NS", "70.0", "80.0"]]
    assert chosen_on.note.startswith("The other half, with odd numbers: the settings were chosen with these people in")


def test_the_published_figure_and_the_difference_stand_beside_ours():
    table = tables(result("weberface", (9, 7), (88.0, 72.5)))["Test: accuracy in %"]
    assert table.head == ["method", "subset 1", "subset 2", "all [95 % interval]", "order", "seconds"]
    line = table.lines[0]
    assert line[:3] == ["WeberFace + SVM", "90.0 (88.0: +2.0)", "70.0 (72.5: \N{MINUS SIGN}2.5)"]
    assert line[3].startswith("80.0 [58.4, 91.9]")
    assert line[5] == "2.0"


def test_the_order_is_ours_with_the_papers_in_parentheses():
    table = tables(result("weberface", (9, 9), (70, 70)), result("hog", (8, 8), (90, 90)), result("lbp", (10, 10)))[
        "Test: accuracy in %"
    ]
    assert {line[0]: line[4] for line in table.lines} == {
        "WeberFace + SVM": "1 (2)", "HoG + SVM": "2 (1)", "LBP + NN": "",
    }  # fmt: skip


def test_the_spread_over_the_galleries_is_shown():
    line = tables(result("hog", (9, 9), galleries=3))["Test: accuracy in %"].lines[0]
    assert line[1] == "80.0±10.0"


def test_full_frame_face_and_rim_stand_side_by_side():
    table = tables(result("hog", (9, 9)), result("hog", (8, 8), crop="interior"), result("hog", (3, 3), crop="outer"))[
        "Test: full frame, face and rim alone, all subsets, accuracy in %"
    ]
    assert table.lines == [["HoG + SVM", "90.0", "80.0", "30.0"]]
    assert "right in 50.0 %" in table.note


def test_methods_are_compared_with_ours_photo_by_photo_and_person_by_person():
    table = tables(result("hog", (4, 9)), result("log-rcdt", (10, 8)))["Test: is the difference more than chance?"]
    # Photos 5 to 10 of a only ours, photo 9 of b only theirs: 2 * (1 + 7) / 2**7.
    assert table.lines == [["HoG + SVM", "log + R-CDT + NS", "6", "1", "0.125", "1", "1", "1.000"]]


def test_methods_on_other_galleries_are_not_compared():
    found = tables(result("vgg16", (4, 9), gallery="authors"), result("log-rcdt", (10, 8)))
    assert "Test: is the difference more than chance?" not in found


def test_a_network_is_compared_with_ours_on_the_same_photo():
    found = tables(
        result("vgg16", (4, 9), gallery="authors"),
        result("log-rcdt", (10, 8)),
        result("log-rcdt", (9, 9), gallery="authors", table="details"),
    )
    assert found["Test: is the difference more than chance?"].lines[0][:4] == ["VGG-16", "log + R-CDT + NS", "5", "0"]


def test_what_was_chosen_is_listed():
    table = tables(result("hog", (4, 9), chosen="linear, C=1"))["What was chosen without a look at the test photos"]
    assert table.lines == [["HoG + SVM", "Test", "some", "full", "linear, C=1"]]


def test_a_row_within_five_points_needs_no_explanation():
    assert not any("points from" in title for title in tables(result("hog", (9, 9), (85.0, 95.0))))


def test_a_row_farther_off_lists_what_was_tried_and_how_near_it_came():
    found = tables(
        result("mslde", (9, 9), (80.0, 60.0)),
        result("mslde", (8, 7), (80.0, 60.0), table="explanations", change="8-bit smoothing"),
        result("mslde", (8, 6), (80.0, 60.0), table="own lights", gallery="own lights, mean of 11"),
        result("hog", (8, 6), (80.0, 60.0), table="explanations", change="128 x 128 pixels"),
    )
    table = found["Test, MSLDE + SVM: 30.0 points from the published figure"]
    assert table.lines == [
        ["published", "80.0", "60.0", ""],
        ["nothing", "90.0", "90.0", "30.0"],
        ["own lights, mean of 11", "80.0", "60.0", "0.0"],
        ["8-bit smoothing", "80.0", "70.0", "10.0"],
    ]
    assert table.note.startswith("Within 5 points everywhere: own lights, mean of 11. The changes were looked for with")


def test_a_row_nothing_explains_names_the_nearest_try_and_calls_a_guess_a_guess():
    title = "Test, MSLDE + SVM: 30.0 points from the published figure"
    far = result("mslde", (9, 9), (80.0, 60.0))
    tried = result("mslde", (8, 7), (80.0, 60.0), table="explanations", change="8-bit smoothing")
    farther = result("mslde", (8, 8), (80.0, 60.0), table="explanations", change="128 x 128 pixels")
    assert tables(far)[title].note == f"Nothing was tried. {GUESSES['mslde']}"
    said = f"None is within 5 points everywhere; nearest: 8-bit smoothing, 10.0. {GUESSES['mslde']} The changes were"
    assert tables(far, farther, tried)[title].note.startswith(said)


def test_a_line_that_is_not_as_usual_says_so():
    found = tables(
        result("hog", (9, 9)),
        result("lbp", (9, 9)),
        result("vgg16", (9, 9), gallery="authors", chosen="best of 3, cut short after 60 s"),
    )["Test: accuracy in %"]
    assert [line[0] for line in found.lines] == [
        "HoG + SVM", "LBP + NN", "VGG-16; the authors' photo; training cut short",
    ]  # fmt: skip


def test_a_frame_alone_has_its_table():
    table = tables(result("hog", (8, 8), crop="interior"))[
        "Test: full frame, face and rim alone, all subsets, accuracy in %"
    ]
    assert table.lines == [["HoG + SVM", "", "80.0", ""]]


def test_a_variant_of_ours_is_not_what_others_are_compared_with():
    found = tables(
        result("log-rcdt", (5, 5), table="details", change="8-bit smoothing"),
        result("hog", (4, 9)),
        result("log-rcdt", (10, 8)),
    )
    assert found["Test: is the difference more than chance?"].lines[0][2:4] == ["6", "1"]


@pytest.mark.parametrize(("smoothing", "column"), [("float", 1), ("8-bit", 2)])
def test_the_table_of_parameters_has_float_and_8_bit_in_one_line(smoothing, column):
    settings = {"cell": 8, "overlap": 0, "n_angles": 2, "smoothing": smoothing}
    table = tables(result("rcdt", (9, 9), table="parameters", change=f"2 angles, {smoothing}", **settings))[
        "Test 2, subset 4 by parameters: accuracy in %"
    ]
    assert table.lines[0][0] == "cell 8, overlap 0, 2 angles"
    assert table.lines[0][column] == "90.0"


def test_without_published_figures_nothing_is_said_of_them():
    table = tables(result("hog", (9, 9)), result("lbp", (8, 8)))["Test: accuracy in %"]
    assert table.head == ["method", "subset 1", "subset 2", "all [95 % interval]", "seconds"]
    assert "published" not in table.note
    assert "±" not in table.note


def test_methods_level_with_each_other_share_a_rank():
    """0.1 + 0.2 and 0.3 are the same mean, whatever floats say."""
    table = tables(result("hog", (9, 9), (10.1, 10.2)), result("mslde", (9, 9), (20.3, 0.0)))["Test: accuracy in %"]
    assert {line[4] for line in table.lines} == {"1 (1)"}
