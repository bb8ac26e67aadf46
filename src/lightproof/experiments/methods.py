"""Every method that can be compared, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from lightproof.errors import UnknownName
from lightproof.estimators.baselines import (
    gradientface_svm,
    hog_svm,
    lbp_neighbor,
    log_hog_svm,
    logdct_svm,
    mslde_svm,
    tan_triggs_neighbor,
    weberface_svm,
)
from lightproof.estimators.baselines.deep_networks import NetworkClassifier
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.method.presets import PRESETS


@dataclass(frozen=True)
class Method:
    """How to build an estimator, and what it is called.

    Attributes
    ----------
    name : str
        Its short name, for the command line.
    title : str
        Its name in tables, as in the paper where the paper has it.
    kind : {"ours", "rival", "extra", "network"}
        ``"rival"`` and ``"network"`` stand in the paper, ``"extra"`` does not.
    build : callable
        Takes ``size`` and the settings as keywords, returns an estimator with ``fit`` and ``predict``.
    settings : mapping
        Plain values.
    size : (int, int)
        Rows and columns of the pictures it works on.
    smoothing : {"float", "8-bit"}
        How pictures are smoothed before they are shrunk.
    """

    name: str
    title: str
    kind: str
    build: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    size: tuple[int, int] = (64, 64)
    smoothing: str = "float"

    @property
    def preset(self) -> str:
        """Return the preset of our own method, the empty string for others."""
        return str(self.settings.get("preset", ""))

    def changed(self, title: str = "", *, size: Any = None, smoothing: str = "", **settings: Any) -> Method:
        """Return a variant of the method with some settings changed and a title that says so."""
        return replace(
            self,
            title=f"{self.title}, {title}" if title else self.title,
            settings={**self.settings, **settings},
            size=size or self.size,
            smoothing=smoothing or self.smoothing,
        )


PAPER_PRESETS: Final = ("authors", "paper")
"""What is in the paper; every other preset is ours alone, and a method under its own name."""


def _ours(name: str, title: str, preset: str, **settings: Any) -> Method:
    """Our own method, on pictures brought to size the way its preset does it."""
    size, smoothing = PRESETS[preset].shape, PRESETS[preset].smoothing
    return Method(name, title, "ours", FaceRecognizer, {"preset": preset, **settings}, size, smoothing)


def _network(name: str, title: str) -> list[Method]:
    plain = Method(name, title, "network", NetworkClassifier, {"architecture": name, "augment": False})
    relit = plain.changed("relit", augment=True)
    return [plain, replace(relit, name=f"{name}-relit")]


METHODS: Final[dict[str, Method]] = {
    method.name: method
    for method in [
        Method("weberface", "WeberFace + SVM", "rival", weberface_svm),
        Method("mslde", "MSLDE + SVM", "rival", mslde_svm),
        Method("gradientface", "GradientFace + SVM", "rival", gradientface_svm),
        Method("log-dct", "Log + DCT + SVM", "rival", logdct_svm),
        Method("hog", "HoG + SVM", "rival", hog_svm),
        Method("log-hog", "Log + HoG + SVM", "rival", log_hog_svm),
        *_network("vgg16", "VGG-16"),
        *_network("resnet50", "ResNet-50"),
        *_network("densenet121", "DenseNet-121"),
        Method("tan-triggs", "Tan & Triggs + NN", "extra", tan_triggs_neighbor),
        Method("lbp", "LBP + NN", "extra", lbp_neighbor),
        _ours("rcdt", "R-CDT + NS", preset="authors", light="none"),
        _ours("log-rcdt", "log + R-CDT + NS", preset="authors", light="log"),
        _ours("rcdt-text", "R-CDT + NS, text to the letter", preset="paper", light="none"),
        _ours("log-rcdt-text", "log + R-CDT + NS, text to the letter", preset="paper", light="log"),
        *(_ours(preset, preset, preset) for preset in PRESETS if preset not in PAPER_PRESETS),
    ]
}
"""In the order of the paper's tables, then the presets that are not in the paper."""


def choose_methods(names: Sequence[str], deep: bool = False) -> list[Method]:
    """Find methods by name; no name means all of them, without networks unless ``deep``.

    Parameters
    ----------
    names : sequence of str
    deep : bool
        Whether networks are among "all".

    Returns
    -------
    list of Method
        In the order of :data:`METHODS`.
    """
    for name in names:
        check_name("method", name, list(METHODS))
    wanted = names or [m.name for m in METHODS.values() if deep or m.kind != "network"]
    return [method for method in METHODS.values() if method.name in wanted]


def methods_of_preset(preset: str) -> list[Method]:
    """Find the methods of our own that follow a preset.

    Parameters
    ----------
    preset : str
        One of :data:`lightproof.method.presets.PRESETS`.

    Returns
    -------
    list of Method
        In the order of :data:`METHODS`.
    """
    check_name("preset", preset, list(PRESETS))
    return [method for method in METHODS.values() if method.preset == preset]


def check_name(what: str, name: str, known: Sequence[str]) -> None:
    """Refuse a name that is not known, and suggest the nearest."""
    if name not in known:
        raise UnknownName(what, name, known, get_close_matches(name.lower(), known, n=1, cutoff=0.4))
