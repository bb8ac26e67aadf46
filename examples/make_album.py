"""Write photos of rendered people, to try the commands of a gallery with: an album, and photos to ask about."""

from pathlib import Path

from PIL import Image

from lightproof.datasets import make_relit_faces

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon"]
LIGHTS = {"even": (0, 0), "slant": (35, 10), "side": (-60, 10), "hard": (85, 20)}

faces = make_relit_faces(n_subjects=len(NAMES) + 1, lights=list(LIGHTS.values()), seed=3)
for i, image in enumerate(faces.images):
    person, light = divmod(i, len(LIGHTS))
    name, how = [*NAMES, "stranger"][person], list(LIGHTS)[light]
    enrolled = how == "even" and name != "stranger"
    path = Path("album", name, "even.png") if enrolled else Path("asked", f"{name.lower()}-{how}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)
print("lightproof enroll --folder album --cropped")
print("lightproof identify asked/*.png --cropped")
print("lightproof explain asked/ada-side.png --against Ben --cropped --out why.png")
