"""Names for the kinds of array that pass between the rooms.

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
