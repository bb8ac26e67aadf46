"""Why a face was given a name: what each patch adds to the lead of a person, and how it differs for another.

The lead is a sum over patches (:func:`lightproof.matching.calibration.normalized_score_map`), so nothing here is an
estimate. The difference of two maps shows why it is this person and not that one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.core.atomic import whole_file
from lightproof.core.images import bring_to_size
from lightproof.errors import BadParameter, UnknownPerson
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import normalized_score_map, normalized_scores, top_references
from lightproof.matching.matcher import Matcher
from lightproof.matching.templates import TemplateSet
from lightproof.method.patches import PatchGrid
from lightproof.types import Floats, is_whole


class PatchShare(NamedTuple):
    """What one patch adds to the lead, with its place in the map, and its box in pixels of the face as compared."""

    row: int
    column: int
    left: int
    top: int
    width: int
    height: int
    value: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where on a face the lead of a person comes from.

    Attributes
    ----------
    person : hashable
    lead : float
        Normalized score of the person: see :mod:`lightproof.matching.calibration`.
    patches : ndarray of shape (rows, columns)
        What each patch adds to the lead, positive where it speaks for the person. The sum is the lead.
    rivals : tuple of str
        The people whose mean score is subtracted, the most similar first: the upper quarter of the others in the
        gallery. "rendered 07" is a rendered person who fills up a small one.
    against : hashable or None
        The other person.
    rival_lead : float or None
        Lead of the other person.
    rival_patches : ndarray of shape (rows, columns) or None
        What each patch adds to that; the sum is ``rival_lead``.
    face : ndarray of shape (h, w), uint8
        The picture as it was compared, brought to the common shape if it has a mesh, before the light was taken out.
    grid : PatchGrid
        The patches on it.
    with_mesh : bool
        Whether the face was brought to the common shape by a mesh; else it was compared as it came.
    """

    person: Hashable
    lead: float
    patches: Floats
    rivals: tuple[str, ...]
    against: Hashable | None
    rival_lead: float | None
    rival_patches: Floats | None
    face: NDArray[np.uint8]
    grid: PatchGrid
    with_mesh: bool = False

    @property
    def difference(self) -> Floats | None:
        """What each patch adds for the person rather than the other one; the sum is ``lead - rival_lead``."""
        return None if self.rival_patches is None else np.asarray(self.patches - self.rival_patches)

    @property
    def sentence(self) -> str:
        """The sums in words."""
        if self.rival_lead is None:
            return f"lead {self.lead:.1f} = {_for_and_against(self.patches, self.person)}"
        leads = f"{self.person} leads by {self.lead:.1f}, {self.against} by {self.rival_lead:.1f}"
        difference = self.lead - self.rival_lead
        return f"{leads}; the difference {difference:.1f} = {_for_and_against(self.difference, self.person)}"

    def top_patches(self, n: int = 5) -> list[PatchShare]:
        """Return the patches with the largest absolute values: of ``difference``, or else of ``patches``."""
        if not is_whole(n, 1):
            raise BadParameter("top_patches", "n", "a whole number of at least 1", n)
        values = (self.patches if self.difference is None else self.difference).ravel()
        shares = []
        for k in np.argsort(-np.abs(values), kind="stable")[:n]:
            top, left = (int(pixel) for pixel in self.grid.corners[k])
            row, column = divmod(int(k), self.grid.columns)
            shares.append(PatchShare(row, column, left, top, self.grid.cell, self.grid.cell, float(values[k])))
        return shares

    def on_face(self, values: Floats) -> Floats:
        """Spread one number for each patch, such as ``difference``, over the pixels of the face, shape (h, w).

        A pixel that several patches share gets less from each of them. So the sum over the pixels is the sum over the
        patches, and equal patches make an even map. Pixels outside all patches get 0.
        """
        grid = self.grid
        if np.shape(values) != (grid.rows, grid.columns):
            legal = f"of shape ({grid.rows}, {grid.columns}), one number for each patch"
            raise BadParameter("on_face", "values", legal, f"shape {np.shape(values)}")
        inside = np.arange(grid.cell)[:, None] * grid.width + np.arange(grid.cell)
        pixels = (grid.corners @ [grid.width, 1])[:, None] + inside.ravel()
        share = 1 / np.bincount(pixels.ravel(), minlength=grid.height * grid.width)[pixels]
        share *= np.reshape(values, (-1, 1)) / share.sum(axis=1, keepdims=True)
        spread = np.bincount(pixels.ravel(), share.ravel(), minlength=grid.height * grid.width)
        return np.asarray(spread, np.float64).reshape(grid.height, grid.width)

    def save(self, path: Path | str) -> None:
        """Write a file .npz of plain arrays that ``numpy.load`` reads without pickle.

        Besides the attributes there is ``boxes``, shape (rows, columns, 4): left, top, width and height of each patch
        in pixels of ``face``. Names are written as text; attributes that are None are left out.
        """
        top_left = self.grid.corners[:, ::-1]
        boxes = np.concatenate([top_left, np.full_like(top_left, self.grid.cell)], axis=1)
        arrays: dict[str, Any] = {
            "person": str(self.person),
            "lead": self.lead,
            "patches": self.patches,
            "rivals": np.array(self.rivals, str),
            "face": self.face,
            "boxes": boxes.reshape(self.grid.rows, self.grid.columns, 4),
        }
        if self.against is not None:
            arrays |= {"against": str(self.against), "rival_lead": self.rival_lead}
            arrays |= {"rival_patches": self.rival_patches, "difference": self.difference}
        with whole_file(Path(path)) as file:
            np.savez(file, **arrays)


def explain(
    matcher: Matcher, people: TemplateSet, face: AlignedFace, person: Hashable, against: Hashable | None = None
) -> Explanation:
    """Show which patches of a face speak for a person.

    Parameters
    ----------
    matcher : Matcher
    people : TemplateSet
        Of that matcher.
    face : AlignedFace
    person : hashable
        Somebody enrolled; need not be the best match.
    against : hashable, optional
        Somebody else who is enrolled.
    """
    first = _index(people, person, "`person`")
    second = None if against is None else _index(people, against, "`against`")
    if first == second:
        raise BadParameter("explain", "against", "somebody else", against)
    scores, maps = matcher.compare_map(face, people)
    # Small differences of many numbers are summed: in float64 the sum is the lead to its last digits.
    patches = maps.scores
    grid, leads = matcher.grid, normalized_scores(scores)[0]
    names = [*people.names, *matcher.cohort.names]
    picture = bring_to_size(
        [face.image if face.shaped is None else face.shaped], (grid.height, grid.width), np.float64
    )[0]
    return Explanation(
        person=person,
        lead=float(leads[first]),
        patches=grid.as_map(normalized_score_map(patches, scores, first)),
        rivals=tuple(str(names[i]) for i in top_references(scores, first)),
        against=against,
        rival_lead=None if second is None else float(leads[second]),
        rival_patches=None if second is None else grid.as_map(normalized_score_map(patches, scores, second)),
        face=np.clip(np.rint(255 * picture), 0, 255).astype(np.uint8),
        grid=grid,
        with_mesh=face.has_mesh,
    )


def _for_and_against(values: Floats | None, person: Hashable) -> str:
    shares = np.zeros(0) if values is None else values
    above, below = (float(shares[chosen].sum()) for chosen in (shares > 0, shares < 0))
    return f"{above:+.1f} from patches that speak for {person}, {below:+.1f} from patches that speak against"


def _index(people: TemplateSet, person: Hashable, what: str) -> int:
    if person not in people.templates:
        raise UnknownPerson(person, people.names, what=what)
    return people.names.index(person)
