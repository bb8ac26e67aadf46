"""The walk of one photo through the rooms: docs/architecture.md describes it, and it stays short."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

import pytest
from PIL import Image

import lightproof
from lightproof import Gallery
from lightproof.datasets import make_relit_faces

SOURCE = Path(lightproof.__file__).parent
MAX_FUNCTIONS, MAX_MODULES = 166, 34
"""Of these, laying the mesh takes 38 functions in 5 modules."""


@pytest.fixture
def gallery(tmp_path):
    """Five people, and a gallery that has answered a question before."""
    faces = make_relit_faces(5, [(0, 0), (20, 10)])
    with Gallery.open(tmp_path / "walk.gallery") as gallery:
        for i, (image, label) in enumerate(zip(faces.images, faces.labels, strict=True)):
            Image.fromarray(image).save(tmp_path / f"{i}.png")
            if i % 2 == 0:
                gallery.enroll(str(label), tmp_path / f"{i}.png", cropped=True)
        gallery.identify(tmp_path / "1.png", cropped=True)
        yield gallery


def test_one_question_passes_through_few_functions(gallery, tmp_path):
    called = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            called.add((path.relative_to(SOURCE).as_posix(), frame.f_code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        gallery.identify(tmp_path / "1.png", cropped=True)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    # Lambdas and comprehensions are parts of the functions they stand in.
    functions = {(module, name) for module, name in called if not name.endswith(">")}
    modules = {module for module, _ in called}
    assert len(functions) <= MAX_FUNCTIONS, sorted(functions)
    assert len(modules) <= MAX_MODULES, sorted(modules)
