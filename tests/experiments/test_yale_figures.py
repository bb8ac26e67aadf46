"""The figures of Extended Yale B, on the real photos."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.experiments.yale import plan_yale, run, shrink

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def images(yale):
    return {smoothing: shrink(yale, smoothing) for smoothing in ("float", "8-bit")}


@pytest.fixture(scope="module")
def found(yale, images):
    """Run an experiment by preset, test, method and gallery; give its accuracies for subsets 1 to 4."""
    plan = {(e.preset, e.protocols[0].name, e.method, e.gallery): e for e in plan_yale(["authors", "paper"])}

    def figures(*key):
        rows = run(plan[key], yale, images).rows
        return [row.accuracy for row in rows if row.subset != "all"]

    return figures


def test_one_photo_mean_over_all_gallery_lights(found):
    measured = found("authors", "Test 2", "R-CDT + NS", "mean of 11")
    np.testing.assert_allclose(measured, [99.1, 95.0, 92.8, 94.9], atol=0.5)


def test_one_photo_with_log_mean_over_all_gallery_lights(found):
    measured = found("authors", "Test 2", "log + R-CDT + NS", "mean of 11")
    np.testing.assert_allclose(measured, [99.4, 97.0, 94.9, 96.7], atol=0.5)


def test_the_authors_photo_in_float_arithmetic(found):
    assert found("authors", "Test 2", "R-CDT + NS", "authors")[3] == pytest.approx(96.7, abs=0.3)


def test_the_authors_photo_smoothed_in_8_bits_comes_down_to_the_published_figure(found):
    measured = found("authors", "Test 2", "R-CDT + NS, 8-bit smoothing", "authors")
    assert measured[3] == pytest.approx(91.0, abs=0.3)
    np.testing.assert_allclose(measured, [98.4, 95.5, 92.4, 91.8], atol=1.0)


def test_without_the_normalization_the_darkest_subset_is_lost(found):
    assert found("authors", "Test 2", "R-CDT + NS, plain sum", "authors")[3] == pytest.approx(46.9, abs=0.5)


def test_all_training_photos_with_validated_components(found):
    measured = found("authors", "Test 1", "R-CDT + NS", "all training photos")
    np.testing.assert_allclose(measured, [100, 99.3, 98.9, 99.2], atol=0.3)


def test_smaller_cells_and_more_overlap_help_as_in_the_paper(found):
    def subset_4(cell, overlap):
        return found("authors", "Test 2", f"R-CDT + NS, cell {cell}, overlap {overlap}, 4 angles", "authors")[0]

    by_cell = [subset_4(cell, 0) for cell in (16, 8, 4)]
    by_overlap = [subset_4(4, overlap) for overlap in (0, 1, 2)]
    assert by_cell == sorted(by_cell)
    assert by_overlap == sorted(by_overlap)
