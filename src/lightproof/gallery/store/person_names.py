"""What a person may be called, and what text a database can hold."""

from __future__ import annotations

import unicodedata
from typing import Final

from lightproof.errors import BadLabels

LONGEST: Final = 200
"""Letters in a name."""

# Persian and Indian names are written with the two joiners; the other invisible letters only hide things.
_JOINERS = "\u200c\u200d"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def check_name(name: object, where: str = "The name of a person") -> str:
    """Refuse what nobody can be called; return the name in Unicode's composed form (NFC)."""
    legal = f"a str of 1 to {LONGEST} visible letters without space at its ends"
    if not isinstance(name, str):
        raise BadLabels(where, legal, f"a {type(name).__name__}")
    composed = unicodedata.normalize("NFC", name)
    if not composed or composed != composed.strip():
        raise BadLabels(where, legal, ascii(name) if len(name) <= LONGEST else "space at its ends")
    if len(composed) > LONGEST:
        raise BadLabels(where, legal, f"{len(composed)} letters")
    # Letters of one byte that can be printed are all visible; most names have no others.
    plain = composed.isascii() and composed.isprintable()
    if not plain and any(unicodedata.category(letter) in _INVISIBLE and letter not in _JOINERS for letter in composed):
        raise BadLabels(where, legal, ascii(name))
    return composed


def storable(text: str) -> str:
    """Make text that every database takes: bytes of a file name that are no letters, and NUL, become escapes."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
