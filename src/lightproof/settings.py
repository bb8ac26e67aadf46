"""Every setting of the method: its legal values, and the presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from lightproof.aggregate import AGGREGATES
from lightproof.errors import BadParameter
from lightproof.gradients import GRADIENTS
from lightproof.images import SMOOTHINGS
from lightproof.light import LIGHTS
from lightproof.stack import SPANS
from lightproof.transform import ANGLE_SCHEMES
from lightproof.types import is_whole

PRESETS: Final[dict[str, dict[str, Any]]] = {
    # What the released code does from one photo a person; from several it keeps 0.8 of the singular values.
    "authors": {
        "size": (64, 64),
        "smoothing": "float",
        "light": "none",
        "gradient": "sobel",
        "cell": 4,
        "overlap": 1,
        "n_angles": 4,
        "angle_scheme": "authors",
        "span": "joint",
        "components": 0.99,
        "aggregate": "normalized",
        "dtype": "float32",
    },
    # What the text says.
    "paper": {
        "size": (64, 64),
        "smoothing": "float",
        "light": "none",
        "gradient": "sobel",
        "cell": 4,
        "overlap": 1,
        "n_angles": 4,
        "angle_scheme": "uniform",
        "span": "kept",
        "components": 0.99,
        "aggregate": "sum",
        "dtype": "float32",
    },
}

FEATURE_SETTINGS: Final = (
    "size", "smoothing", "light", "gradient", "cell", "overlap", "n_angles", "angle_scheme", "dtype",
)  # fmt: skip
"""Those that shape the features; the others shape the subspaces and the decision."""


def check_settings(owner: str, settings: dict[str, Any]) -> None:
    """Refuse the first setting outside its legal values.

    Parameters
    ----------
    owner : str
        Class named in the message.
    settings : dict
        Some or all of the settings of a preset, and ``preset`` itself.
    """
    for name, value in settings.items():
        legal, is_legal = _LEGAL[name]
        if not is_legal(value):
            raise BadParameter(owner, name, legal, value)
    if "overlap" in settings and settings["overlap"] >= settings["cell"]:
        legal = f"an int from 0 to cell - 1 = {settings['cell'] - 1}"
        raise BadParameter(owner, "overlap", legal, settings["overlap"])
    if "size" in settings and settings["size"] != "as-is" and min(settings["size"]) < settings["cell"]:
        legal = f"at least {settings['cell']} x {settings['cell']} for cell={settings['cell']}"
        raise BadParameter(owner, "size", legal, settings["size"])


def plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Turn NumPy scalars into Python's own, so that a share is a float, a number an int, and JSON can hold both."""

    def value_of(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(value_of(part) for part in value)
        return value.item() if isinstance(value, np.generic) else value

    return {name: value_of(value) for name, value in settings.items()}


def check_components(owner: str, components: Any) -> None:
    """Refuse a number of components that cannot be used without validation."""
    if not _is_share_or_count(components):
        legal = "a share in (0, 1] given as a float or an int of 1 or more"
        raise BadParameter(owner, "components", legal, components)


def _at_least(least: int) -> tuple[str, Callable[[Any], bool]]:
    return f"an int of {least} or more", lambda value: is_whole(value, least)


def _one_of(names: Iterable[str]) -> tuple[str, Callable[[Any], bool]]:
    known = tuple(names)
    return f"one of {', '.join(map(repr, known))}", lambda value: isinstance(value, str) and value in known


def _is_size(value: Any) -> bool:
    if isinstance(value, str):
        return value == "as-is"
    return isinstance(value, tuple | list) and len(value) == 2 and all(is_whole(side, 2) for side in value)


def _is_share_or_count(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(0 < value <= 1)
    return is_whole(value, 1)


def _is_components(value: Any) -> bool:
    return _is_share_or_count(value) or (isinstance(value, str) and value == "validate")


_LEGAL: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "preset": _one_of(PRESETS),
    "random_state": _at_least(0),
    "size": ("(rows, columns) of 2 or more each, or 'as-is'", _is_size),
    "smoothing": _one_of(SMOOTHINGS),
    "light": _one_of(LIGHTS),
    "gradient": _one_of(GRADIENTS),
    "cell": _at_least(1),
    "overlap": _at_least(0),
    "n_angles": _at_least(1),
    "angle_scheme": _one_of(ANGLE_SCHEMES),
    "span": _one_of(SPANS),
    "components": ("a share in (0, 1] given as a float, an int of 1 or more, or 'validate'", _is_components),
    "aggregate": _one_of(AGGREGATES),
    "dtype": _one_of(("float32", "float64")),
}
