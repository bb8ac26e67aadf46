"""Data sets by name, from a folder the user names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lightproof.cli.console import count_reasons, printable, talk
from lightproof.core.progress import SizedProgress
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.datasets import FaceSet

NAMED = 10
"""Files left out that are named one by one; of more, only the reasons are counted."""


def load(
    name: str,
    data: Path | None,
    progress: SizedProgress,
    cropped: bool = False,
    few: bool = False,
) -> FaceSet:
    """Read a data set; the rendered one needs no folder. ``cropped`` and ``few`` are about a folder of photos alone."""
    if name == "rendered":
        from lightproof.experiments.demonstration import render_people

        return render_people(24, 0, progress)
    from lightproof import datasets

    loaders: dict[str, Callable[..., FaceSet]] = {
        "yale": datasets.load_yale_b,
        "ar": datasets.load_ar,
        "cas-peal": datasets.load_cas_peal,
        "folder": datasets.load_folder,
    }
    if data is None:
        raise BadParameter(name, "--data", f"the folder with {'your photos' if name == 'folder' else name}", data)
    more = {"cropped": cropped, "few": few} if name == "folder" else {}
    return loaders[name](data, progress=progress, **more)


def check_cropped(owner: str, name: str, cropped: bool) -> None:
    """Refuse ``--cropped`` for a set whose pictures are crops in any case."""
    if cropped and name != "folder":
        raise BadParameter(owner, "cropped", "given for the table folder alone", name)


def describe(name: str, faces: FaceSet) -> None:
    """Say how many photos were read, and what was left out and why."""
    talk.print(f"{name}: {len(faces)} photos; left out: {printable(count_reasons(faces.skipped))}", soft_wrap=True)
    if len(faces.skipped) <= NAMED:
        for line in faces.skipped:
            talk.print(f"  {printable(line)}", soft_wrap=True)
