"""The data sets that can be worked on, by name."""

from __future__ import annotations

from typing import Final

PAPER_SETS: Final = ("yale", "ar", "cas-peal")

DATASETS: Final = (*PAPER_SETS, "folder", "rendered")

JITTERED_SETS: Final = ("yale", "rendered")
"""Sets whose crops have the eyes where :mod:`lightproof.imaging.detection` puts them, and a Test 2."""
