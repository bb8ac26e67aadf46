r"""A face in several views: features of its patches, and of these the few numbers that tell people apart.

A view cuts a face, brought to the common shape or cut by its eyes, into patches. Of each patch it has where in it the
gradients lie (:mod:`lightproof.method.dct`), and in some views beside that their Discrete R-CDT as cosines, each part
scaled to length 1. Most of such a vector is what all faces have there, or what light, pose and expression do to one
face. So it is multiplied by a matrix of that patch, :math:`P_k`, whose columns are Fisher's linear discriminants: the
directions in which people differ most, compared with photos of one person. That is linear: a change of light still
only scales the vector.

Fisher's discriminants are measured on rendered people, in several poses and under many lights, and on no photo of
anybody. :mod:`benchmarks.discriminants` measures them again. They are in ``discriminants.npz``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from lightproof.core.images import Images
from lightproof.core.jit import compiled
from lightproof.method.dct import PatchDCT
from lightproof.method.presets import ViewSettings
from lightproof.method.rcdt import PatchRCDTExtractor
from lightproof.method.subspaces import SharedSpan
from lightproof.types import Floats, Ints

DISCRIMINANTS_FILE: Final = "discriminants.npz"

RIDGE: Final = 0.1
"""Share of the mean variance within a person that is added to that of each number: rendered people vary less."""


class FaceView:
    """Makes the vectors of one view; without ``discriminants`` they are those that these are measured on.

    Attributes
    ----------
    settings : ViewSettings
    extractor : PatchRCDTExtractor
        Brings pictures to size, takes the light out of them, and knows the patches.
    n_numbers : int
        Numbers of a patch, D.
    """

    def __init__(self, settings: ViewSettings, discriminants: Floats | None) -> None:
        self.settings, method = settings, settings.method
        self.extractor = PatchRCDTExtractor(method, settings.size)
        placed = PatchDCT(method, self.extractor.grid_, settings.placed_detail)
        self._parts: list[PatchRCDTExtractor | PatchDCT] = [self.extractor] if settings.sorted_detail else []
        self._parts.append(placed)
        self._edges = np.cumsum([0, *(part.n_numbers for part in self._parts)])
        self.n_numbers = int(self._edges[-1])
        self._matrix: Floats | None = None
        if discriminants is not None:
            # Patches last, as in the features: (D, numbers, K).
            self._matrix = np.ascontiguousarray(discriminants.transpose(1, 2, 0), np.float32)
            self.n_numbers = self._matrix.shape[1]

    @cached_property
    def shared(self) -> SharedSpan:
        """What all spans share: nothing, because the cosines leave out what a constant gradient adds."""
        return SharedSpan.of(np.zeros((0, self.n_numbers)))

    @property
    def n_patches(self) -> int:
        """Number of patches, K."""
        return self.extractor.grid_.n_patches

    def unlit(self, faces: Images) -> Floats:
        """Bring faces to size and take the light out of them, (n, h, w)."""
        return self.extractor.unlit(faces)

    def samples(self, pictures: Floats) -> Floats:
        """Describe what :meth:`unlit` made and its copies, patches last, (n, L, h, w) -> (n, L, D, K)."""
        fields = self.extractor.gradients_(pictures)
        raw = np.concatenate([part.samples(fields) for part in self._parts], axis=2)
        n, L, D, K = raw.shape
        raw = raw.reshape(n * L, D, K)
        if len(self._parts) > 1:
            _scale_parts(raw, self._edges)
        if self._matrix is None:
            return raw.reshape(n, L, D, K)
        out = np.empty((n * L, self.n_numbers, K), raw.dtype)
        _project(raw, self._matrix, out)
        return out.reshape(n, L, self.n_numbers, K)

    def vectors(self, pictures: Floats) -> Floats:
        """Describe what :meth:`unlit` made, (n, h, w) -> (n, K, D)."""
        return np.ascontiguousarray(self.samples(pictures[:, None])[:, 0].swapaxes(1, 2))


def view_of(settings: ViewSettings) -> FaceView:
    """Return a view with its discriminants."""
    known = discriminants()
    return FaceView(settings, known[name_of(settings)].astype(np.float32)[:, :, : settings.numbers])


def name_of(settings: ViewSettings) -> str:
    """Name the discriminants of a view: fewer numbers are the first ones of more."""
    height, width = settings.size
    shape = "mesh" if settings.shape == "mesh" else "eyes"
    return f"{shape}-{height}x{width}-{settings.sorted_detail}-{settings.placed_detail}"


@cache
def discriminants() -> Mapping[str, Floats]:
    """Read the discriminants of all views, shape (K, D, numbers) each."""
    contents = files(__package__).joinpath(DISCRIMINANTS_FILE).read_bytes()
    with np.load(BytesIO(contents), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def fisher_discriminants(vectors: Floats, people: Ints, numbers: int) -> Floats:
    r"""Measure Fisher's linear discriminants of every patch.

    With :math:`S_w` the covariance of a person's vectors, scaled to length 1, about their mean, and :math:`S_t` that of
    all vectors: :math:`P_k = S_w^{-1/2} V`, with V the strongest directions of :math:`S_w^{-1/2} S_t S_w^{-1/2}`.

    Parameters
    ----------
    vectors : ndarray of shape (n, K, D)
    people : ndarray of shape (n,)
        The number of the person on each photo.
    numbers : int
        How many directions to keep.

    Returns
    -------
    ndarray of shape (K, D, numbers)
    """
    length = np.linalg.norm(vectors, axis=2, keepdims=True)
    units = np.divide(vectors, length, out=np.zeros(vectors.shape), where=length > 0)
    names, persons = np.unique(people, return_inverse=True)
    means = np.stack([units[people == person].mean(axis=0) for person in names])
    deviations = units - means[persons], units - units.mean(axis=0)
    within, total = (np.einsum("nkd,nke->kde", each, each, optimize=True) / len(each) for each in deviations)
    D = within.shape[1]
    ridge = RIDGE * np.trace(within, axis1=1, axis2=2) / D
    values, bases = np.linalg.eigh(within + ridge[:, None, None] * np.eye(D))
    whitening = np.einsum("kde,ke,kfe->kdf", bases, values**-0.5, bases)
    _, strongest = np.linalg.eigh(whitening @ total @ whitening)
    return np.asarray(whitening @ strongest[:, :, : -numbers - 1 : -1])


@compiled
def _scale_parts(raw: Floats, edges: Ints) -> None:
    """Scale each part of the vectors of patches, (n, D, K), to length 1, in place; 0 stays 0."""
    n, _, K = raw.shape
    squares = np.empty(K, raw.dtype)
    for i in range(n):
        for part in range(len(edges) - 1):
            squares[...] = 0
            for d in range(edges[part], edges[part + 1]):
                line = raw[i, d]
                for k in range(K):
                    squares[k] += line[k] * line[k]
            for k in range(K):
                squares[k] = 1 / np.sqrt(squares[k]) if squares[k] > 0 else squares[k]
            for d in range(edges[part], edges[part + 1]):
                line = raw[i, d]
                for k in range(K):
                    line[k] *= squares[k]


@compiled
def _project(raw: Floats, matrix: Floats, out: Floats) -> None:
    """Multiply the vector of each patch by its matrix, (n, D, K) and (D, numbers, K) -> (n, numbers, K)."""
    n, D, K = raw.shape
    for i in range(n):
        out[i] = 0
        for d in range(D):
            line = raw[i, d]
            for j in range(out.shape[1]):
                total, weights = out[i, j], matrix[d, j]
                for k in range(K):
                    total[k] += line[k] * weights[k]
