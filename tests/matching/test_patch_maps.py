"""The scores of patches, and that their mean is the score."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.imaging.detection import AlignedFace
from lightproof.matching.matcher import matcher_for
from lightproof.matching.patch_maps import patch_maps, perfect_scores
from lightproof.method.presets import ENGINES
from tests.matching.pictures import crop_with_mesh, found, mixed

KINDS = {"no mesh": AlignedFace, "found": found, "crop with mesh": crop_with_mesh}


@pytest.fixture(scope="module", params=ENGINES)
def matcher(request):
    return matcher_for(ENGINES[request.param])


@pytest.fixture(scope="module")
def people(matcher, frontal):
    """Three people with one photo of each kind, then three of two photos: with a mesh, without, one of each."""
    single = matcher.templates(mixed(frontal.images[:3]))
    joined = (
        matcher.joined(matcher.templates([kind(image) for kind, image in zip(kinds, frontal.images[4:6], strict=True)]))
        for kinds in ((found, found), (AlignedFace, AlignedFace), (crop_with_mesh, AlignedFace))
    )
    return matcher.template_set(dict(enumerate([*single, *joined])))


@pytest.mark.parametrize("kind", KINDS)
def test_the_means_of_the_maps_are_the_scores(matcher, people, lit, kind):
    assert people.has_mesh.tolist() == [False, True, True, True, False, False]
    assert people.levels[:, 3:].all()
    for image in lit.images[[1, 9]]:
        face = KINDS[kind](image)
        scores, maps = matcher.compare_map(face, people)
        assert maps.scores.people.shape == (matcher.grid.n_patches, len(people))
        for one in (scores, matcher.compare([face], people)):
            assert_allclose(maps.scores.people.mean(axis=0), one.people[0], atol=1e-4)
            assert_allclose(maps.scores.cohort.mean(axis=0), one.cohort[0], atol=1e-4)
            assert_allclose(maps.scores.distances.mean(axis=0), one.distances[0], atol=1e-4)
        assert_array_equal(scores.sampling_keys, maps.scores.sampling_keys)


def test_a_perfect_score_is_the_mean_of_perfect_patches_whoever_is_asked_beside(matcher, people, lit):
    faces = mixed(lit.images[:6])
    together = perfect_scores(matcher.probes(faces), matcher.cohorts)
    assert together.shape == (6,)
    for i, face in enumerate(faces):
        probe = matcher.probes([face])
        maps = patch_maps(people, probe, matcher.cohorts, matcher.covering)
        assert maps.perfect.mean() == pytest.approx(together[i], abs=1e-4)
        assert_allclose(perfect_scores(probe, matcher.cohorts), together[i : i + 1], rtol=1e-12)


def test_nobody_is_nearer_than_a_perfect_match(matcher, people, frontal, lit):
    """Not even the enrolled photo: a score below the perfect one by 0 is out of reach for spans that are cut."""
    faces = [*mixed(frontal.images[:3]), *mixed(lit.images[:3])]
    distances = matcher.distances(faces, people)
    assert (distances > 0).all()
    assert distances[:3].argmin(axis=1).tolist() == [0, 1, 2]
    perfect = perfect_scores(matcher.probes(faces), matcher.cohorts)
    assert_allclose(distances, perfect[:, None] - matcher.compare(faces, people).people, atol=1e-4)


def test_every_coarse_patch_covers_as_many_of_the_finest(matcher):
    """Else the mean over the finest patches would not be that over the patches of a view."""
    for view, covering in zip(matcher.views, matcher.covering, strict=True):
        counts = np.bincount(covering, minlength=view.n_patches)
        assert len(covering) == matcher.grid.n_patches
        assert set(counts.tolist()) == {matcher.grid.n_patches // view.n_patches}
        # A fine patch lies inside the coarse one, both as shares of the face.
        grid, fine = view.extractor.grid_, matcher.grid
        inside = fine.corners / (fine.height, fine.width) - grid.corners[covering] / (grid.height, grid.width)
        assert (inside >= -1e-9).all()
        assert (inside * (grid.height, grid.width) < grid.cell).all()


def test_maps_against_nobody_have_the_cohort_alone(matcher, lit):
    probe = matcher.probes([found(lit.images[0])])
    maps = patch_maps(matcher.template_set({}), probe, matcher.cohorts, matcher.covering)
    K = matcher.grid.n_patches
    assert (maps.scores.people.shape, maps.scores.cohort.shape, maps.perfect.shape) == ((K, 0), (K, 60), (K,))
