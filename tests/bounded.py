"""The paper's estimator with all settings that go beyond the paper."""

from __future__ import annotations

BOUNDED = {
    "preset": "paper",
    "size": (96, 84),
    "light": "tan-triggs",
    "cell": 6,
    "overlap": 3,
    "detail": 5,
    "components": 3,
    "copies": "cross",
    "aggregate": "bounded",
    "weights": "length",
    "storage": "int8",
}
