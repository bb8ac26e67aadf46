"""Keep a recognizer in a file, add a person, remove one; nobody else is touched."""

from pathlib import Path
from tempfile import TemporaryDirectory

from lightproof import FaceRecognizer
from lightproof.datasets import make_relit_faces

faces = make_relit_faces(n_subjects=4, lights=[(0, 0), (35, 15)], size=(96, 84))
even, slanting = faces.take(faces.azimuths == 0), faces.take(faces.azimuths == 35)

with TemporaryDirectory() as folder:
    path = Path(folder) / "people.lightproof"
    FaceRecognizer().fit(even.images[:3], even.labels[:3]).save(path)

    recognizer = FaceRecognizer.load(path)
    recognizer.enroll("person-03", even.images[3:])
    recognizer.forget("person-00")
    recognizer.save(path)

print("enrolled:", ", ".join(recognizer.classes_))
print("named:", ", ".join(recognizer.predict(slanting.images[1:])))
