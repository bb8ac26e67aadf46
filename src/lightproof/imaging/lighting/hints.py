"""One sentence for the person in front of the camera: the first problem of the list below that the face has."""

from __future__ import annotations

from typing import Final

NO_PROBLEM: Final = "The light is even: nothing to do."

DARK: Final = 40.0
"""Brightness in grey values below which a face is too dark."""

CLIPPED: Final = 0.15
"""Share of white pixels from which on a face is too bright."""

NEAR: Final = 40.0
"""Pixels between the eyes below which a face is small."""

SHARP: Final = 0.13
"""Sharpness below which a face is blurred, by about 2.5 pixels or more on a crop of 192 rows."""

BEHIND: Final = 105.0
"""Degrees of azimuth from which on the light is behind the person."""

UNEVEN: Final = 0.2
"""Balance from which on one half is in shadow: 1.5 times as bright as the other."""

STEEP: Final = 45.0
LOW: Final = -30.0
"""Degrees of elevation from which on a light is too high, and down to which it is too low."""


def problem_for(
    azimuth: float | None,
    elevation: float | None,
    balance: float,
    brightness: float,
    clipped: float,
    sharpness: float,
    eye_distance: float | None,
) -> str | None:
    """Name the most important problem, or None; the arguments are those of :class:`Diagnosis`."""
    if brightness < DARK:
        return "Too dark: turn on a light in front of you, or turn toward the window."
    if clipped > CLIPPED:
        return "Too bright, parts of the face are plain white: move away from the lamp or out of the sun."
    if azimuth is None or elevation is None:
        return "The light cannot be read: the picture is even, or shows no upright face."
    if eye_distance is not None and eye_distance < NEAR:
        return f"The face is small, {eye_distance:.0f} pixels from eye to eye: come closer to the camera."
    if sharpness < SHARP:
        return "The face is blurred: hold still, and let the camera focus."
    return _about_the_light(azimuth, elevation, balance)


def _about_the_light(azimuth: float, elevation: float, balance: float) -> str | None:
    behind = abs(azimuth) >= BEHIND
    # The halves are measured and the direction is an estimate: what is dark is said by the halves.
    if abs(balance) > UNEVEN and not behind:
        yours, dark, in_picture = ("right", "left", "right") if balance > 0 else ("left", "right", "left")
        shadow = f"The {in_picture} half of the picture, your {dark} side, is in shadow"
        return f"{shadow}: turn to your {yours}, toward the light."
    # High up, a light behind and one in front look nearly alike.
    if elevation > STEEP:
        return "The light comes steeply from above, the eyes are in shadow: step back from the lamp, or lift your face."
    if behind:
        yours, in_picture = ("right", "left") if azimuth > 0 else ("left", "right")
        return f"The light is behind you, on your {yours} ({in_picture} in the picture): turn around toward it."
    if elevation < LOW:
        return "The light comes from below: put the lamp as high as your eyes."
    return None
