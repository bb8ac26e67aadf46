"""A probe that lies askew is found again; one that does not is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof import FaceRecognizer
from lightproof.datasets import make_relit_faces
from lightproof.estimators import alignment_search
from lightproof.estimators.alignment_search import REACH, AlignmentSearch
from lightproof.method.aggregate import SHARPNESS, bounded
from lightproof.method.patches import PatchGrid
from lightproof.method.subspace_bank import length_weights, relative_residuals
from lightproof.method.warps import moved, warp

MOVES = (2 * REACH + 1) ** 2
GRIDS = [PatchGrid(96, 84, 6, 3), PatchGrid(64, 64, 4, 1), PatchGrid(24, 21, 6, 3), PatchGrid(6, 6, 6, 0)]
KINDS = [(2, (5, 4)), (1, (8, 6)), (1, (1, 1)), (3, (2, 7))]

within_range = st.tuples(*[st.floats(-reach, reach) for reach in alignment_search.SEARCH_RANGE])
many_similarities = st.lists(within_range, min_size=1, max_size=5).map(np.array)
any_parts = st.builds(
    lambda grid, kind: alignment_search._Parts(grid, *kind), st.sampled_from(GRIDS), st.sampled_from(KINDS)
)

ASKEW = np.array(
    [(0.04, -0.03, 0.06, -0.08), (-0.03, 0.05, -0.05, 0.06), (0.0, 0.04, 0.1, 0.1), (0.05, 0.0, 0.0, -0.1)]
)


@pytest.fixture(scope="module")
def people():
    """Eight people, a frontal photo and one lit from a side, of the size that the preset takes."""
    return make_relit_faces(8, [(0, 0), (35, 15)], size=(96, 84))


@pytest.fixture(scope="module")
def gallery(people):
    return people.take(people.azimuths == 0)


@pytest.fixture(scope="module")
def side(people):
    return people.take(people.azimuths != 0)


@pytest.fixture(scope="module")
def searching(gallery):
    return FaceRecognizer("robust", search="similarity").fit(gallery.images, gallery.labels)


@pytest.fixture(scope="module")
def resting(gallery):
    return FaceRecognizer("robust", search="none").fit(gallery.images, gallery.labels)


def askew(images, similarities=ASKEW):
    each = np.resize(similarities, (len(images), 4))
    return np.clip(warp(images / 255.0, each), 0, 1)


def parts_of(grid, kind):
    return alignment_search._Parts(grid, *kind)


def own_distance(recognizer, images, labels):
    places = np.searchsorted(recognizer.classes_, labels)
    return recognizer.distances(images)[np.arange(len(images)), places]


def clear_probes(resting, probes):
    two = np.sort(resting.distances(probes), axis=1)[:, :2]
    return two[:, 1] - two[:, 0] >= alignment_search.CLEAR_LEAD * resting.grid_.n_patches


# Parts and their maps.


@given(any_parts, many_similarities, st.integers(0, 2**32 - 1))
def test_the_interpolation_matrix_reads_off_what_reading_off_does(parts, similarities, seed):
    maps = np.random.default_rng(seed).random((3, len(parts.middles) * MOVES), np.float32)
    by_matrix = maps @ parts.interpolation(similarities).T
    found = parts.read_off(maps, np.broadcast_to(similarities, (3, *similarities.shape)))
    assert_allclose(found, by_matrix, rtol=1e-5)


@given(any_parts, many_similarities)
def test_every_part_is_read_once(parts, similarities):
    matrix = parts.interpolation(similarities)
    assert matrix.min() >= 0
    each = matrix.reshape(len(similarities), len(parts.middles), MOVES).sum(axis=2)
    assert_allclose(each, 1, rtol=1e-5)
    assert_allclose(matrix.sum(axis=1), len(parts.middles), rtol=1e-5)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_move_reads_the_middle_of_every_map(grid, kind):
    parts = parts_of(grid, kind)
    matrix = parts.interpolation(np.zeros((1, 4))).reshape(-1, MOVES)
    expected = np.zeros_like(matrix)
    expected[:, MOVES // 2] = 1
    assert_array_equal(matrix, expected)


@pytest.mark.parametrize(("right", "down"), [(1, 0), (-2, 0), (0, 3), (2, -1)])
def test_a_move_by_strides_reads_the_map_beside_the_middle(right, down):
    grid = PatchGrid(96, 84, 6, 3)
    parts = parts_of(grid, (1, (8, 6)))
    similarity = np.array([[right * 3 / 96, down * 3 / 96, 0, 0]])
    matrix = parts.interpolation(similarity).reshape(-1, 2 * REACH + 1, 2 * REACH + 1)
    assert_allclose(matrix[:, REACH + down, REACH + right], 1, atol=1e-5)


@given(within_range.map(np.array))
def test_maps_are_read_off_where_the_similarity_takes_the_parts(similarity):
    """A map that holds its own coordinates gives the coordinates back: the interpolation is linear."""
    grid = PatchGrid(96, 84, 6, 3)
    parts = parts_of(grid, (2, (5, 4)))
    axis = np.arange(-REACH, REACH + 1)
    strides = (moved(parts.middles, similarity) - parts.middles) * 96 / 3
    matrix = parts.interpolation(similarity[None]).reshape(len(parts.middles), 2 * REACH + 1, 2 * REACH + 1)
    assert_allclose(matrix.sum(axis=1) @ axis, np.clip(strides.real, -REACH, REACH), atol=2e-3)
    assert_allclose(matrix.sum(axis=2) @ axis, np.clip(strides.imag, -REACH, REACH), atol=2e-3)


def test_the_middles_of_the_parts_are_the_means_of_their_patches():
    grid = PatchGrid(24, 21, 6, 3)  # 7 x 6 patches, whose middles lie 3 pixels apart
    parts = parts_of(grid, (1, (2, 3)))
    assert parts.down.tolist() == [0, 3]
    assert parts.across.tolist() == [0, 2, 4]
    # The picture's middle is at row 11.5, column 10; the patches' middles at rows 2.5, 5.5, ..., 20.5.
    rows = np.array([5.5 - 11.5, 16 - 11.5]) / 24
    columns = np.array([4.0 - 10, 10 - 10, 16 - 10]) / 24
    assert_allclose(parts.middles, (columns + 1j * rows[:, None]).ravel(), atol=1e-12)


def test_parts_without_a_gap_hold_every_patch_and_others_every_second_of_every_second_row():
    grid = PatchGrid(24, 21, 6, 3)
    assert parts_of(grid, (1, (8, 6))).patches.tolist() == list(range(42))
    rows = [row * 6 + column for row in (0, 2, 4, 6) for column in (0, 2, 4)]
    assert parts_of(grid, (2, (5, 4))).patches.tolist() == rows


def test_closeness_is_the_loop_over_parts_moves_and_people(rng):
    grid = PatchGrid(24, 21, 6, 3)
    for kind in KINDS:
        parts = parts_of(grid, kind)
        around = rng.normal(size=(grid.rows + 2 * REACH, grid.columns + 2 * REACH, 5))
        around /= np.linalg.norm(around, axis=2, keepdims=True)
        bases = rng.normal(size=(len(parts.patches), 5, 3))
        bases /= np.linalg.norm(bases, axis=1, keepdims=True)
        expected = np.zeros((len(parts.down), len(parts.across), MOVES, 3))
        for i, row in enumerate(parts.rows):
            for j, column in enumerate(parts.columns):
                part = np.flatnonzero(parts.down <= i)[-1], np.flatnonzero(parts.across <= j)[-1]
                near = around[row : row + 2 * REACH + 1, column : column + 2 * REACH + 1].reshape(MOVES, 5)
                cosine = near @ bases[i * len(parts.columns) + j]
                expected[part] += np.exp(-SHARPNESS * np.sqrt(1 - cosine**2))
        assert_allclose(parts.closeness(around, bases), expected.reshape(-1, MOVES, 3), rtol=1e-8)


def test_closeness_is_what_a_patch_does_not_add():
    cosine = np.array([0.0, 0.3, -0.8, 1.0])
    expected = 1 - bounded(np.sqrt(1 - cosine**2)[:, None, None]).ravel()
    assert_allclose(alignment_search._closeness(cosine.copy()), expected, rtol=1e-12)


@pytest.mark.slow
def test_the_surroundings_hold_the_features_of_every_patch_as_unit_vectors(searching, gallery):
    finder, extractor = searching._search, searching._extractor
    picture = extractor.unlit(gallery.images[:1])
    around, grid = finder._surroundings(picture[0]), extractor.grid_
    vectors = extractor.describe(picture)[0].reshape(grid.rows, grid.columns, -1)
    inside = around[REACH:-REACH, REACH:-REACH]
    assert inside.shape == vectors.shape
    units = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    # The gradient at the border needs a pixel beyond it, which is another one in a larger picture.
    assert_allclose(inside[1:-1, 1:-1], units[1:-1, 1:-1], atol=1e-4)
    moved_by_a_stride = extractor.describe(warp(picture, np.array([[3 / 96, 0, 0, 0]])))[0].reshape(vectors.shape)
    units = moved_by_a_stride / np.linalg.norm(moved_by_a_stride, axis=2, keepdims=True)
    assert_allclose(around[REACH:-REACH, REACH + 1 : -REACH + 1][2:-2, 2:-3], units[2:-2, 2:-3], atol=1e-4)


# The search as a whole.


@pytest.mark.slow
def test_sines_of_the_search_are_the_relative_distances(searching, side):
    stack, extractor = searching._people.stack, searching._extractor
    vectors = extractor.patch_vectors(side.images[:3])
    expected = relative_residuals(vectors, stack)
    bases = stack.take(np.arange(stack.n_people), stack.depth)
    for i in range(3):
        same_probe = np.repeat(vectors[i : i + 1], stack.n_people, axis=0)
        assert_allclose(alignment_search._sines(same_probe, bases), expected[:, i].T, atol=2e-3)


def test_each_probe_of_the_search_is_compared_with_its_own_person(rng):
    bases = np.linalg.qr(rng.normal(size=(3, 4, 6, 2)))[0]  # of 3 people in 4 patches
    vectors = rng.normal(size=(3, 4, 6))
    expected = np.empty((3, 4))
    for p, k in np.ndindex(3, 4):
        x, basis = vectors[p, k], bases[p, k]
        expected[p, k] = np.linalg.norm(x - basis @ (basis.T @ x)) / np.linalg.norm(x)
    assert_allclose(alignment_search._sines(vectors, bases.transpose(1, 2, 3, 0)), expected, rtol=1e-10)


def test_a_vector_of_0_is_at_a_distance_of_1_in_the_search_too(rng):
    basis = np.linalg.qr(rng.normal(size=(4, 6, 2)))[0]
    vectors = rng.normal(size=(1, 4, 6))
    vectors[0, 2] = 0
    (found,) = alignment_search._sines(vectors, basis[..., None])
    assert found[2] == 1
    assert (found[[0, 1, 3]] < 1).all()


def test_a_probe_that_lies_askew_is_named_and_comes_nearer_to_its_person(searching, resting, side):
    probes = askew(side.images)
    assert searching.score(probes, side.labels) == 1.0
    before, after = (own_distance(r, probes, side.labels) for r in (resting, searching))
    assert resting.score(probes, side.labels) < 1.0
    # The others are clear, and are left where they are.
    unclear = ~clear_probes(resting, probes)
    assert unclear.mean() >= 0.5
    assert (after[unclear] < 0.95 * before[unclear]).all()


def test_the_similarity_found_is_the_one_that_was_done(searching, gallery):
    """The probe of a similarity is brought back by its inverse: z -> -move / turn + z / turn."""
    finder = searching._search
    extractor, stack = searching._extractor, searching._people.stack
    pool = alignment_search._Pool(stack, np.arange(stack.n_people), finder._large)
    pictures = extractor.unlit(gallery.images[:4])
    for person, (picture, done) in enumerate(zip(pictures, ASKEW, strict=True)):
        around = finder._surroundings(warp(picture[None], done[None])[0])
        maps = finder._small.closeness(around, pool.first)
        scores = finder._weights @ finder._large.closeness(around, pool.large).reshape(-1, stack.n_people)
        winners, found = finder._climb(maps, finder._tried[scores.argmax(axis=0)])
        assert winners[0] == person
        turn = np.exp(done[2] + 1j * done[3])
        back = -(done[0] + 1j * done[1]) / turn
        assert_allclose(found[0], [back.real, back.imag, -done[2], -done[3]], atol=0.025)


def test_climbing_never_ends_below_its_start(searching, side):
    finder = searching._search
    stack = searching._people.stack
    pool = alignment_search._Pool(stack, np.arange(stack.n_people), finder._large)
    around = finder._surroundings(searching._extractor.unlit(side.images[:1])[0])
    maps = finder._small.closeness(around, pool.first)
    starts = finder._tried[:: len(finder._tried) // stack.n_people][: stack.n_people]
    by_person = maps.reshape(-1, stack.n_people).T
    winners, found = finder._climb(maps, starts)
    assert len(found) == len(winners) == len(set(winners.tolist()))
    began, ended = (
        finder._small.read_off(by_person[winners], places[:, None])[:, 0] for places in (starts[winners], found)
    )
    assert (ended >= began - 1e-4).all()
    assert (ended > began + 1e-4).any()


def test_winners_are_the_best_few_that_are_worth_a_warp(monkeypatch, searching, side):
    """The best after the first rounds, the nearest first, none far below the best."""
    finder, n_people = searching._search, searching._people.stack.n_people
    pool = alignment_search._Pool(searching._people.stack, np.arange(n_people), finder._large)
    around = finder._surroundings(searching._extractor.unlit(side.images[3:4])[0])
    maps, starts = finder._small.closeness(around, pool.first), np.zeros((n_people, 4))
    monkeypatch.setattr(alignment_search, "N_ROUNDS", alignment_search.PRUNING_ROUND + 1)
    monkeypatch.setattr(alignment_search, "WINNER_SHARE", 0)
    everybody, found = finder._climb(maps, starts)
    assert sorted(everybody.tolist()) == list(range(n_people))
    by_person = maps.reshape(-1, n_people).T
    reached = finder._small.read_off(by_person[everybody], found[:, None])[:, 0]
    assert (np.diff(reached) <= 0).all()
    assert everybody[0] == 3
    monkeypatch.setattr(alignment_search, "MAX_WINNERS", 3)
    assert finder._climb(maps, starts)[0].tolist() == everybody[:3].tolist()
    share = float(reached[1] / reached[0])
    monkeypatch.setattr(alignment_search, "WINNER_SHARE", 0.999 * share)
    assert everybody[1] in finder._climb(maps, starts)[0]
    monkeypatch.setattr(alignment_search, "WINNER_SHARE", 1.001 * share)
    assert finder._climb(maps, starts)[0].tolist() == [3]


def test_a_search_never_moves_anybody_away(searching, resting, side):
    for probes in (side.images, askew(side.images)):
        assert (searching.distances(probes) <= resting.distances(probes)).all()


def test_a_clear_probe_is_left_as_it_is_to_the_last_bit(searching, resting, gallery, side):
    probes = np.concatenate([gallery.images, side.images])
    found, plain = searching.distances(probes), resting.distances(probes)
    clear = clear_probes(resting, probes)
    assert clear[: len(gallery)].all()
    assert_array_equal(found[clear], plain[clear])
    assert_array_equal(searching.patch_distances(probes)[clear], resting.patch_distances(probes)[clear])


def test_whether_a_probe_is_clear_goes_by_the_lead_of_the_best():
    totals = np.array([[1.0, 3.0, 9.0], [1.0, 1.5, 9.0], [9.0, 4.0, 5.0], [2.0, 2.0, 2.0]])
    assert alignment_search._unclear(totals, 1.0).tolist() == [False, True, False, True]
    assert alignment_search._unclear(totals[:, :1], 1.0).tolist() == [True] * 4


def test_a_search_changes_whole_people_of_unclear_probes_and_nobody_else(searching, gallery, side):
    extractor, known = searching._extractor, searching._people
    pictures = extractor.unlit(np.concatenate([gallery.images[:2] / 255.0, askew(side.images)]))
    before = known.distances(extractor.describe(pictures))
    after, plain = before.copy(), known.contributions(before)
    added = plain.copy()
    searching._search.improve(pictures, after, added, known)
    totals, found = plain.sum(axis=0), added.sum(axis=0)
    changed = (after != before).any(axis=0)
    assert changed.any()
    assert not changed[:2].any()
    assert (changed.sum(axis=1) <= alignment_search.MAX_WINNERS).all()
    assert (found[changed] < totals[changed]).all()
    assert_array_equal(after[:, ~changed], before[:, ~changed])
    assert_array_equal(added[:, ~changed], plain[:, ~changed])


@pytest.mark.parametrize("weights", ["equal", "length"])
def test_a_search_has_its_price_in_every_patch(gallery, side, weights):
    """However little the patch counts."""
    recognizer = FaceRecognizer(weights=weights).fit(gallery.images, gallery.labels)
    extractor, known = recognizer._extractor, recognizer._people
    pictures = extractor.unlit(askew(side.images))
    before = known.distances(extractor.describe(pictures))
    after, added = before.copy(), known.contributions(before)
    recognizer._search.improve(pictures, after, added, known)
    changed = (after != before).any(axis=0)
    assert changed.any()
    assert alignment_search.SEARCH_PENALTY > 0
    say = np.ones((len(after), 1, 8)) if weights == "equal" else length_weights(list(known.spans.values()))[:, None]
    expected = 1 - say * (1 - bounded(after)) + alignment_search.SEARCH_PENALTY
    assert_allclose(added[:, changed], expected[:, changed], atol=1e-5)


def test_what_the_patches_add_sums_to_the_distances_after_a_search(searching, resting, side):
    probes = askew(side.images)
    added = searching.patch_contributions(probes)
    assert added.shape == (len(probes), 837, 8)
    assert_allclose(added.sum(axis=1), searching.distances(probes), rtol=1e-5)
    assert not np.allclose(added, resting.patch_contributions(probes))


def test_the_same_probe_gets_the_same_answer_to_the_last_bit(gallery, searching, side):
    probes = askew(side.images)
    again = FaceRecognizer("robust", search="similarity").fit(gallery.images, gallery.labels)
    first = searching.distances(probes)
    assert_array_equal(searching.distances(probes), first)
    assert_array_equal(again.distances(probes), first)


def test_the_other_probes_of_a_batch_do_not_matter(searching, side):
    probes = askew(side.images)
    alone = np.concatenate([searching.distances(probe[None]) for probe in probes])
    assert_allclose(alone, searching.distances(probes), rtol=1e-4)


def test_more_people_than_the_pool_are_searched_for_among_the_best(monkeypatch, searching, resting, side):
    probes = askew(side.images)
    whole, plain = searching.distances(probes), resting.distances(probes)
    monkeypatch.setattr(alignment_search, "MAX_POOL", 3)
    found = searching.distances(probes)
    assert (found <= plain).all()
    assert (found < plain).any()
    # Nobody beyond the best three is touched.
    beyond = plain > np.sort(plain, axis=1)[:, 2:3]
    assert_array_equal(found[beyond], plain[beyond])
    monkeypatch.setattr(alignment_search, "MAX_POOL", 8)
    assert_array_equal(searching.distances(probes), whole)


def test_as_many_people_as_the_pool_less_one_change_little(monkeypatch, searching, side):
    probes = askew(side.images)
    whole = searching.predict(probes)
    monkeypatch.setattr(alignment_search, "MAX_POOL", 7)
    assert_array_equal(searching.predict(probes), whole)


def test_one_person_alone_is_searched_for(gallery, side):
    alone, resting = (
        FaceRecognizer("robust", search=kind).fit(gallery.images[:1], gallery.labels[:1])
        for kind in ("similarity", "none")
    )
    probes = askew(side.images[:1])
    assert alone.predict(probes).tolist() == [gallery.labels[0]]
    assert alone.distances(probes)[0, 0] < resting.distances(probes)[0, 0]


@pytest.mark.parametrize("size", [(24, 21), (12, 12), (6, 6), (21, 96)])
def test_small_pictures_with_few_patches_are_searched(gallery, side, size):
    found, plain = (
        FaceRecognizer("robust", search=kind, size=size, cell=6, overlap=3)
        .fit(gallery.images, gallery.labels)
        .distances(askew(side.images))
        for kind in ("similarity", "none")
    )
    assert np.isfinite(found).all()
    assert (found <= plain).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        {"dtype": "float64"},
        {"storage": "float"},
        {"size": "as-is"},
        {"overlap": 0},
        {"cell": 7, "overlap": 2},
        {"components": 1},
        {"span": "joint", "storage": "float", "components": 0.9},
    ],
)
def test_other_settings_are_searched_too(gallery, side, overrides):
    found, plain = (
        FaceRecognizer("robust", search=kind, **overrides).fit(gallery.images, gallery.labels)
        for kind in ("similarity", "none")
    )
    probes = askew(side.images)
    assert (found.distances(probes) <= plain.distances(probes)).all()
    assert found.score(probes, side.labels) >= 0.75


def test_a_search_reaches_as_far_as_its_range(searching):
    finder: AlignmentSearch = searching._search
    assert len(finder._tried) == alignment_search.N_TICKS**4
    assert_allclose(finder._tried.max(axis=0), alignment_search.SEARCH_RANGE)
    assert_allclose(finder._tried.min(axis=0), -np.array(alignment_search.SEARCH_RANGE))
    assert (finder._tried == 0).all(axis=1).sum() == 1


def test_steps_of_a_climb_are_in_one_or_two_numbers_and_standing_still():
    steps = alignment_search._NEIGHBORS
    assert len(steps) == 1 + 4 * 2 + 6 * 4
    assert len(np.unique(steps, axis=0)) == len(steps)
    assert (steps == 0).all(axis=1).sum() == 1
    assert_array_equal(np.sort(steps, axis=0), np.sort(-steps, axis=0))


def test_who_is_still_far_after_a_search_is_not_believed(searching, resting, side, monkeypatch):
    probes = askew(side.images)
    assert not np.array_equal(searching.distances(probes), resting.distances(probes))
    monkeypatch.setattr(alignment_search, "MAX_CONTRIBUTION", 0.0)
    assert_array_equal(searching.distances(probes), resting.distances(probes))
