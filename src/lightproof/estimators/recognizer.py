"""FaceRecognizer: faces or photographs in, names out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lightproof.core.images import Images, check_images
from lightproof.core.labels import check_label, check_labels, label_array
from lightproof.errors import BadLabels, BadModelFile, BadParameter, UnknownPerson
from lightproof.estimators import model_file
from lightproof.estimators.engine_model import EngineModel
from lightproof.estimators.paper_model import PaperModel
from lightproof.estimators.sklearn_contract import ImageEstimator, NotFitted
from lightproof.imaging.detection import File, portraits_of
from lightproof.matching.matcher import matcher_for
from lightproof.method.presets import (
    PAPER_PRESETS,
    PRESETS,
    RULES,
    EngineSettings,
    MethodSettings,
    check_parameter,
    check_settings,
    without_numpy,
)
from lightproof.types import Array, Floats

Pictures: TypeAlias = Images | Sequence[File]
"""Faces as arrays, or photographs as files."""


@dataclass(eq=False, repr=False)
class FaceRecognizer(ImageEstimator, ClassifierMixin, BaseEstimator):
    r"""Nearest-subspace face recognition on local sliced-Wasserstein features.

    One photo a person is enough. No photographs train recognition: what tells people apart in a patch was measured on
    rendered people. The answer is the person with the smallest distance, summed over the patches, between the photo and
    the span of the person's photos: eq. (dis).

    Parameters
    ----------
    preset : {"robust", "fast", "authors", "paper"}, default="robust"
        ``"robust"``, the most accurate, and ``"fast"``, the cheapest, are the engine that galleries have, too:
        :mod:`lightproof.matching`. Their settings belong together, and the other parameters must stay None.
        ``"authors"`` does what the released code does, ``"paper"`` what the text says: the paper's own estimator, whose
        every parameter can be changed. :data:`lightproof.PRESETS` lists them.
    size, smoothing, light, gradient, cell, overlap, n_angles, angle_scheme, detail, dtype : default=None
        How the features are made; see :class:`lightproof.PatchRCDT`.
    span : {"kept", "joint"}, default=None
        How photos and translation vectors make a subspace; see :func:`lightproof.method.subspace_bank.stack_spans`.
    components : float, int or "validate", default=None
        Size of a subspace. A float in (0, 1] is the share to keep: of the variance beyond the translation vectors
        (``span="kept"``) or of the sum of singular values (``"joint"``). An int is the number of basis vectors,
        translation vectors included; ``"kept"`` keeps those in any case. ``"validate"`` is the paper's rule: spanned
        by two thirds of each person's photos, the smallest number that names most of the others.
    copies : {"none", "cross", "square"}, default=None
        Copies of each enrolled photo, moved by about a pixel, that share its span: four, or eight.
    deformations : {"none", "rotation", "stretch", "shear", "all"}, default=None
        Linear changes of the gradients whose first order shares the span; see :mod:`lightproof.method.deformations`.
    aggregate : {"sum", "normalized", "bounded"}, default=None
        How the distances of all patches become one; see :mod:`lightproof.method.aggregate`.
    weights : {"equal", "length"}, default=None
        Whether all patches of a person weigh the same, or by the length of their features; see
        :func:`lightproof.method.subspace_bank.length_weights`.
    storage : {"float", "int8"}, default=None
        How a person's directions are kept. ``"int8"`` takes a quarter of the room, but keeps only ``components``
        directions: photos added later join these.
    cropped : bool, default=False
        Whether files are upright, cropped faces. If not, a face is searched in the photo, and a file without one is
        refused; this needs the extra ``photos``. Arrays are always faces. With that extra the engine brings them to the
        common shape by a mesh, as it does faces in photos.
    random_state : int, default=0
        Seed of the split for ``components="validate"``; nothing else is random.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The enrolled people.
    settings_ : dict
        The value every setting had in ``fit``; ``components`` is the number that validation chose.
    grid_ : PatchGrid
        The patches; of the engine the finest.
    with_mesh_ : dict of label to bool
        Whether all photos of each person have a mesh. None has without the extra ``photos``, nor with the presets of
        the paper.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> faces = make_relit_faces(n_subjects=3, lights=[(0, 0), (60, 20)], size=(64, 56))
    >>> frontal = faces.azimuths == 0
    >>> recognizer = FaceRecognizer().fit(faces.images[frontal], faces.labels[frontal])
    >>> recognizer.predict(faces.images[~frontal]).tolist()
    ['person-00', 'person-01', 'person-02']
    """

    preset: str = "robust"
    _: KW_ONLY
    size: Any = None
    smoothing: str | None = None
    light: str | None = None
    gradient: str | None = None
    cell: int | None = None
    overlap: int | None = None
    n_angles: int | None = None
    angle_scheme: str | None = None
    detail: Any = None
    span: str | None = None
    components: Any = None
    copies: str | None = None
    deformations: str | None = None
    aggregate: str | None = None
    weights: str | None = None
    storage: str | None = None
    dtype: str | None = None
    cropped: bool = False
    random_state: int = 0

    def settings(self) -> dict[str, Any]:
        """Return every setting: the preset's value, or the override."""
        chosen = self._settings()
        return chosen.as_dict() if isinstance(chosen, EngineSettings) else dict(chosen)

    def _settings(self) -> MethodSettings | EngineSettings:
        owner = type(self).__name__
        check_settings(owner, {name: getattr(self, name) for name in ("preset", "cropped", "random_state")})
        given = {name: getattr(self, name) for name in PAPER_PRESETS["paper"]}
        overrides = {name: value for name, value in given.items() if value is not None}
        preset = PRESETS[self.preset]
        if isinstance(preset, MethodSettings):
            return MethodSettings.checked(owner, preset | overrides)
        for name, value in overrides.items():
            check_parameter(owner, name, value, RULES[name])
            legal = f"None with preset={self.preset!r}, whose settings belong together (preset='paper' takes it)"
            raise BadParameter(owner, name, legal, value)
        return preset

    def fit(self, X: Pictures, y: Any) -> Self:
        """Enroll everybody in ``y``, and nobody else.

        Parameters
        ----------
        X : ndarray of shape (n, h, w), list of ndarray of shape (h, w), or list of files
            Grey faces, here and in every method: uint8, uint16, or floats with white = 1. Files are paths, or bytes, of
            photographs.
        y : sequence of length n
            Who is on each image; labels of any hashable type.
        """
        settings = self._settings()
        model: EngineModel | PaperModel
        if isinstance(settings, EngineSettings):
            model = EngineModel.fit(matcher_for(settings), X, y, self.cropped)
        else:
            model = PaperModel.fit(X, y, settings, cropped=self.cropped, seed=int(self.random_state))
        self._params = without_numpy(self.get_params())
        return self._adopt(model)

    def enroll(self, label: Hashable, images: Pictures) -> Self:
        """Add one person, or more photos of an enrolled one, as in :meth:`fit`; nobody else is touched."""
        label = check_label(label)
        if hasattr(images, "__len__") and len(images) == 0:
            raise BadLabels(f"Label {label!r}", "enrolled with at least one image", "none")
        if not hasattr(self, "_model"):
            faces = portraits_of(images, self.cropped)
            return self.fit(images, [label] * (len(faces) if faces is not images else len(check_images(faces))))
        return self._adopt(self._model.adding(label, images, self.cropped))

    def forget(self, label: Hashable) -> Self:
        """Remove one person; nobody else is touched."""
        model = self._fitted("forget")
        label = check_label(label)
        if label not in model.labels:
            raise UnknownPerson(label, model.labels)
        return self._adopt(model.removing(label))

    def distances(self, X: Pictures) -> Floats:
        r"""Distance of each image to each person, shape (n, C); the smallest is the answer.

        With the presets of the paper :math:`d^c`, eq. (dis). With the engine, how far the person's score is below that
        of a perfect match: see :mod:`lightproof.matching.scores`.
        """
        return self._distances(X, "distances")

    def patch_distances(self, X: Pictures) -> Floats:
        r"""Distance of each patch of each image to each person, before it is weighed, shape (n, K, C).

        With the presets of the paper :math:`d_k^c`. With the engine :math:`1 - e^{-6 s}` with the sine s of the angle
        to the person's subspace, the weighted mean over the views.
        """
        model = self._fitted("patch_distances")
        return np.concatenate([distances.transpose(1, 0, 2) for distances, _ in model.patches(X, self.cropped)])

    def patch_contributions(self, X: Pictures) -> Floats:
        """Part of each patch in :meth:`distances`, shape (n, K, C): their sum over the patches is the distance."""
        model = self._fitted("patch_contributions")
        return np.concatenate([added.transpose(1, 0, 2) for _, added in model.patches(X, self.cropped)])

    def predict(self, X: Pictures) -> Array:
        """Name the nearest person of each image, shape (n,)."""
        nearest = self._distances(X, "predict").argmin(axis=1)
        return np.asarray(self.classes_[nearest])

    def similarity(self, X: Pictures) -> Floats:
        r"""How much nearer each person is than the others: :math:`1 - d^c / \overline{d^{c'}}`, shape (n, C).

        1 is a perfect match, 0 is as far as the average other person, negative is farther. It ranks people as
        :meth:`distances` does, but it is not a probability. With one person enrolled it is 0.
        """
        distances = self._distances(X, "similarity")
        if distances.shape[1] == 1:
            return np.zeros_like(distances)
        others = (distances.sum(axis=1, keepdims=True) - distances) / (distances.shape[1] - 1)
        relative: Floats = np.divide(distances, others, out=np.ones_like(distances), where=others > 0)
        return 1 - relative

    def score(self, X: Pictures, y: Any, sample_weight: Any = None) -> float:
        """Share of the images that are named correctly; labels may be of any type."""
        named = self.predict(X)
        right = [name == label for name, label in zip(named.tolist(), check_labels(y, len(named)), strict=True)]
        return float(np.average(right, weights=sample_weight))

    def save(self, path: str | Path) -> None:
        """Write everything to one file, without pickle; an interrupted save leaves the old file as it was.

        Labels must be str, int, float or bool: what JSON can hold.
        """
        facts, people = self._fitted("save").saved()
        model_file.write(Path(path), {"params": self._params, **facts}, people)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; the answers are the same to the last bit."""
        path = Path(path)
        facts, arrays = model_file.read(path)
        try:
            recognizer = cls(**facts["params"])
            settings = recognizer._settings()
            model: EngineModel | PaperModel
            if isinstance(settings, EngineSettings):
                model = EngineModel.loaded(matcher_for(settings), facts, arrays, path)
            else:
                model = PaperModel.loaded(facts, arrays, path)
        except BadModelFile:
            raise
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            raise BadModelFile(path, f"settings that are not legal ({problem})") from None
        recognizer._params = without_numpy(recognizer.get_params())
        return recognizer._adopt(model)

    def _adopt(self, model: EngineModel | PaperModel) -> Self:
        """Replace the whole state at once, so that an error before this line changes nothing."""
        self._model, self.settings_, self.grid_ = model, model.settings, model.grid
        self.classes_, self.with_mesh_ = label_array(model.labels), model.with_mesh
        return self

    def _fitted(self, wanted: str) -> EngineModel | PaperModel:
        if not self.__sklearn_is_fitted__():
            raise NotFitted(type(self).__name__, wanted, "fit or enroll")
        return self._model

    def _distances(self, X: Pictures, wanted: str) -> Floats:
        return self._fitted(wanted).distances(X, self.cropped)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") and len(self._model.labels) > 0
