"""What every data set is once it is in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FaceSet:
    """Photographs of faces, who they show, and where the light stood.

    Attributes
    ----------
    name : str
        Short name of the data set.
    images : ndarray of shape (n, h, w), uint8
        Grey faces, upright and cropped.
    labels : ndarray of shape (n,), str
        The person on each photo.
    azimuths, elevations : ndarray of shape (n,)
        Direction of the light in degrees. Azimuth 0 is the camera axis, positive is the right of the subject
        (the left of the picture); positive elevation is above.
    files : tuple of str
        Where each photo came from, relative to the data folder; made-up names for rendered faces.
    skipped : tuple of str
        One line for each file that was left out, with the reason.
    """

    name: str
    images: NDArray[np.uint8]
    labels: NDArray[np.str_]
    azimuths: NDArray[np.float64]
    elevations: NDArray[np.float64]
    files: tuple[str, ...]
    skipped: tuple[str, ...] = ()

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
        )
