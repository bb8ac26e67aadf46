"""Enroll one photo a person, name a photo under hard light, and see which patches decided."""

from lightproof import FaceRecognizer
from lightproof.datasets import make_relit_faces

faces = make_relit_faces(n_subjects=10, lights=[(0, 0), (70, 0)], size=(96, 84))
even, hard = faces.azimuths == 0, faces.azimuths == 70

recognizer = FaceRecognizer().fit(faces.images[even], faces.labels[even])
print(recognizer.predict(faces.images[hard])[:3])
print(f"{recognizer.score(faces.images[hard], faces.labels[hard]):.0%} named correctly")

patches = recognizer.patch_contributions(faces.images[hard])
print(patches.shape, "photos, patches, people; they add up to the decision")
