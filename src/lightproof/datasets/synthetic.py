"""Made-up faces under hard light: procedural heads, lit like Extended Yale B."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS, Light
from lightproof.datasets.rendering import Canvas, Field
from lightproof.datasets.rendering.surface import Surface, make_surface
from lightproof.datasets.rendering.turned_head import make_head, view_of
from lightproof.errors import BadParameter
from lightproof.imaging.detection import check_size
from lightproof.types import is_whole

# fmt: off
YALE_LIGHTS_DEFAULT: tuple[Light, ...] = (
    (0, 0), (-10, 0), (5, 10), (20, -10), (-20, 10), (35, 15), (-35, -20), (0, 45),
    (-50, 0), (50, 0), (60, 20), (-70, 0), (70, -35), (-85, 20), (110, 40), (-110, -20),
)
"""Sixteen of them, from frontal to behind the ear; the frontal one comes first."""
# fmt: on

GRAY_PER_RADIANCE = 255.0  # one exposure for the whole set: white paper facing the lamp reads 255
BOUNCE = 0.035  # light that comes back from the walls, as a share of the lamp
ELECTRONS_PER_GRAY = 45.0
READ_NOISE_GRAY = 0.8
PENUMBRA_DEGREES = 5.0
Pose = tuple[float, float, float, float, float]
"""Yaw, pitch, opening of the mouth, smile, glasses."""

AT_REST: Pose = (0.0, 0.0, 0.0, 0.0, 0.0)
POSE_RANGES = {
    "yaw": (-45.0, 45.0), "pitch": (-30.0, 30.0), "mouth_open": (0.0, 1.0), "smile": (0.0, 1.0), "glasses": (0.0, 1.0),
}  # fmt: skip
UPRIGHT = np.eye(3)  # the rotation of a head that looks into the camera
SHADOW_REACH = 1.8  # face units; no part of a face throws a longer shadow onto the face


def make_relit_faces(
    n_subjects: int = 20,
    lights: Sequence[Light] | None = YALE_LIGHTS_DEFAULT,
    size: tuple[int, int] = (192, 168),
    seed: int = 0,
    *,
    yaw: float | Sequence[float] = 0.0,
    pitch: float | Sequence[float] = 0.0,
    mouth_open: float | Sequence[float] = 0.0,
    smile: float | Sequence[float] = 0.0,
    glasses: float | Sequence[float] = 0.0,
    surround: float = 0.0,
    progress: SizedProgress = iter,
) -> FaceSet:
    """Render made-up people, each in every pose under every light.

    The lights keep their places when a head turns. Photos are cut like those of `lightproof.imaging.align_by_eyes`: the
    pupils of a person are at the same pixels in every pose.

    Parameters
    ----------
    n_subjects : int
        How many people. Person i is the same one whatever else is asked for.
    lights : sequence of (azimuth, elevation), optional
        Directions in degrees; azimuth -180 to 180, positive lights the left of the picture, elevation -90 to 90,
        positive is above. ``None`` means all 64 of `YALE_LIGHTS`.
    size : tuple of int
        Height and width of the photos, at least 16 each.
    seed : int
        Other seed, other people. The same arguments give the same bits.
    yaw, pitch : float or sequence of float
        Where the face looks, in degrees: positive yaw is the left of the picture, -45 to 45; positive pitch is up, -30
        to 30. A face with the yaw and pitch of a light's azimuth and elevation looks into that light.
    mouth_open, smile : float or sequence of float
        From 0, at rest, to 1.
    glasses : float or sequence of float
        From 0, without glasses, to 1, with; each person has a pair. Of these five arguments the n-th values make the
        n-th pose; a number is the same in all poses.
    surround : float
        How much more to show on each side of the crop, as a share of its height and of its width, 0 to 1. The photos
        grow by that: they show a head as a detector finds it.
    progress : callable
        Wraps the loop over the people, to show how far it is.

    Returns
    -------
    FaceSet
        ``n_subjects * poses * len(lights)`` photos, person by person, pose by pose, all in the given order.

    Raises
    ------
    BadParameter
        If an argument is outside its legal values.

    Examples
    --------
    >>> faces = make_relit_faces(n_subjects=2, lights=[(0, 0), (50, -20)], size=(32, 28))
    >>> faces.images.shape
    (4, 32, 28)
    >>> faces.files[1]
    'person-00/A+050E-20'
    >>> make_relit_faces(1, [(0, 0)], size=(32, 28), yaw=[-20, 20], smile=1).files
    ('person-00/A+000E+00Y-20P+00M0S1', 'person-00/A+000E+00Y+20P+00M0S1')
    """
    for name, value, least in (("n_subjects", n_subjects, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise BadParameter("make_relit_faces", name, f"a whole number of at least {least}", value)
    height, width = check_size("make_relit_faces", size)
    chosen = _checked_lights(lights)
    poses = _checked_poses(yaw=yaw, pitch=pitch, mouth_open=mouth_open, smile=smile, glasses=glasses)
    if isinstance(surround, bool) or not isinstance(surround, int | float | np.number) or not 0 <= surround <= 1:
        raise BadParameter("make_relit_faces", "surround", "a number from 0 to 1", surround)
    around = (round(surround * height), round(surround * width))
    frame = (height + 2 * around[0], width + 2 * around[1])
    images = np.empty((n_subjects, len(poses), len(chosen), *frame), dtype=np.uint8)
    for i in progress(range(n_subjects)):
        heads: dict[tuple[float, ...], Surface] = {}
        for j, pose in enumerate(poses):
            see = _camera(np.random.default_rng([seed, i]), (height, width), pose, around, heads)
            for k, light in enumerate(chosen):
                images[i, j, k] = _expose(see(light), _sensor_rng(seed, i, light, pose))
    people = [f"person-{i:02d}" for i in range(n_subjects)]
    yaws, pitches, mouths, smiles, worn = np.tile(np.repeat(np.array(poses), len(chosen), axis=0), (n_subjects, 1)).T
    shots = [_name(light, pose) for pose in poses for light in chosen]
    return FaceSet(
        name="relit faces",
        images=images.reshape(-1, *frame),
        labels=np.repeat(np.array(people), len(shots)),
        azimuths=np.tile([azimuth for azimuth, _ in chosen], n_subjects * len(poses)),
        elevations=np.tile([elevation for _, elevation in chosen], n_subjects * len(poses)),
        files=tuple(f"{person}/{shot}" for person in people for shot in shots),
        yaws=yaws,
        pitches=pitches,
        mouth_opens=mouths,
        smiles=smiles,
        glasses=worn,
    )


def _checked_poses(**parts: float | Sequence[float]) -> list[Pose]:
    """Return every pose, or say which argument is wrong."""
    columns: dict[str, NDArray[np.float64]] = {}
    n_poses = 1
    for name, value in parts.items():
        low, high = POSE_RANGES[name]
        legal = f"a number from {low:g} to {high:g}, or a non-empty sequence of them"
        try:
            column = np.atleast_1d(np.array(value, dtype=np.float64))
        except (TypeError, ValueError):
            raise BadParameter("make_relit_faces", name, legal, value) from None
        if column.ndim != 1 or not len(column) or not np.all((column >= low) & (column <= high)):
            raise BadParameter("make_relit_faces", name, legal, value)
        if len(column) > 1 < n_poses != len(column):
            raise BadParameter(
                "make_relit_faces", name, f"a number or a sequence of {n_poses}, like the arguments before it", value
            )
        n_poses = max(n_poses, len(column))
        columns[name] = column + 0.0  # no minus zero
    return [
        (float(yaw), float(pitch), float(mouth), float(smile), float(worn))
        for yaw, pitch, mouth, smile, worn in np.stack(np.broadcast_arrays(*columns.values()), axis=1)
    ]


def _camera(
    rng: np.random.Generator,
    size: tuple[int, int],
    pose: Pose,
    around: tuple[int, int],
    heads: dict[tuple[float, ...], Surface],
) -> Callable[[Light], Field]:
    """Return what takes a photo of one person in one pose under a light; ``heads`` keeps faces that turn again."""
    if not any(pose) and not any(around):
        surface = make_surface(Canvas(rng), size)
        return lambda light: _radiance(surface, light)
    yaw, pitch, *face = pose
    if (key := tuple(face)) not in heads:
        heads[key] = make_head(rng, size, *face)
    head = view_of(heads[key], size, yaw, pitch, around)
    return lambda light: head.photo(_radiance(head.surface, light, turn=head.turn), _toward(light), BOUNCE)


def _name(light: Light, pose: Pose) -> str:
    """Name a light as Extended Yale B does; a pose follows where there is one."""
    azimuth, elevation = light
    yaw, pitch, mouth, smile, glasses = pose
    turned = f"Y{yaw:+03g}P{pitch:+03g}M{mouth:g}S{smile:g}" if any(pose) else ""
    turned += f"G{glasses:g}" if glasses else ""
    return f"A{azimuth:+04g}E{elevation:+03g}{turned}"


def _checked_lights(lights: Sequence[Light] | None) -> list[Light]:
    if lights is None:
        return [(float(azimuth), float(elevation)) for azimuth, elevation in YALE_LIGHTS]
    legal = "a non-empty sequence of (azimuth, elevation) in degrees, within -180..180 and -90..90, or None"
    try:
        pairs = np.array(list(lights), dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter("make_relit_faces", "lights", legal, lights) from None
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not np.all(np.abs(pairs) <= (180.0, 90.0)):
        raise BadParameter("make_relit_faces", "lights", legal, lights)
    return [(float(azimuth), float(elevation)) for azimuth, elevation in pairs + 0.0]  # no minus zero


def _sensor_rng(seed: int, person: int, light: Light, pose: Pose = AT_REST) -> np.random.Generator:
    """Noise of one photo, keyed by light and pose themselves and not by their places in the lists."""
    # Glasses are left out where nobody wears them: the noise of other photos stays what it was.
    shown = pose if pose[-1] else pose[:-1] if any(pose) else ()
    millidegrees = [round(1000 * (angle + 180)) for angle in (*light, *shown)]
    return np.random.default_rng([seed, person, *millidegrees])


def _toward(light: Light) -> NDArray[np.float64]:
    """Return the unit vector (x right, y down, z to the camera) from the face to the light."""
    azimuth, elevation = np.radians(light)
    level = np.cos(elevation)
    return np.array([-np.sin(azimuth) * level, -np.sin(elevation), np.cos(azimuth) * level], dtype=np.float64)


def _radiance(surface: Surface, light: Light, cast_shadows: bool = True, turn: Field = UPRIGHT) -> Field:
    """Light that reaches the camera from each pixel, shape (h, w); 1 is white paper facing the lamp.

    ``turn`` is the rotation from the head to the camera: lamp, walls and camera stay where they are if the head turns.
    """
    outside = _toward(light)
    toward, camera = outside @ turn, turn[2]
    facing = np.maximum(np.tensordot(toward, surface.normals, 1), 0.0)
    lit = _cast_light(surface, toward) if cast_shadows else np.ones_like(facing)
    shine = surface.gloss * _shine(surface.normals, toward, camera) * np.minimum(4 * facing, 1.0)
    # The wall beside the lamp is the brightest, so the shadow side keeps a trace of shape.
    walls = BOUNCE * surface.openness * (1 + 0.5 * np.tensordot(outside * [1.0, 1.0, 0.0] @ turn, surface.normals, 1))
    radiance: Field = surface.albedo * (facing * lit + walls) + shine * lit
    return radiance


def _shine(normals: Field, toward: NDArray[np.float64], camera: NDArray[np.float64]) -> Field:
    """Mirror-like part of the reflection for gloss 1, shape (h, w)."""
    halfway = toward + camera
    halfway = halfway / max(float(np.linalg.norm(halfway)), 1e-6)
    # Skin shines more at grazing light (Fresnel), which is what outlines a face lit from behind.
    grazing = 1 + 4 * (1 - abs(float(halfway @ camera))) ** 2
    return np.asarray(grazing * np.maximum(np.tensordot(halfway, normals, 1), 0.0) ** 14, dtype=np.float64)


def _cast_light(surface: Surface, toward: NDArray[np.float64]) -> Field:
    """Share of the lamp that is not hidden behind the face itself, shape (h, w)."""
    sideways = float(np.hypot(toward[0], toward[1]))
    if sideways < 1e-6:
        return np.ones_like(surface.albedo)
    horizon = np.degrees(np.arctan(_horizon_slope(surface, toward[:2] / sideways)))
    above = np.degrees(np.arctan2(toward[2], sideways)) - horizon
    ramp = np.clip(above / PENUMBRA_DEGREES + 0.4, 0.0, 1.0)
    soft = ramp * ramp * (3 - 2 * ramp)
    return np.asarray(gaussian_filter(soft, [0.007 / pitch for pitch in surface.pitch]), dtype=np.float64)


def _horizon_slope(surface: Surface, direction: NDArray[np.float64]) -> Field:
    """Steepest rise seen from each pixel along ``direction`` (x, y), shape (h, w).

    The walk goes one pixel at a time along the longer axis and mixes two neighbors across the other one, so that a
    step is four array operations instead of an interpolation.
    """
    per_pixel = np.array([direction[1] / surface.pitch[0], direction[0] / surface.pitch[1]])  # rows, columns per unit
    major = int(np.argmax(np.abs(per_pixel)))
    move = per_pixel / abs(per_pixel[major])
    unit_step = 1 / abs(per_pixel[major])
    reach = int(SHADOW_REACH / unit_step)
    # Nothing beyond the canvas throws a shadow: the head falls away there.
    tall = np.pad(surface.relief.astype(np.float32), reach + 1, constant_values=-9.0)
    height, width = surface.albedo.shape
    top, left = (side + reach + 1 for side in surface.margin)
    here = tall[top : top + height, left : left + width]
    slope = np.full(here.shape, -np.inf, dtype=np.float32)
    for step in _step_lengths(reach):
        row, column = move * step
        rows, columns = int(np.floor(row)), int(np.floor(column))
        share = np.float32((column - columns) if major == 0 else (row - rows))
        near = tall[top + rows : top + rows + height, left + columns : left + columns + width]
        if share > 0:
            rows, columns = (rows, columns + 1) if major == 0 else (rows + 1, columns)
            far = tall[top + rows : top + rows + height, left + columns : left + columns + width]
            near = near + share * (far - near)
        np.maximum(slope, (near - here) / np.float32(step * unit_step), out=slope)
    return slope.astype(np.float64)


def _step_lengths(reach: int) -> list[int]:
    """Every pixel near by, then wider and wider: far things need less precision."""
    steps = [1]
    while steps[-1] < reach:
        steps.append(steps[-1] + 1 + steps[-1] // 24)
    return [step for step in steps if step <= reach]


def _expose(radiance: Field, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light into 8-bit gray with the shot and read noise of a sensor."""
    gray = GRAY_PER_RADIANCE * radiance
    noisy = gray + np.sqrt(gray / ELECTRONS_PER_GRAY + READ_NOISE_GRAY**2) * rng.standard_normal(gray.shape)
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
