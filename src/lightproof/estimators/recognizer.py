"""FaceRecognizer: faces or photographs in, names out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lightproof.core.images import Images, check_images, refuse_blank
from lightproof.core.labels import check_label, check_labels, label_array
from lightproof.errors import BadLabels, BadModelFile, UnknownPerson
from lightproof.estimators import model_file
from lightproof.estimators.alignment_search import AlignmentSearch
from lightproof.estimators.sklearn_contract import ImageEstimator, NotFitted
from lightproof.estimators.subspace_model import PROBES_PER_BLOCK, People, validated_components
from lightproof.imaging.detection import File, pictures_of
from lightproof.method.presets import (
    FIXED_COMPONENTS,
    PRESETS,
    MethodSettings,
    check_parameter,
    check_settings,
    without_numpy,
)
from lightproof.method.rcdt import PatchRCDTExtractor, check_for, shape_for
from lightproof.method.subspaces import PatchSpans, SharedSpan
from lightproof.types import Array, Floats

Pictures: TypeAlias = Images | Sequence[File]
"""Faces as arrays, or photographs as files."""


@dataclass(eq=False, repr=False)
class FaceRecognizer(ImageEstimator, ClassifierMixin, BaseEstimator):
    r"""Nearest-subspace face recognition on local sliced-Wasserstein features.

    One photo a person is enough; nothing is trained. The answer is the person with the smallest distance, summed over
    the patches, between the photo and the span of the person's photos: eq. (dis).

    Parameters
    ----------
    preset : {"robust", "fast", "authors", "paper"}, default="robust"
        Where every other parameter comes from when it is None. ``"robust"`` is the most accurate, ``"fast"`` the
        cheapest; ``"authors"`` does what the released code does, ``"paper"`` what the text says.
        :data:`lightproof.PRESETS` lists them.
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
    search : {"none", "similarity"}, default=None
        Whether a probe without a clear winner is moved, scaled and turned to fit each person best; see
        :mod:`lightproof.estimators.alignment_search`.
    storage : {"float", "int8"}, default=None
        How a person's directions are kept. ``"int8"`` takes a quarter of the room, but keeps only ``components``
        directions: photos added later join these.
    cropped : bool, default=False
        Whether files are upright, cropped faces. If not, a face is searched in the photo, and a file without one is
        refused; this needs the extra ``photos``. Arrays are always faces.
    random_state : int, default=0
        Seed of the split for ``components="validate"``; nothing else is random.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The enrolled people.
    settings_ : dict
        The value every setting had in ``fit``; ``components`` is the number that validation chose.
    grid_ : PatchGrid
        The patches.

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
    search: str | None = None
    storage: str | None = None
    dtype: str | None = None
    cropped: bool = False
    random_state: int = 0

    def settings(self) -> dict[str, Any]:
        """Return every setting: the preset's value, or the override."""
        return dict(self._settings())

    def _settings(self) -> MethodSettings:
        owner = type(self).__name__
        check_settings(owner, {name: getattr(self, name) for name in ("preset", "cropped", "random_state")})
        given = {name: getattr(self, name) for name in PRESETS[self.preset]}
        overrides = {name: value for name, value in given.items() if value is not None}
        return MethodSettings.checked(owner, PRESETS[self.preset] | overrides)

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
        images = check_for(pictures_of(X, self.cropped), settings)
        extractor = PatchRCDTExtractor(settings, shape_for(images, settings))
        if settings.size == "as-is":
            extractor.refuse_other_sizes(images)
        refuse_blank(images)
        labels = check_labels(y, len(images))
        vectors = extractor.enrolled_vectors(images, settings.copies, settings.deformations)
        shared = SharedSpan.of(extractor.translation_)
        if settings.components == "validate":
            count = validated_components(vectors, labels, shared, settings, int(self.random_state))
            settings = replace(settings, components=count)
        people = People.of(vectors, labels, shared, settings)
        _ = people.stack  # laid out now, so that the first answer is not slow
        self._extractor, self._params = extractor, without_numpy(self.get_params())
        return self._adopt(people)

    def enroll(self, label: Hashable, images: Pictures) -> Self:
        """Add one person, or more photos of an enrolled one, as in :meth:`fit`; nobody else is touched."""
        label = check_label(label)
        if hasattr(images, "__len__") and len(images) == 0:
            raise BadLabels(f"Label {label!r}", "enrolled with at least one image", "none")
        faces = pictures_of(images, self.cropped)
        if not hasattr(self, "_people"):
            return self.fit(faces, [label] * len(check_images(faces)))
        checked = self._extractor.check(faces)
        refuse_blank(checked)
        settings = self._people.settings
        vectors = self._extractor.enrolled_vectors(checked, settings.copies, settings.deformations)
        return self._adopt(self._people.adding(label, vectors))

    def forget(self, label: Hashable) -> Self:
        """Remove one person; nobody else is touched."""
        people = self._fitted("forget")
        label = check_label(label)
        if label not in people.spans:
            raise UnknownPerson(label, list(people.spans))
        return self._adopt(people.removing(label))

    def distances(self, X: Pictures) -> Floats:
        r"""Distance :math:`d^c` of each image to each person, eq. (dis), shape (n, C); the smallest is the answer."""
        return self._distances(X, "distances")

    def patch_distances(self, X: Pictures) -> Floats:
        r"""Distance :math:`d_k^c` of each patch of each image to each person's subspace, shape (n, K, C)."""
        return np.concatenate([distances.transpose(1, 0, 2) for distances, _ in self._compared(X, "patch_distances")])

    def patch_contributions(self, X: Pictures) -> Floats:
        """Part of each patch in :meth:`distances`, shape (n, K, C): their sum over the patches is the distance."""
        return np.concatenate([added.transpose(1, 0, 2) for _, added in self._compared(X, "patch_contributions")])

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
        people = self._fitted("save")
        shape = [self.grid_.height, self.grid_.width]
        facts = {"params": self._params, "settings": dict(people.settings), "shape": shape}
        model_file.write(Path(path), facts, {label: (s.own, s.coordinates) for label, s in people.spans.items()})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; the answers are the same to the last bit."""
        path = Path(path)
        facts, arrays = model_file.read(path)
        try:
            recognizer = cls(**facts["params"])
            recognizer.settings()
            values = {name: facts["settings"][name] for name in PRESETS["authors"]}
            settings = MethodSettings.checked(cls.__name__, values)
            check_parameter(cls.__name__, "components", settings.components, FIXED_COMPONENTS)
            # Checked before anything of that length is made: a header may ask for any number of angles.
            n_numbers = settings.n_angles * (settings.detail if isinstance(settings.detail, int) else settings.cell**2)
            if any(own.shape[2] != n_numbers for own, _ in arrays.values()):
                raise BadModelFile(path, "arrays of other patches than the settings ask for")
            extractor = PatchRCDTExtractor(settings, facts["shape"])
        except BadModelFile:
            raise
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            raise BadModelFile(path, f"settings that are not legal ({problem})") from None
        shared = SharedSpan.of(extractor.translation_)
        for label, (own, coordinates) in arrays.items():
            fits = own.shape[::2] == (extractor.grid_.n_patches, extractor.n_numbers)
            if not fits or coordinates.shape[2] != len(shared.vectors) + own.shape[1]:
                raise BadModelFile(path, f"arrays of other patches than the settings ask for, for {label!r}")
            kind = settings.dtype if settings.storage == "float" else settings.storage
            if own.dtype != np.dtype(kind):
                raise BadModelFile(path, f"{own.dtype} numbers where the settings say {kind}")
        spans = {label: PatchSpans(own, coordinates, shared) for label, (own, coordinates) in arrays.items()}
        recognizer._extractor, recognizer._params = extractor, without_numpy(recognizer.get_params())
        return recognizer._adopt(People(settings, shared, spans))

    def _adopt(self, people: People) -> Self:
        """Replace the whole state at once, so that an error before this line changes nothing."""
        self._people, self.settings_, self.grid_ = people, dict(people.settings), self._extractor.grid_
        self.classes_ = label_array(list(people.spans))
        self._search = AlignmentSearch(self._extractor) if people.settings.search == "similarity" else None
        return self

    def _fitted(self, wanted: str) -> People:
        if not self.__sklearn_is_fitted__():
            raise NotFitted(type(self).__name__, wanted, "fit or enroll")
        return self._people

    def _distances(self, X: Pictures, wanted: str) -> Floats:
        return np.concatenate([added.sum(axis=0) for _, added in self._compared(X, wanted)])

    def _compared(self, X: Pictures, wanted: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the distances of the patches of a block of images, and what each adds, both (K, b, C)."""
        people = self._fitted(wanted)
        images = self._extractor.check(pictures_of(X, self.cropped))
        refuse_blank(images)
        for start in range(0, len(images), PROBES_PER_BLOCK):
            pictures = self._extractor.unlit(images[start : start + PROBES_PER_BLOCK])
            distances = people.distances(self._extractor.describe(pictures))
            added = people.contributions(distances)
            if self._search is not None:
                self._search.improve(pictures, distances, added, people)
            yield distances, added

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_people") and len(self._people.spans) > 0
