"""Names for the kinds of array that pass between the rooms, and what counts as a number.

Axis names are the same everywhere: ``n`` images, ``K`` patches, ``N`` points per patch, ``m`` angles, ``C`` people,
``L`` photos of one person, ``r`` basis vectors, ``D = m * N`` the length of a flattened patch transform.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]


def is_whole(value: object, least: int) -> bool:
    """Tell whether a value is an int, Python's or NumPy's but no bool, of at least ``least``."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def is_positive(value: object) -> bool:
    """Tell whether a value is a finite number above 0, Python's or NumPy's but no bool."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(0 < value < np.inf)  # type: ignore[operator]
