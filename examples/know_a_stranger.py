"""Enroll a few people from one photo each, and ask about a friend and a stranger in harder light."""

from pathlib import Path
from tempfile import TemporaryDirectory

from lightproof import Gallery
from lightproof.datasets import make_relit_faces

NAMES = ["Ada", "Ben", "Cleo", "Dan"]

faces = make_relit_faces(n_subjects=5, lights=[(0, 0), (45, 10)])
even, hard = faces.images[0::2], faces.images[1::2]

with TemporaryDirectory() as folder, Gallery.open(Path(folder) / "office.gallery") as gallery:
    for name, photo in zip(NAMES, even, strict=False):
        gallery.enroll(name, [photo])
    for photo in (hard[1], hard[4]):
        answer = gallery.identify(photo)
        print(f"score {answer.score:.2f}, threshold {answer.threshold:.2f}. {answer.sentence}")
    why = gallery.explain(hard[1], against="Ada")
    print(why.sentence)
