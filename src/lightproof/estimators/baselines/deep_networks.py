"""VGG-16, ResNet-50 and DenseNet-121, trained from scratch on the photos at hand.

PyTorch and pytorchcv are the extra ``deep``. They are imported when a network is fitted, not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from typing import Any, Final, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lightproof.core.images import bring_to_size, check_images
from lightproof.core.labels import check_labels, label_array, sort_labels
from lightproof.errors import BadLabels, BadParameter, MissingExtra
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.method.illumination import relight
from lightproof.method.presets import POSITIVE, Rule, at_least, check_parameter, one_of, size_from
from lightproof.types import Array, Floats, Ints, is_positive, is_whole

ARCHITECTURES: Final = ("vgg16", "resnet50", "densenet121")

VALIDATE_EVERY: Final = 10
"""Iterations between two validations."""

MIN_SIDE: Final = 32
"""Smallest picture, in pixels: every network halves it five times."""

IMAGES_PER_BLOCK: Final = 128
"""Images classified together: memory stays bounded."""

HELD_BACK_SHARE: Final = 0.1
"""Share of the photos that validate."""

ALPHA: Final = (0.1, 3.0)
BETA: Final = (1.0, 30.0)
SLOPE: Final = (0.1, 3.0)
"""The paper's ranges of alpha, beta and both parts of b, for grey values 0..255."""


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkClassifier(ClassifierMixin, BaseEstimator):
    r"""Convolutional network trained from scratch, as the paper's deep rows are.

    The definitions are those of pytorchcv, for one grey channel and with random weights. They are made for
    224 x 224 pixels; for smaller pictures the last average is taken over the whole map, and the first dense layer of
    VGG takes as many inputs as the map has. Pixels enter as :math:`(I - 0.5) / 0.25` with white = 1. The loss is the
    cross entropy, the optimizer is Adam.

    **Validation.** A tenth of the photos is held back at random, never the last photo of a person. The network is
    validated on them every ten iterations and after the last one. The answers come from the state with the best
    validation accuracy, the latest one among equals: with few photos to validate on, the earliest would often be a
    network that has learned little. With one photo a person a tenth cannot be held back, because those people would
    not be trained at all. Then every photo trains; with ``augment`` a tenth of the relit copies validates, without it
    the training photos themselves do.

    **Augmentation.** Each training photo gets ``copies`` relit copies :math:`\alpha I + \beta + b \cdot x`, made once
    before the training, over the whole picture and in grey values 0..255. :math:`\alpha` is drawn evenly from
    [0.1, 3], :math:`\beta` from [1, 30], each part of :math:`b` from [0.1, 3]. Values are clipped to 0..255. The
    paper says five copies for one photo a person, and gives no number for several photos; here it is the same.
    :math:`x` runs over the unit square, as the paper defines the domain of an image; taken at its word, :math:`b` then
    adds at most 6 grey values. A quarter of the pixels of such copies of Extended Yale B's training photos is white;
    were :math:`x` counted in pixels, it would be more than half. The paper does not say whether it clipped.

    Parameters
    ----------
    architecture : {"vgg16", "resnet50", "densenet121"}, default="resnet50"
    augment : bool, default=False
        Whether to add relit copies.
    copies : int, default=5
        Relit copies of each photo.
    size : (int, int), default=(64, 64)
        Rows and columns the images are brought to, at least 32 each.
    learning_rate : float, default=0.001
    batch : int, default=32
        Photos in one iteration, at least 2. A last batch of one photo joins the batch before it.
    epochs : int, default=100
        Times each photo is seen, at most.
    budget : float or None, default=None
        Seconds of wall clock for the training. It ends with the first iteration that goes beyond.
    device : str, default="cpu"
        A device of PyTorch, such as "cpu" or "cuda:0".
    seed : int, default=0
        For weights, order, copies and the photos held back. The random state of PyTorch is left as it was.
    threads : int or None, default=None
        Threads of PyTorch during ``fit`` and ``predict``; None leaves them as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    iterations_ : int
        Iterations done.
    cut_short_ : bool
        Whether the budget ended the training before the last epoch.
    seconds_ : float
        Seconds the training took, validations included.
    chosen_ : str
        Which state answers, in one line.
    network_ : torch.nn.Module
    """

    architecture: str = "resnet50"
    augment: bool = False
    copies: int = 5
    size: tuple[int, int] = (64, 64)
    learning_rate: float = 0.001
    batch: int = 32
    epochs: int = 100
    budget: float | None = None
    device: str = "cpu"
    seed: int = 0
    threads: int | None = None

    def fit(self, X: Any, y: Any) -> Self:
        """Train a new network on grey images X, (n, h, w) or a list of (h, w), of two or more people y."""
        for name, rule in RULES.items():
            check_parameter(type(self).__name__, name, getattr(self, name), rule)
        torch = _deep("torch")
        _check_device(torch, self.device)
        images = check_images(X)
        labels = check_labels(y, len(images))
        people = sort_labels(labels)
        if len(people) < 2:
            raise BadLabels("y", "the names of at least two people", f"only {people[0]!r}")
        index = {person: i for i, person in enumerate(people)}
        who = np.array([index[label] for label in labels])
        rng = np.random.default_rng(self.seed)
        rows, columns = self.size
        stack = bring_to_size(images, (rows, columns), np.float32)
        photos = divide(stack, who, self.copies if self.augment else 0, rng)
        with _threads(torch, self.threads), _own_randomness(torch, self.device, self.seed):
            self.network_ = build_network(self.architecture, (rows, columns), len(people)).to(self.device)
            self._train(torch, photos, rng)
        self.classes_ = label_array(people)
        return self

    def predict(self, X: Any) -> Array:
        """Name the person on each grey image, (n, h, w) or a list of (h, w) -> (n,)."""
        if not hasattr(self, "classes_"):
            raise NotFitted(type(self).__name__, "predict")
        torch = _deep("torch")
        rows, columns = self.size
        images = bring_to_size(check_images(X), (rows, columns), np.float32)
        with _threads(torch, self.threads):
            named: Array = self.classes_[_answers(torch, self.network_, images, self.device)]
        return named

    def _train(self, torch: Any, photos: Photos, rng: np.random.Generator) -> None:
        """Train, and leave the network in its best state."""
        net = self.network_
        optimizer = torch.optim.Adam(net.parameters(), lr=float(self.learning_rate))
        inputs = _tensor(torch, photos.images, self.device)
        targets = torch.as_tensor(photos.who, device=self.device)
        planned = self.epochs * len(in_batches(photos.who, self.batch))
        best = _Best()
        start = monotonic()
        for done, batch in enumerate(shuffled(len(photos.who), self.batch, self.epochs, rng), start=1):
            net.train()
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs[batch]), targets[batch]).backward()
            optimizer.step()
            over = self.budget is not None and monotonic() - start >= self.budget
            if over or done % VALIDATE_EVERY == 0 or done == planned:
                answers = _answers(torch, net, photos.unseen, self.device)
                best.take(float(np.mean(answers == photos.unseen_who)), done, net)
            if over:
                break
        net.load_state_dict(best.state)
        self.iterations_ = done
        self.cut_short_ = done < planned
        self.seconds_ = monotonic() - start
        self.chosen_ = f"{best.summary(photos.unseen_kind)} of {done}"
        if self.cut_short_:
            self.chosen_ += f", cut short after {self.seconds_:.0f} s"


@dataclass
class _Best:
    """The best state so far: the latest among equals."""

    validations: int = 0
    accuracy: float = -1.0
    iteration: int = 0
    state: dict[str, Any] = field(default_factory=dict)

    def take(self, accuracy: float, iteration: int, net: Any) -> None:
        self.validations += 1
        if accuracy >= self.accuracy:
            self.accuracy, self.iteration = accuracy, iteration
            self.state = {name: value.detach().clone() for name, value in net.state_dict().items()}

    def summary(self, photos: str) -> str:
        count = f"{self.validations} validation{'s' if self.validations > 1 else ''}"
        return f"best of {count} on {photos}: {100 * self.accuracy:.1f} % at iteration {self.iteration}"


class Photos(NamedTuple):
    """Photos that train, and unseen ones that validate."""

    images: Floats
    who: Ints
    unseen: Floats
    unseen_who: Ints
    unseen_kind: str


def divide(images: Floats, who: Ints, copies: int, rng: np.random.Generator) -> Photos:
    """Hold back photos for validation and relight the others, by the rule of :class:`NetworkClassifier`."""
    held = held_back(who, rng)
    kept = np.setdiff1d(np.arange(len(who)), held)
    copied = np.repeat(kept, copies)
    relit, relit_who = relit_copies(images[copied], rng), who[copied]
    if len(held):
        unseen, unseen_who, kind = images[held], who[held], f"{len(held)} held-back photo{'s' if len(held) > 1 else ''}"
    elif copies:
        chosen = rng.permutation(len(relit)) < max(1, round(HELD_BACK_SHARE * len(relit)))
        count = int(chosen.sum())
        unseen, unseen_who = relit[chosen], relit_who[chosen]
        kind = f"{count} held-back relit cop{'ies' if count > 1 else 'y'}"
        relit, relit_who = relit[~chosen], relit_who[~chosen]
    else:
        unseen, unseen_who, kind = images, who, f"the {len(who)} training photos"
    images, who = np.concatenate([images[kept], relit]), np.concatenate([who[kept], relit_who])
    return Photos(images, who, unseen, unseen_who, kind)


def held_back(who: Ints, rng: np.random.Generator) -> Ints:
    """Draw a tenth of the photos, but never the last photo of a person."""
    order = rng.permutation(len(who))
    _, first_of_each = np.unique(who[order], return_index=True)
    free = np.delete(order, first_of_each)
    return free[: max(1, round(HELD_BACK_SHARE * len(who)))]


def in_batches(photos: Ints, size: int) -> list[Ints]:
    """Cut into batches; a single last photo joins the batch before it, because it has no batch statistics."""
    cuts = list(range(size, len(photos), size))
    if cuts and len(photos) - cuts[-1] == 1:
        cuts.pop()
    return np.split(photos, cuts)


def shuffled(n: int, size: int, epochs: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield the batches of several epochs, each in an order of its own."""
    for _ in range(epochs):
        yield from in_batches(rng.permutation(n), size)


def relit_copies(images: Floats, rng: np.random.Generator) -> Floats:
    """Put each image, with white = 1, under a light drawn from the paper's ranges; clip it to black and white."""
    n = len(images)
    relit = relight(255 * images, rng.uniform(*ALPHA, n), rng.uniform(*BETA, n), rng.uniform(*SLOPE, (n, 2)))
    return np.clip(relit / 255, 0, 1).astype(images.dtype)


def build_network(architecture: str, size: tuple[int, int], people: int) -> Any:
    """Return a network of pytorchcv with random weights for grey pictures of a size, to tell so many people apart."""
    torch = _deep("torch")
    net = _deep("pytorchcv.model_provider").get_model(architecture, pretrained=False, in_channels=1, num_classes=people)
    if architecture == "vgg16":
        rows, columns = (side // MIN_SIDE for side in size)
        net.output = _deep("pytorchcv.models.vgg").VGGOutputBlock(in_channels=512 * rows * columns, classes=people)
        return net
    net.features.final_pool = torch.nn.AdaptiveAvgPool2d(1)
    # Channels stored last make DenseNet a fifth faster on a processor; VGG gains nothing and cannot.
    return net.to(memory_format=torch.channels_last)


def _answers(torch: Any, net: Any, images: Floats, device: str) -> Ints:
    net.eval()
    with torch.inference_mode():
        blocks = (images[start : start + IMAGES_PER_BLOCK] for start in range(0, len(images), IMAGES_PER_BLOCK))
        return np.concatenate([net(_tensor(torch, each, device)).argmax(dim=1).cpu().numpy() for each in blocks])


def _tensor(torch: Any, images: Floats, device: str) -> Any:
    scaled = (images[:, None] - 0.5) / 0.25
    return torch.as_tensor(scaled, dtype=torch.float32, device=device)


def check_device(device: str) -> None:
    """Refuse a missing PyTorch or pytorchcv, and a device that PyTorch does not have."""
    _deep("pytorchcv.model_provider")
    _check_device(_deep("torch"), device)


def _deep(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra("The networks need PyTorch and pytorchcv", "deep") from None


@contextmanager
def _own_randomness(torch: Any, device: str, seed: int) -> Iterator[None]:
    devices = [device] if torch.device(device).type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(seed))
        yield


@contextmanager
def _threads(torch: Any, threads: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(before if threads is None else int(threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _check_device(torch: Any, device: object) -> None:
    try:
        torch.zeros(1, device=torch.device(device)).item()
    except (RuntimeError, AssertionError, TypeError, NotImplementedError):
        legal = "a device that this PyTorch can use, such as 'cpu'"
        raise BadParameter("NetworkClassifier", "device", legal, device) from None


RULES: Final[dict[str, Rule]] = {
    "architecture": one_of(ARCHITECTURES),
    "augment": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "copies": at_least(1),
    "size": size_from(MIN_SIDE),
    "learning_rate": POSITIVE,
    "batch": at_least(2),
    "epochs": at_least(1),
    "budget": ("a number of seconds above 0, or None", lambda value: value is None or is_positive(value)),
    "seed": ("an int from 0 to 2**32 - 1", lambda value: is_whole(value, 0) and value < 2**32),
    "threads": ("an int of 1 or more, or None", lambda value: value is None or is_whole(value, 1)),
}
"""Legal values of the parameters."""
