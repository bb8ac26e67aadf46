"""Render some people under ever harder light and save the pictures as faces.png."""

from pathlib import Path

import numpy as np

from lightproof.datasets import make_relit_faces
from lightproof.plots import png_of

lights = [(0, 0), (-35, 40), (50, 0), (-70, 0), (110, 40)]
faces = make_relit_faces(n_subjects=4, lights=lights, size=(96, 84))

rows = faces.images.reshape(4, len(lights), 96, 84)
sheet = np.concatenate([np.concatenate(list(row), axis=1) for row in rows])
Path("faces.png").write_bytes(png_of(sheet, scale=2))
print(f"faces.png: {rows.shape[0]} people under {rows.shape[1]} lights")
