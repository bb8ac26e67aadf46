"""The paper's estimator with all settings that go beyond the paper."""

from __future__ import annotations

from benchmarks.beyond import LAST_STEP

BOUNDED = {"preset": "paper", **LAST_STEP}
