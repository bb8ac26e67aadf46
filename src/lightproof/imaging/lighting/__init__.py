"""What the light does to a face: where it comes from, what lies in shadow, and what the person may do about it.

Left and right without more are those of the picture. "Your right" in a hint is the right of the person in it, which is
on the left of the picture, as long as the picture is not mirrored.
"""

from lightproof.imaging.lighting.diagnosis import Diagnosis, diagnose
from lightproof.imaging.lighting.light_direction import hardness, light_directions, shadow_shares, toward

__all__ = ["Diagnosis", "diagnose", "hardness", "light_directions", "shadow_shares", "toward"]
