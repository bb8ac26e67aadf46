"""A table of text, for the terminal and for the reports alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """A title, a head, lines of as many cells, and what to know about them."""

    title: str
    head: list[str]
    lines: list[list[str]]
    note: str = ""
