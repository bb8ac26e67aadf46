"""Every setting of the method: its legal values, and the presets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from lightproof.core.images import SMOOTHINGS
from lightproof.errors import BadParameter
from lightproof.method.aggregate import AGGREGATES
from lightproof.method.deformations import DEFORMATIONS
from lightproof.method.gradients import GRADIENTS
from lightproof.method.illumination import LIGHTS
from lightproof.method.subspace_bank import SPANS
from lightproof.method.transform import ANGLE_SCHEMES
from lightproof.method.warps import COPIES
from lightproof.types import is_whole


@dataclass(frozen=True, eq=False, unsafe_hash=True)
class MethodSettings(Mapping[str, Any]):
    """Every setting of the method, see :class:`lightproof.FaceRecognizer`; the defaults are what the paper's text says.

    It reads like a dict too: ``settings["cell"]``, ``**settings`` and ``settings | {"cell": 8}``, which gives a dict.
    """

    size: tuple[int, int] | str = (64, 64)
    smoothing: str = "float"
    light: str = "none"
    gradient: str = "sobel"
    cell: int = 4
    overlap: int = 1
    n_angles: int = 4
    angle_scheme: str = "uniform"
    detail: int | str = "all"
    span: str = "kept"
    components: float | str = 0.99
    copies: str = "none"
    deformations: str = "none"
    aggregate: str = "sum"
    weights: str = "equal"
    search: str = "none"
    storage: str = "float"
    dtype: str = "float32"

    @classmethod
    def checked(cls, owner: str, values: Mapping[str, Any]) -> Self:
        """Make settings of values that :func:`check_settings` accepts; NumPy scalars become Python's own."""
        check_settings(owner, values)
        return cls(**plain(values))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that images are brought to, where the images do not decide them."""
        if isinstance(self.size, str):
            raise TypeError("the images decide their size: size='as-is'")
        return self.size

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)

    def __or__(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **changes}


@dataclass(frozen=True, eq=False, unsafe_hash=True)
class GallerySettings(MethodSettings):
    """What a gallery compares by: beside the sorted projections, where in a patch the gradients lie.

    See :mod:`lightproof.method.dct`. With both, patches that overlap bring next to nothing more; and a gallery does not
    search.
    """

    placed_detail: int = 3
    placed_components: int = 4

    @classmethod
    def checked(cls, owner: str, values: Mapping[str, Any]) -> Self:
        """Make settings of values that a gallery can have: all of them, and some of them fixed."""
        names = cls.__dataclass_fields__
        if values.keys() != names.keys():
            raise BadParameter(owner, "settings", f"a dict of {', '.join(names)}", ", ".join(values))
        for name, only in (("aggregate", "bounded"), ("storage", "int8"), ("deformations", "none")):
            if values[name] != only:
                raise BadParameter(owner, name, repr(only), values[name])
        if values["size"] == "as-is":
            raise BadParameter(owner, "size", "(rows, columns)", "as-is")
        return super().checked(owner, values)


PRESETS: Final[dict[str, MethodSettings]] = {
    # The most accurate: beyond the paper, chosen on half of the people; docs/beyond.md shows every step.
    "robust": MethodSettings(
        size=(96, 84),
        light="tan-triggs",
        cell=6,
        overlap=3,
        detail=5,
        components=3,
        copies="cross",
        aggregate="bounded",
        weights="length",
        search="similarity",
        storage="int8",
    ),
    # Much cheaper, for aligned faces.
    "fast": MethodSettings(
        size=(72, 63),
        light="tan-triggs",
        n_angles=3,
        detail=3,
        components=2,
        copies="cross",
        aggregate="bounded",
        weights="length",
        storage="int8",
    ),
    # What the released code does from one photo a person; from several it keeps 0.8 of the singular values.
    "authors": MethodSettings(angle_scheme="authors", span="joint", aggregate="normalized"),
    # What the text says.
    "paper": MethodSettings(),
}

GALLERIES: Final[dict[str, GallerySettings]] = {
    "robust": GallerySettings(**PRESETS["robust"] | {"overlap": 0, "search": "none"}),
    "fast": GallerySettings(**PRESETS["fast"] | {"overlap": 0, "placed_detail": 2, "placed_components": 2}),
}

WEIGHTS: Final = ("equal", "length")

SEARCHES: Final = ("none", "similarity")

STORAGES: Final = ("float", "int8")


def check_settings(owner: str, settings: Mapping[str, Any]) -> None:
    """Refuse the first setting outside its legal values.

    Parameters
    ----------
    owner : str
        Class named in the message.
    settings : mapping
        Some or all of the settings of a preset, and ``preset`` itself.
    """
    for name, value in settings.items():
        legal, is_legal = _LEGAL[name]
        if not is_legal(value):
            raise BadParameter(owner, name, legal if isinstance(legal, str) else legal(), value)
    if "overlap" in settings and settings["overlap"] >= settings["cell"]:
        legal = f"an int from 0 to cell - 1 = {settings['cell'] - 1}"
        raise BadParameter(owner, "overlap", legal, settings["overlap"])
    if "size" in settings and settings["size"] != "as-is" and min(settings["size"]) < settings["cell"]:
        legal = f"at least {settings['cell']} x {settings['cell']} for cell={settings['cell']}"
        raise BadParameter(owner, "size", legal, settings["size"])
    _check_together(owner, settings)


def _check_together(owner: str, settings: Mapping[str, Any]) -> None:
    """Refuse values that are legal alone but not side by side."""
    points = settings["cell"] ** 2 if "cell" in settings else 0
    detail = settings.get("detail", "all")
    if detail != "all" and detail >= points:
        raise BadParameter(owner, "detail", f"an int from 1 to cell * cell - 1 = {points - 1}, or 'all'", detail)
    if "placed_detail" in settings and settings["placed_detail"] >= settings["cell"]:
        legal = f"an int from 1 to cell - 1 = {settings['cell'] - 1}"
        raise BadParameter(owner, "placed_detail", legal, settings["placed_detail"])
    if settings.get("search", "none") != "none" and (detail == "all" or settings["aggregate"] != "bounded"):
        legal = "'none' unless detail is an int and aggregate is 'bounded'"
        raise BadParameter(owner, "search", legal, settings["search"])
    if settings.get("storage", "float") == "int8":
        whole = is_whole(settings["components"], 1) and settings["span"] == "kept" and detail != "all"
        if not whole:
            legal = "'float' unless detail and components are ints and span is 'kept'"
            raise BadParameter(owner, "storage", legal, settings["storage"])


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
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


def _one_of(names: Collection[str]) -> tuple[Callable[[], str], Callable[[Any], bool]]:
    # Looked up when asked: whoever enters a light or a rule by a new name can use it at once.
    return lambda: f"one of {', '.join(map(repr, names))}", lambda value: isinstance(value, str) and value in names


def _is_size(value: Any) -> bool:
    if isinstance(value, str):
        return value == "as-is"
    return isinstance(value, tuple | list) and len(value) == 2 and all(is_whole(side, 2) for side in value)


def _is_share_or_count(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(0 < value <= 1)
    return is_whole(value, 1)


def _is_detail(value: Any) -> bool:
    return value == "all" if isinstance(value, str) else is_whole(value, 1)


def _is_components(value: Any) -> bool:
    return _is_share_or_count(value) or (isinstance(value, str) and value == "validate")


_LEGAL: Final[dict[str, tuple[str | Callable[[], str], Callable[[Any], bool]]]] = {
    "preset": _one_of(PRESETS),
    "random_state": _at_least(0),
    "cropped": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "size": ("(rows, columns) of 2 or more each, or 'as-is'", _is_size),
    "smoothing": _one_of(SMOOTHINGS),
    "light": _one_of(LIGHTS),
    "gradient": _one_of(GRADIENTS),
    "cell": _at_least(1),
    "overlap": _at_least(0),
    "n_angles": _at_least(1),
    "angle_scheme": _one_of(ANGLE_SCHEMES),
    "detail": ("an int of 1 or more, or 'all'", _is_detail),
    "span": _one_of(SPANS),
    "components": ("a share in (0, 1] given as a float, an int of 1 or more, or 'validate'", _is_components),
    "copies": _one_of(COPIES),
    "deformations": _one_of(("none", *DEFORMATIONS, "all")),
    "aggregate": _one_of(AGGREGATES),
    "weights": _one_of(WEIGHTS),
    "search": _one_of(SEARCHES),
    "storage": _one_of(STORAGES),
    "dtype": _one_of(("float32", "float64")),
    "placed_detail": _at_least(1),
    "placed_components": _at_least(1),
}
