"""What a figure is, and where its photos come from."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final, Self

from lightproof.datasets.face_set import FaceSet

SOURCES: Final = {
    "yale": "Extended Yale B",
    "ar": "AR face database",
    "cas-peal": "CAS-PEAL-R1",
    "folder": "a folder of pictures",
    "relit faces": "rendered, no real people",
}
"""The photos of a data set in words; other sets go by their name."""


@dataclass(frozen=True)
class Picture:
    """A figure ready to be put on a page.

    Attributes
    ----------
    name : str
        Stem of its file.
    title : str
    caption : str
        What to see, and where the photos come from.
    png : bytes
    """

    name: str
    title: str
    caption: str
    png: bytes

    def plain(self) -> dict[str, str]:
        """Return it as plain values, for a file."""
        return {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "png": base64.b64encode(self.png).decode(),
        }

    @classmethod
    def of(cls, plain: dict[str, str]) -> Self:
        """Read it from plain values."""
        return cls(plain["name"], plain["title"], plain["caption"], base64.b64decode(plain["png"], validate=True))


def source_of(faces: FaceSet) -> str:
    """Say where the photos of a data set come from."""
    return SOURCES.get(faces.name, faces.name)
