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
from lightproof.imaging.detection import FACE_SIZE
from lightproof.method.presets import ENGINES, PAPER_PRESETS, PRESETS


@dataclass(frozen=True)
class Method:
    """How to build an estimator, and its names.

    ``build`` takes ``size`` and the settings (plain values) as keywords, and returns an estimator with ``fit`` and
    ``predict``.
    """

    name: str  # for the command line
    plain_title: str  # for tables, as in the paper if it is there
    kind: str  # "ours", "rival" and "network" (both stand in the paper), or "extra"
    build: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    size: tuple[int, int] = (64, 64)  # rows and columns of the pictures it works on
    smoothing: str = "float"  # of pictures before they are shrunk, or "8-bit"
    takes_aligned: bool = False  # whether it takes faces as they are compared, not only pictures
    variant: str = ""  # what differs from the method of that name, in words

    @property
    def title(self) -> str:
        """Return the name for tables, variant included."""
        return ", ".join(filter(None, (self.plain_title, self.variant)))

    @property
    def preset(self) -> str:
        """Return the preset of our own method, the empty string for others."""
        return str(self.settings.get("preset", ""))

    def changed(self, variant: str = "", *, size: Any = None, smoothing: str = "", **settings: Any) -> Method:
        """Return the method with some settings changed."""
        return replace(
            self,
            variant=", ".join(filter(None, (self.variant, variant))),
            settings={**self.settings, **settings},
            size=size or self.size,
            smoothing=smoothing or self.smoothing,
        )


def _ours(name: str, title: str, preset: str, **settings: Any) -> Method:
    """The paper's own method, on pictures of the size and smoothing of its preset."""
    size, smoothing = PAPER_PRESETS[preset].shape, PAPER_PRESETS[preset].smoothing
    return Method(name, title, "ours", FaceRecognizer, {"preset": preset, **settings}, size, smoothing)


def _engine(preset: str) -> Method:
    """Our own engine, on faces as they are compared."""
    return Method(preset, preset, "ours", build_engine, {"preset": preset}, FACE_SIZE, takes_aligned=True)


def build_engine(size: tuple[int, int], preset: str) -> FaceRecognizer:
    """Make a recognizer that brings faces to sizes of its own."""
    return FaceRecognizer(preset)


def _network(name: str, title: str) -> list[Method]:
    plain = Method(name, title, "network", NetworkClassifier, {"architecture": name, "augment": False})
    settings = {**plain.settings, "augment": True}
    return [plain, replace(plain, name=f"{name}-relit", plain_title=f"{title}, relit", settings=settings)]


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
        *map(_engine, ENGINES),
    ]
}
"""In the order of the paper's tables, then the presets that are not in the paper."""


def choose_methods(names: Sequence[str], deep: bool = False) -> list[Method]:
    """Find methods by name, in the order of :data:`METHODS`; no name means all, without networks unless ``deep``."""
    for name in names:
        check_name("method", name, list(METHODS))
    wanted = names or [m.name for m in METHODS.values() if deep or m.kind != "network"]
    return [method for method in METHODS.values() if method.name in wanted]


def methods_of_preset(preset: str) -> list[Method]:
    """Find the methods of our own with one of :data:`lightproof.method.presets.PRESETS`."""
    check_name("preset", preset, list(PRESETS))
    return [method for method in METHODS.values() if method.preset == preset]


def check_name(what: str, name: str, known: Sequence[str]) -> None:
    """Refuse an unknown name, and suggest the nearest one."""
    if name not in known:
        raise UnknownName(what, name, known, get_close_matches(name.lower(), known, n=1, cutoff=0.4))
