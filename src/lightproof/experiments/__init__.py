"""The paper's tables run again, and the demonstration."""

from __future__ import annotations

from typing import Final

PAPER_SETS: Final = ("yale", "ar", "cas-peal")

DATASETS: Final = (*PAPER_SETS, "folder", "rendered")

JITTERED_SETS: Final = ("yale", "rendered")
"""Sets with a Test 2, whose crops have the eyes where :mod:`lightproof.imaging.detection` puts them."""
