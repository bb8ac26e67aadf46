from __future__ import annotations

import pytest

from tests.scenes import Sitter, seat


@pytest.fixture(scope="session")
def sitters() -> list[Sitter]:
    """Three rendered people, lit from the front, from both sides and from behind the ear."""
    return seat(3, (0.0, 50.0, -70.0, 100.0))
