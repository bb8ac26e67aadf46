"""A table of text, for the terminal and for the reports alike."""

from __future__ import annotations

from dataclasses import dataclass

from lightproof.experiments.demo import METHODS, SEVERITIES, Demo


@dataclass(frozen=True)
class TextTable:
    """A title, a head, lines of as many cells, and what to know about them."""

    title: str
    head: list[str]
    lines: list[list[str]]
    note: str = ""


def demo_table(demo: Demo) -> TextTable:
    """Accuracy of every method by severity of the light."""
    head = ["method", *SEVERITIES.values()]
    lines = [[method, *(f"{demo.accuracy(method, s):.1f}" for s in SEVERITIES)] for method in METHODS]
    lines.append(["photos", *(str(len(demo.split.probes[s])) for s in SEVERITIES)])
    return TextTable("Named correctly from one photo a person, %, by where the light comes from", head, lines)
