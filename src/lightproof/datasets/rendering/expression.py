"""What the muscles of a face do to it: a mouth that opens, a smile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lightproof.datasets.rendering import Field, bell, blob, mix, rise
from lightproof.datasets.rendering.person import Plane, Traits

JAW_DROP, LIP_LIFT = 0.4, 0.06  # face units by which the chin sinks, and the upper lip rises; 22 and 3 mm
CORNER_RISE, CORNER_STRETCH = 0.13, 0.14  # face units by which a smile moves the corners of the mouth


@dataclass(frozen=True, eq=False)
class Mouth:
    """What shows between the lips of an open mouth."""

    plane: Plane
    share: Field  # 1 between the lips, 0 on them and everywhere else
    below: Field  # distance below the edge of the upper lip
    above: Field  # distance above the edge of the lower lip

    def opened(self, relief: Field, albedo: Field, gloss: Field) -> tuple[Field, Field, Field]:
        """Hollow out the relief between the lips, with teeth and tongue."""
        p, t = self.plane, self.plane.traits
        arch = np.sqrt(np.clip(1 - (p.side / (0.95 * t["mouth_width"])) ** 2, 0.0, 1.0))
        upper = rise(0.1 * arch - self.below, 0.006)
        lower = 0.8 * rise(0.05 * arch - self.above, 0.006)
        teeth = np.maximum(upper, lower) * rise(arch - 0.35, 0.05)
        gaps = 0.45 * bell(np.mod(p.x + 0.075, 0.15) - 0.075, 0.008)
        tongue = 0.14 * blob(p.x, self.above - 0.06, 0.2, 0.06)
        inside = mix(0.035 + tongue, 0.62 * (1 - gaps) * (0.4 + 0.6 * arch), teeth)
        deep = mix(0.08 + 0.5 * np.minimum(self.below, self.above), np.full_like(teeth, 0.05), teeth)
        return relief - self.share * deep, mix(albedo, inside, self.share), mix(gloss, 0.3 * teeth, self.share)


def smiling(t: Traits, smile: float) -> Traits:
    """Return the traits of somebody whose smile narrows the eyes and deepens the folds beside the mouth."""
    if not smile:
        return t
    return t | {
        "eye_low": t["eye_low"] * (1 - 0.55 * smile),
        "eye_up": t["eye_up"] * (1 - 0.15 * smile),
        "fold": t["fold"] + 0.07 * smile,
        "cheekbone": t["cheekbone"] + 0.03 * smile,
        "lip_full": t["lip_full"] * (1 - 0.25 * smile),
    }


def moved_face(plane: Plane, mouth_open: float, smile: float) -> tuple[Plane, Mouth | None]:
    """Move the lower face: return the plane whose coordinates say where each point was at rest, and the open mouth."""
    if smile:
        plane = _with_smile(plane, smile)
    return _with_jaw_down(plane, mouth_open) if mouth_open else (plane, None)


def _with_smile(plane: Plane, smile: float) -> Plane:
    t, x, y, side = plane.traits, plane.x, plane.y, plane.side
    # The pull is greatest at the corners of the mouth, and leaves its middle where it is.
    along = side / t["mouth_width"]
    pull = smile * bell(y - t["mouth_y"] + 0.05, 0.25) * np.exp((1 - along**2) / 2) * along
    cheek = smile * blob(side - 0.72, y - 0.55, 0.3, 0.25)
    higher = CORNER_RISE * pull * np.exp((1 - along**2) / 2) * along
    return plane.moved(x - CORNER_STRETCH * pull * x / side, y + higher + 0.07 * cheek)


def _with_jaw_down(plane: Plane, mouth_open: float) -> tuple[Plane, Mouth]:
    t = plane.traits
    drop, lift = JAW_DROP * mouth_open, LIP_LIFT * mouth_open
    corner = blob(plane.side - t["mouth_width"], plane.y - t["mouth_y"] - 0.3 * drop, 0.25, 0.3)
    x = plane.x * (1 + 0.15 * mouth_open * corner)
    # The skin beside the mouth stretches over a long way; the lips part.
    way = np.clip((plane.y - t["mouth_y"] + 0.25) / 1.1, 0.0, 1.0)
    sunk = drop * way * way * (3 - 2 * way)
    parted = np.clip(1 - (plane.side / t["mouth_width"]) ** 2, 0.0, 1.0)
    lifted = lift * rise(plane.y - t["mouth_y"] + 0.3, 0.05)
    over = plane.moved(x, plane.y - sunk * (1 - parted) + lifted * parted)
    under = plane.moved(x, plane.y - sunk * (1 - parted) - drop * parted)
    below, above = over.lips[0], -under.lips[0]
    share = rise(below, 0.006) * rise(above, 0.006) * np.minimum((drop + lift) * parted / 0.02, 1.0)
    upper = np.where(below < 0, over.y, over.y - below)
    lower = np.where(above < 0, under.y, under.y + above)
    moved = plane.moved(x, np.where(below < above, upper, lower))
    return moved, Mouth(moved, share, np.clip(below, 0.0, None), np.clip(above, 0.0, None))
