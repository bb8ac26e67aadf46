"""The experiments on small rendered sets: what is counted, what is printed, what is drawn."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from lightproof.datasets import YALE_LIGHTS, make_relit_faces
from lightproof.datasets.protocols import yale_test_2
from lightproof.experiments.demo import METHODS, OURS, run_demo, why_not_second
from lightproof.experiments.paper import METHOD, YALE, YALE_OVERLAPS, YALE_PROJECTIONS
from lightproof.experiments.report import demo_page, yale_page
from lightproof.experiments.tables import demo_table, yale_tables
from lightproof.experiments.yale import Experiment, plan_yale, run, shrink
from lightproof.plots import overlay_map, png_of


@pytest.fixture(scope="module")
def people():
    return make_relit_faces(3, YALE_LIGHTS, size=(48, 42))


@pytest.fixture(scope="module")
def images(people):
    return {smoothing: shrink(people, smoothing) for smoothing in ("float", "8-bit")}


@pytest.fixture(scope="module")
def demo(people):
    return run_demo(people)


def test_the_mean_and_spread_are_over_the_galleries(people, images):
    protocols = [yale_test_2(pick) for pick in (0, 1, 2)]
    each = [
        {row.subset: row for row in run(Experiment(METHOD, "authors", [p], "one"), people, images).rows}
        for p in protocols
    ]
    together = run(Experiment(METHOD, "authors", protocols, "mean of 3"), people, images).rows
    assert [row.subset for row in together] == [1, 2, 3, 4, "all"]
    for row in together:
        alone = [rows[row.subset].accuracy for rows in each]
        assert row.accuracy == pytest.approx(np.mean(alone))
        assert row.std == pytest.approx(np.std(alone, ddof=1))
        assert row.n == {1: 30, 2: 54, 3: 36, 4: 39, "all": 159}[row.subset]
        assert all(rows[row.subset].std is None for rows in each)
        assert row.seconds > 0


def test_the_accuracy_of_all_weighs_every_probe_alike(people, images):
    rows = run(Experiment(METHOD, "authors", [yale_test_2(0)], "one"), people, images).rows
    *subsets, everything = rows
    assert everything.accuracy == pytest.approx(sum(r.accuracy * r.n for r in subsets) / everything.n)


def test_the_plan_holds_every_published_figure_once():
    plan = plan_yale(["authors", "paper"])
    titles = [(e.preset, e.protocols[0].name, e.method, e.gallery) for e in plan]
    assert len(set(titles)) == len(titles)
    cells = [e for e in plan if e.method.endswith("angles")]
    smoothed = [e for e in plan if e.method.endswith("angles, 8-bit smoothing")]
    published = [*YALE_PROJECTIONS[16].values(), *YALE_PROJECTIONS[8].values(), *YALE_PROJECTIONS[4].values()]
    published += [v for by in YALE_OVERLAPS.values() for overlap, v in by.items() if overlap]
    assert [e.published[4] for e in cells] == [e.published[4] for e in smoothed] == published
    assert len(YALE) == 4


def test_one_preset_alone_runs_no_other():
    assert {e.preset for e in plan_yale(["paper"])} == {"paper"}


def test_validation_is_noted(people, images):
    chosen = [e for e in plan_yale(["paper"]) if e.overrides.get("components") == "validate"][:1]
    assert "validation chose" in run(chosen[0], people, images).notes[0]


def test_tables_show_published_beside_ours(people, images):
    plan = [e for e in plan_yale(["authors"]) if e.gallery == "authors" and e.method == METHOD]
    plan += [e for e in plan_yale(["authors"]) if e.method.endswith("cell 8, overlap 0, 2 angles")]
    rows = [row for e in plan for row in run(e, people, images).rows]
    whole, single = yale_tables(rows)
    assert whole.lines[0] == ["published", "98.4", "95.5", "92.4", "91.8", ""]
    assert whole.lines[1][0] == "authors, the authors' photo"
    assert len(whole.lines[1]) == len(whole.head) == 6
    assert single.lines[0][0] == "cell 8, overlap 0, 2 angles"
    assert single.lines[0][2:] == ["", "62.4"]
    assert "cell 8, overlap 0, 2 angles" in yale_page(rows, ["a note"])


def test_the_demo_counts_every_probe_of_every_method(demo, people):
    assert len(demo.rows()) == len(METHODS) * 4
    for row in demo.rows():
        probes = demo.split.probes[row["severity"]]
        right = demo.answers[row["method"]][probes] == people.labels[probes]
        assert row["accuracy"] == pytest.approx(100 * right.mean())
    assert (people.azimuths[demo.split.gallery] == 0).all()
    assert (people.elevations[demo.split.gallery] == 0).all()


def test_the_patches_of_why_add_up_to_the_margin(demo, people):
    photo = int(demo.split.probes[2][0])
    first, second, favor = why_not_second(demo, photo)
    distances = dict(zip(demo.recognizer.classes_, demo.recognizer.distances(people.images[[photo]])[0], strict=True))
    assert first == demo.answers[OURS][photo]
    assert favor.shape == (21, 21)
    assert favor.sum() == pytest.approx(distances[second] - distances[first], rel=1e-3)


def test_names_are_escaped(people):
    strange = replace(people, labels=np.char.replace(people.labels, "person-00", "<b>Ann</b>"))
    page = demo_page(run_demo(strange), n_shown=3)
    assert "&lt;b&gt;Ann" in page
    assert "<b>Ann" not in page


def test_the_published_figures_are_those_of_the_paper():
    assert YALE["Test 1", "log + R-CDT + NS"] == (100.0, 98.9, 96.6, 95.7)
    assert YALE["Test 2", "log + R-CDT + NS"] == (98.9, 95.5, 95.5, 96.3)
    assert YALE["Test 1", METHOD] == (100.0, 98.8, 96.2, 94.4)
    assert YALE["Test 2", METHOD] == (98.4, 95.5, 92.4, 91.8)
    assert [YALE_PROJECTIONS[c][m] for c, m in ((16, 2), (8, 8), (4, 45))] == [35.1, 69.7, 89.3]
    assert [YALE_OVERLAPS[c][o] for c, o in ((8, 2), (4, 2))] == [73.2, 93.4]


def test_the_page_of_the_demo_shows_every_method(demo):
    page = demo_page(demo, n_shown=2)
    assert page.count("<figure") == 2 * 5 + 2 * 4
    for line in demo_table(demo).lines:
        assert all(cell in page for cell in line)


def test_a_picture_survives_encoding(rng):
    image = rng.integers(0, 256, (5, 7)).astype(np.uint8)
    decoded = np.asarray(Image.open(io.BytesIO(png_of(image, scale=2))))
    np.testing.assert_array_equal(decoded[::2, ::2], image)


def test_the_overlay_is_blue_where_patches_speak_for_and_red_where_against():
    mixed = overlay_map(np.full((40, 40), 128, np.uint8), np.array([[1.0, -1.0]])).astype(int)
    left, right = mixed[20, 3], mixed[20, 36]
    assert left[2] > left[0]
    assert right[0] > right[2]


def test_the_overlay_of_an_even_map_has_no_division_by_zero():
    assert overlay_map(np.zeros((8, 8), np.uint8), np.zeros((2, 2))).shape == (8, 8, 3)
