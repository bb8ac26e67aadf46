"""Choose settings of the paper's estimator by cross-validation, as with any scikit-learn estimator."""

import numpy as np
from sklearn.model_selection import GridSearchCV

from lightproof import FaceRecognizer
from lightproof.datasets import make_relit_faces

faces = make_relit_faces(n_subjects=6, lights=[(0, 0), (-70, 45), (70, 0), (110, 15)], size=(64, 56))
order = np.argsort(faces.azimuths, kind="stable")

search = GridSearchCV(FaceRecognizer("paper"), {"light": ["none", "log"], "cell": [4, 8]}, cv=2)
search.fit(faces.images[order], faces.labels[order])
for settings, accuracy in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{accuracy:.2f}", settings)
