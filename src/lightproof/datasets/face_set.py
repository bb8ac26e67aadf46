"""What every data set is once it is in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightproof.core.progress import SizedProgress
from lightproof.imaging.detection import AlignedFace, align_crop

_POSE: Final = ("yaws", "pitches", "mouth_opens", "smiles", "glasses")


@dataclass(frozen=True, eq=False)
class FaceSet:
    """Photographs of faces, who they show, and where the light stood.

    A set without ``shots`` gets an empty one for each photo.

    Attributes
    ----------
    name : str
        Short name of the data set.
    images : ndarray of shape (n, h, w), uint8
        Grey faces, upright and cropped; in ORL and LFW whole photos.
    labels : ndarray of shape (n,), str
        The person on each photo.
    azimuths, elevations : ndarray of shape (n,)
        Direction of the light in degrees. Azimuth 0 is the camera axis, positive is the right of the subject
        (the left of the picture); positive elevation is above. NaN where nobody says (AR, ORL, LFW, folders of
        pictures).
    yaws, pitches : ndarray of shape (n,)
        Where the face looks, in degrees: 0 into the camera, positive yaw to the left of the picture, positive pitch up.
        NaN where nobody says (all sets but the rendered one).
    mouth_opens, smiles, glasses : ndarray of shape (n,)
        How far the mouth is open, how much the face smiles, and whether it wears glasses, 0 to 1; NaN likewise.
    files : tuple of str
        Where each photo came from, relative to the data folder; made-up names for rendered faces.
    shots : tuple of str
        What each photo is in the data set's own words: "A+050E-40" in Extended Yale B, "5" in AR, ORL and LFW,
        "IFM+45" in CAS-PEAL, the name of the file without its ending in a folder of pictures, "" for rendered faces.
    skipped : tuple of str
        One line for each file that was left out: what, then after the last ": " why, in the same words for all files
        left out for the same reason, so that they can be counted.
    shaped : tuple of ndarray or None
        Each face brought to the common shape by its mesh, (192, 168), uint8, or None where there is no mesh; empty if
        nobody has laid meshes yet, see :meth:`aligned`.
    found : ndarray of shape (n,), bool
        Whether a face was found in the photo; everywhere, unless somebody looked and says otherwise.
    """

    name: str
    images: NDArray[np.uint8]
    labels: NDArray[np.str_]
    azimuths: NDArray[np.float64]
    elevations: NDArray[np.float64]
    files: tuple[str, ...]
    shots: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    shaped: tuple[NDArray[np.uint8] | None, ...] = ()
    found: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    yaws: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    pitches: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    mouth_opens: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    smiles: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    glasses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        # The class is frozen, so the usual assignment is closed even here.
        object.__setattr__(self, "shots", self.shots or ("",) * len(self.images))
        if len(self.found) != len(self.images):
            object.__setattr__(self, "found", np.ones(len(self.images), bool))
        for name in _POSE:
            if len(getattr(self, name)) != len(self.images):
                object.__setattr__(self, name, np.full(len(self.images), np.nan))

    def __len__(self) -> int:
        return len(self.images)

    def take(self, chosen: NDArray[Any]) -> FaceSet:
        """Return the photos at ``chosen``: positions, or a mask of length n."""
        positions = np.arange(len(self))[chosen]
        return replace(
            self,
            images=self.images[positions],
            labels=self.labels[positions],
            azimuths=self.azimuths[positions],
            elevations=self.elevations[positions],
            files=tuple(self.files[i] for i in positions),
            shots=tuple(self.shots[i] for i in positions),
            shaped=tuple(self.shaped[i] for i in positions) if self.shaped else (),
            found=self.found[positions],
            **{name: getattr(self, name)[positions] for name in _POSE},
        )

    def aligned(self, progress: SizedProgress = iter) -> list[AlignedFace]:
        """Return the faces as they are compared; where nobody has laid meshes yet, they are laid now."""
        if self.shaped:
            return [AlignedFace.found(image, shaped) for image, shaped in zip(self.images, self.shaped, strict=True)]
        return [align_crop(self.images[i]) for i in progress(range(len(self)))]

    def joined(self, other: FaceSet) -> FaceSet:
        """Return the photos of this set and then those of another one, under the name of this one."""
        parts: dict[str, Any] = {}
        for each in fields(self)[1:]:
            pair = getattr(self, each.name), getattr(other, each.name)
            if each.name == "shaped" and not all(pair):
                pair = (), ()  # meshes of some are of no use
            parts[each.name] = pair[0] + pair[1] if isinstance(pair[0], tuple) else np.concatenate(pair)
        return replace(self, **parts)
