"""Every setting of the method: its legal values, and the presets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self, TypeAlias

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
from lightproof.types import is_positive, is_whole


@dataclass(frozen=True, eq=False, unsafe_hash=True)
class MethodSettings(Mapping[str, Any]):
    """Every setting of the method, see :class:`lightproof.FaceRecognizer`; the defaults are those of the paper's text.

    It also reads like a dict: ``settings["cell"]``, ``**settings`` and ``settings | {"cell": 8}``, which gives a dict.
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
    storage: str = "float"
    dtype: str = "float32"

    @classmethod
    def checked(cls, owner: str, values: Mapping[str, Any]) -> Self:
        """Make settings of values that :func:`check_settings` accepts; NumPy scalars become Python's."""
        check_settings(owner, values)
        return cls(**without_numpy(values))

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


@dataclass(frozen=True)
class ViewSettings:
    """One of the views in which the presets ``robust`` and ``fast`` compare faces.

    Attributes
    ----------
    shape : {"mesh", "eyes", "crop"}
        Whether the face is brought to the common shape by its mesh, cut by the eyes of its mesh, or as it came.
    size : tuple of int
        Rows and columns of the picture that is compared.
    numbers : int
        Numbers of a patch that are kept: see :mod:`lightproof.matching.views`.
    components : int
        Directions that span the patch of one photo and its copies.
    sorted_detail : int
        Cosines of each sorted projection, the Discrete R-CDT; 0 leaves it out.
    placed_detail : int
        Cosines, along and across, of where in the patch the gradients lie; see :mod:`lightproof.method.dct`.
    """

    shape: str
    size: tuple[int, int]
    numbers: int
    components: int
    sorted_detail: int = 0
    placed_detail: int = 3

    @property
    def method(self) -> MethodSettings:
        """What the pictures and their patches are made with."""
        return MethodSettings(
            size=self.size,
            light="tan-triggs",
            cell=6,
            overlap=0,
            n_angles=4,
            detail=max(self.sorted_detail, 1),
            components=self.components,
            copies="cross",
            aggregate="bounded",
            weights="length",
            storage="int8",
        )


@dataclass(frozen=True)
class EngineSettings:
    """A preset of the engine that galleries share with :class:`lightproof.FaceRecognizer`.

    Attributes
    ----------
    views : tuple of ViewSettings
        The patches of each cover whole ones of the finest view. Views by the eyes and as it came are alike: they differ
        in the picture alone.
    warps : bool
        Whether a probe, except in the common shape, is also compared after small moves, turns and scalings.
    """

    views: tuple[ViewSettings, ...]
    warps: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


PRESETS: Final[dict[str, MethodSettings | EngineSettings]] = {
    # The most accurate: beyond the paper, chosen on half of the people; docs/beyond.md shows every step.
    "robust": EngineSettings(
        views=(
            ViewSettings("mesh", (96, 84), numbers=16, components=3, sorted_detail=5),
            ViewSettings("mesh", (48, 42), numbers=24, components=4),
            ViewSettings("eyes", (96, 84), numbers=16, components=3),
            ViewSettings("crop", (96, 84), numbers=16, components=3),
        ),
    ),
    # Much cheaper, and its templates are a third.
    "fast": EngineSettings(
        views=(
            ViewSettings("mesh", (48, 42), numbers=24, components=3),
            ViewSettings("eyes", (96, 84), numbers=10, components=2),
            ViewSettings("crop", (96, 84), numbers=10, components=2),
        ),
        warps=False,
    ),
    # What the released code does from one photo a person; from several it keeps 0.8 of the singular values.
    "authors": MethodSettings(angle_scheme="authors", span="joint", aggregate="normalized"),
    # What the text says.
    "paper": MethodSettings(),
}

ENGINES: Final = {name: preset for name, preset in PRESETS.items() if isinstance(preset, EngineSettings)}
"""The presets whose settings belong together: nothing in them can be changed alone."""

PAPER_PRESETS: Final = {name: preset for name, preset in PRESETS.items() if isinstance(preset, MethodSettings)}
"""The presets of the paper's own estimator, whose every setting can be changed."""

Rule: TypeAlias = tuple[str | Callable[[], str], Callable[[Any], bool]]
"""What a parameter must be, in words, and the test of it."""


def check_parameter(owner: str, name: str, value: Any, rule: Rule) -> None:
    """Refuse a value that breaks a rule; ``owner`` is the class named in the message."""
    legal, is_legal = rule
    if not is_legal(value):
        raise BadParameter(owner, name, legal if isinstance(legal, str) else legal(), value)


def check_settings(owner: str, settings: Mapping[str, Any]) -> None:
    """Refuse the first of some settings outside its legal values; ``owner`` is the class named in the message."""
    for name, value in settings.items():
        check_parameter(owner, name, value, RULES[name])

    def refuse(name: str, legal: str) -> None:
        raise BadParameter(owner, name, legal, settings[name])

    # Values that are legal alone, but not together.
    cell, detail = settings.get("cell", 0), settings.get("detail", "all")
    if "overlap" in settings and settings["overlap"] >= cell:
        refuse("overlap", f"an int from 0 to cell - 1 = {cell - 1}")
    if "size" in settings and settings["size"] != "as-is" and min(settings["size"]) < cell:
        refuse("size", f"at least {cell} x {cell} for cell={cell}")
    if detail != "all" and detail >= cell**2:
        refuse("detail", f"an int from 1 to cell * cell - 1 = {cell**2 - 1}, or 'all'")
    is_compact = detail != "all" and is_whole(settings.get("components"), 1) and settings.get("span") == "kept"
    if settings.get("storage", "float") == "int8" and not is_compact:
        refuse("storage", "'float' unless detail and components are ints and span is 'kept'")


def without_numpy(values: Mapping[str, Any]) -> dict[str, Any]:
    """Turn NumPy scalars into Python's: a share is then a float, a number an int, and JSON can hold both."""

    def to_python(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(to_python(part) for part in value)
        return value.item() if isinstance(value, np.generic) else value

    return {name: to_python(value) for name, value in values.items()}


def at_least(least: int) -> Rule:
    """Rule: an int from ``least`` on."""
    return f"an int of {least} or more", lambda value: is_whole(value, least)


def one_of(names: Collection[str]) -> Rule:
    """Rule: one of some names; names that are added later count at once."""
    return lambda: f"one of {', '.join(map(repr, names))}", lambda value: isinstance(value, str) and value in names


def size_from(least: int) -> Rule:
    """Rule: rows and columns of ``least`` or more each."""

    def is_size(value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) == 2 and all(is_whole(side, least) for side in value)

    return f"(rows, columns) of {least} or more each", is_size


POSITIVE: Final[Rule] = ("a number above 0", is_positive)


def _is_fixed(value: Any) -> bool:
    return bool(0 < value <= 1) if isinstance(value, float | np.floating) else is_whole(value, 1)


FIXED_COMPONENTS: Final[Rule] = ("a share in (0, 1] given as a float or an int of 1 or more", _is_fixed)
"""Numbers of components that need no validation."""


def _word_or(word: str, rule: Rule) -> Callable[[Any], bool]:
    """Return the test that accepts one word, and beside it what a rule accepts."""
    return lambda value: value == word if isinstance(value, str) else rule[1](value)


RULES: Final[dict[str, Rule]] = {
    "preset": one_of(PRESETS),
    "random_state": at_least(0),
    "cropped": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "size": ("(rows, columns) of 2 or more each, or 'as-is'", _word_or("as-is", size_from(2))),
    "smoothing": one_of(SMOOTHINGS),
    "light": one_of(LIGHTS),
    "gradient": one_of(GRADIENTS),
    "cell": at_least(1),
    "overlap": at_least(0),
    "n_angles": at_least(1),
    "angle_scheme": one_of(ANGLE_SCHEMES),
    "detail": ("an int of 1 or more, or 'all'", _word_or("all", at_least(1))),
    "span": one_of(SPANS),
    "components": (
        "a share in (0, 1] given as a float, an int of 1 or more, or 'validate'",
        _word_or("validate", FIXED_COMPONENTS),
    ),
    "copies": one_of(COPIES),
    "deformations": one_of(("none", *DEFORMATIONS, "all")),
    "aggregate": one_of(AGGREGATES),
    "weights": one_of(("equal", "length")),
    "storage": one_of(("float", "int8")),
    "dtype": one_of(("float32", "float64")),
}
"""Legal values of the settings, each alone."""
