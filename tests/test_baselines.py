from __future__ import annotations

import numpy as np
import pytest
from skimage.feature import hog
from skimage.transform import resize

from lightproof.baselines import hog_neighbor, pixel_neighbor


@pytest.mark.parametrize(
    ("make", "describe"), [(pixel_neighbor, np.ravel), (hog_neighbor, lambda image: hog(image))], ids=["pixels", "hog"]
)
def test_the_answer_is_the_nearest_neighbor_by_brute_force(frontal, lit, make, describe):
    def vector(image):
        return describe(resize(image / 255.0, (64, 64), anti_aliasing=True))

    known = np.stack([vector(image) for image in frontal.images])
    expected = [frontal.labels[np.linalg.norm(known - vector(image), axis=1).argmin()] for image in lit.images[:10]]
    assert make().fit(frontal.images, frontal.labels).predict(lit.images[:10]).tolist() == expected


def test_one_photo_a_person_raises_no_warning(frontal):
    one = frontal.take(frontal.azimuths == 0)
    assert pixel_neighbor().fit(one.images, one.labels).score(one.images, one.labels) == 1.0
