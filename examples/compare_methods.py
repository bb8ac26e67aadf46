"""Compare rivals with lightproof on rendered faces: one photo a person, light from the side."""

from lightproof import FaceRecognizer
from lightproof.datasets import make_relit_faces
from lightproof.estimators.baselines import hog_svm, lbp_neighbor, tan_triggs_neighbor, weberface_svm
from lightproof.metrics import mcnemar

faces = make_relit_faces(n_subjects=12, lights=[(0, 0), (50, 0), (-60, 20), (70, 0)], size=(96, 84))
even = faces.azimuths == 0
truth = faces.labels[~even]

ours = FaceRecognizer().fit(faces.images[even], faces.labels[even]).predict(faces.images[~even]) == truth
print(f"{'lightproof':20} {ours.mean():4.0%}")
for build in (weberface_svm, tan_triggs_neighbor, lbp_neighbor, hog_svm):
    right = build().fit(faces.images[even], faces.labels[even]).predict(faces.images[~even]) == truth
    print(f"{build.__name__:20} {right.mean():4.0%}   McNemar: p = {mcnemar(ours, right).p:.3g}")
