"""Why a face was given a name: what each patch adds to the lead of a person, and how it differs for another.

The lead that decides is a sum over patches, so nothing here is an estimate: the numbers of the map add up to the lead
(:func:`lightproof.matching.calibration.normalized_score_map`). Why this person and not that one is answered by the difference of two maps.
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
from lightproof.matching.calibration import normalized_score_map, normalized_scores, top_references
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import Scores
from lightproof.matching.templates import TemplateSet
from lightproof.method.patches import PatchGrid
from lightproof.types import Array, Floats, is_whole


class PatchShare(NamedTuple):
    """What one patch adds: its place in the map, its box in pixels of the face as compared, and its number."""

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
        Who it is about.
    lead : float
        How far the person is ahead of the rivals, in standard deviations of the rendered people.
    patches : ndarray of shape (rows, columns)
        What each patch adds to the lead, positive where it speaks for the person. The sum is the lead.
    rivals : tuple of str
        Those of the gallery the person is measured against, the most similar first; "rendered 07" is a made-up person
        in a small one. The upper quarter of all rendered people counts beside them.
    against : hashable or None
        The other person that was asked about.
    rival_lead : float or None
        How far the other person is ahead of their own rivals.
    rival_patches : ndarray of shape (rows, columns) or None
        What each patch adds to that; the sum is ``rival_lead``.
    face : ndarray of shape (h, w), uint8
        The picture as it was compared, before the light was taken out of it.
    grid : PatchGrid
        Where the patches lie on it.
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

    @property
    def difference(self) -> Floats | None:
        """What each patch says for the person rather than the other one; the sum is ``lead - rival_lead``."""
        return None if self.rival_patches is None else np.asarray(self.patches - self.rival_patches)

    @property
    def sentence(self) -> str:
        """The sum in words."""
        if self.rival_lead is None:
            return f"lead {self.lead:.1f} = {_both_ways(self.patches, self.person)}"
        both = f"{self.person} leads by {self.lead:.1f}, {self.against} by {self.rival_lead:.1f}"
        apart = self.lead - self.rival_lead
        return f"{both}; the difference {apart:.1f} = {_both_ways(self.difference, self.person)}"

    def top_patches(self, n: int = 5) -> list[PatchShare]:
        """Return the patches that count most, whichever way they speak: of ``difference``, or else of ``patches``."""
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
        """Spread one number for each patch over the pixels of the face.

        Every patch gives away its number whole: a pixel that several patches share gets less from each of them. So the
        sum over the pixels is the sum over the patches, and patches that say the same make an even map. Pixels that lie
        in no patch get 0.

        Parameters
        ----------
        values : ndarray of shape (rows, columns)
            Such as ``patches`` or ``difference``.

        Returns
        -------
        ndarray of shape (h, w)
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
        """Write everything as plain arrays that ``numpy.load`` reads: a file .npz, without pickle.

        Besides the attributes there is ``boxes``, shape (rows, columns, 4): left, top, width and height of each patch
        in pixels of ``face``. Names are written as text; what was not asked for is left out.

        Parameters
        ----------
        path : path
        """
        with whole_file(Path(path)) as file:
            np.savez(file, **self._arrays())

    def _arrays(self) -> dict[str, Any]:
        top_left = self.grid.corners[:, ::-1]
        boxes = np.concatenate([top_left, np.full_like(top_left, self.grid.cell)], axis=1)
        found = {
            "person": str(self.person),
            "lead": self.lead,
            "patches": self.patches,
            "rivals": np.array(self.rivals, str),
            "face": self.face,
            "boxes": boxes.reshape(self.grid.rows, self.grid.columns, 4),
        }
        if self.against is not None:
            found |= {"against": str(self.against), "rival_lead": self.rival_lead}
            found |= {"rival_patches": self.rival_patches, "difference": self.difference}
        return found


def explain(
    matcher: Matcher, people: TemplateSet, face: Array, person: Hashable, against: Hashable | None = None
) -> Explanation:
    """Say which patches of a face speak for a person.

    Parameters
    ----------
    matcher : Matcher
    people : TemplateSet
        Everybody enrolled, laid out by that matcher.
    face : ndarray of shape (h, w)
        An upright face, as it would be compared.
    person : hashable
        Somebody enrolled; need not be the best match.
    against : hashable, optional
        Somebody else who is enrolled: why the one and not the other?

    Returns
    -------
    Explanation

    Raises
    ------
    UnknownPerson
        If one of the two is not enrolled.
    BadParameter
        If both are the same.
    BadImage
        If the face is no picture to compare.
    """
    first = _place(people, person, "`person`")
    second = None if against is None else _place(people, against, "`against`")
    if first == second:
        raise BadParameter("explain", "against", "somebody else", against)
    evidence, patches = matcher.compare_map(face, people)
    patches = _whole(patches)
    grid, ahead = matcher.extractor.grid_, normalized_scores(evidence)[0]
    names = [*people.names, *matcher.cohort.names]
    return Explanation(
        person=person,
        lead=float(ahead[first]),
        patches=grid.as_map(normalized_score_map(patches, evidence, first)),
        rivals=tuple(str(names[place]) for place in top_references(evidence, first)),
        against=against,
        rival_lead=None if second is None else float(ahead[second]),
        rival_patches=None if second is None else grid.as_map(normalized_score_map(patches, evidence, second)),
        face=_as_compared(face, grid),
        grid=grid,
    )


def _both_ways(values: Floats | None, person: Hashable) -> str:
    shares = np.zeros(0) if values is None else values
    ahead, behind = (float(shares[which].sum()) for which in (shares > 0, shares < 0))
    return f"{ahead:+.1f} from patches that speak for {person}, {behind:+.1f} from patches that speak against"


def _place(people: TemplateSet, person: Hashable, what: str) -> int:
    if person not in people.templates:
        raise UnknownPerson(person, people.names, what=what)
    return people.names.index(person)


def _whole(patches: Scores) -> Scores:
    # Small differences of many numbers are summed: in float64 the sum is the lead to its last digits.
    return Scores(patches.people.astype(np.float64), patches.cohort.astype(np.float64))


def _as_compared(face: Array, grid: PatchGrid) -> NDArray[np.uint8]:
    shrunk = bring_to_size([np.asarray(face)], (grid.height, grid.width), np.float64)[0]
    grey: NDArray[np.uint8] = np.clip(np.rint(255 * shrunk), 0, 255).astype(np.uint8)
    return grey
