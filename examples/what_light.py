"""Say what the light does to a face, and draw it."""

from pathlib import Path

from lightproof.datasets import make_relit_faces
from lightproof.imaging.lighting import diagnose
from lightproof.plots import draw_light

faces = make_relit_faces(n_subjects=3, lights=[(0, 0), (60, 20), (-100, 10), (0, 80)])

for image, azimuth, elevation in zip(faces.images[:4], faces.azimuths, faces.elevations, strict=False):
    light = diagnose(image)
    print(f"lamp at {azimuth:+4.0f} {elevation:+4.0f}: {light.hint}")

Path("light.png").write_bytes(draw_light(faces.images[1], diagnose(faces.images[1], eye_distance=97)))
