from __future__ import annotations

import pytest

from lightproof.datasets import FaceSet, make_relit_faces
from lightproof.evaluation import Evaluation, evaluate


@pytest.fixture(scope="session")
def people() -> FaceSet:
    """Six rendered people under five lights: two in front, one from the side, two hard."""
    return make_relit_faces(6, [(0, 0), (10, 0), (40, 10), (-70, 0), (110, 40)], size=(72, 63))


@pytest.fixture(scope="session")
def evaluated(people: FaceSet) -> Evaluation:
    return evaluate(people, preset="fast", draws=3, fars=(0.1, 0.01))
