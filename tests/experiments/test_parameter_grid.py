from __future__ import annotations

import pytest

from lightproof.experiments.cache import Cache
from lightproof.experiments.parameter_grid import Grid, plan_sweep, sweep_page, sweep_tables, sweep_values
from lightproof.experiments.runner import run_all

pytestmark = pytest.mark.slow

GRID = Grid(cells=[8, 2], overlaps=[0, 4], angles=[2, 3], lights=["none", "log"])


@pytest.fixture(scope="module")
def results(people, tmp_path_factory):
    return run_all(plan_sweep("rendered", people, GRID), people, Cache(tmp_path_factory.mktemp("cache")))


def test_every_combination_is_run_but_overlaps_as_large_as_the_cell(people):
    plan = plan_sweep("rendered", people, GRID)
    found = [tuple(e.method.settings[k] for k in ("light", "cell", "overlap", "n_angles")) for e in plan]
    places = [(8, 0), (8, 4), (2, 0)]
    assert found == [(light, *place, m) for light in ("none", "log") for place in places for m in (2, 3)]
    assert {e.test for e in plan} == {"Test 2"}


def test_each_light_has_a_table_with_the_accuracy_of_all_subsets(results):
    tables = list(sweep_tables(results, GRID))
    assert [table.title.split(":")[0] for table in tables] == ["light none", "light log"]
    for table, light in zip(tables, GRID.lights, strict=True):
        values, places = sweep_values(results, GRID, light)
        assert [line[0] for line in table.lines] == places == [
            "cell 8, overlap 0", "cell 8, overlap 4", "cell 2, overlap 0",
        ]  # fmt: skip
        for line, row in zip(table.lines, values, strict=True):
            assert [cell.split("±")[0] for cell in line[1:]] == [f"{value:.1f}" for value in row]


def test_the_page_has_a_map_for_each_light(results):
    page = sweep_page(results, GRID, "<rendered>")
    assert page.count("data:image/png") == 2
    assert "<rendered>" not in page
