from __future__ import annotations

import pytest

from lightproof.datasets import YALE_LIGHTS, make_relit_faces


@pytest.fixture(scope="session")
def people():
    """Three rendered people under all lights of Extended Yale B."""
    return make_relit_faces(3, YALE_LIGHTS, size=(48, 42))
