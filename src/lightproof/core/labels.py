"""Labels of people, of any type: checked, sorted, sampled."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np

from lightproof.errors import BadLabels
from lightproof.types import Array


def check_labels(y: Any, n_images: int) -> list[Hashable]:
    """Refuse what is not one hashable label for each image; return them as plain Python values."""
    if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
        raise BadLabels("y", f"a list of labels, one for each of the {n_images} images", repr(y))
    if hasattr(y, "shape") and len(y.shape) != 1:
        raise BadLabels("y", f"a list of labels, one for each of the {n_images} images", f"shape {y.shape}")
    labels = [check_label(label, f"y[{i}]") for i, label in enumerate(y)]
    if len(labels) != n_images:
        raise BadLabels("y", f"one label for each of the {n_images} images", f"{len(labels)} labels")
    return labels


def check_label(label: Any, where: str = "`label`") -> Hashable:
    """Refuse a label that is not hashable or not equal to itself; return it as a plain Python value."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, Hashable):
        raise BadLabels(where, "hashable, such as a str or an int", f"a {type(plain).__name__}")
    if plain != plain:
        raise BadLabels(where, "a label that equals itself, not NaN", repr(plain))
    return plain


def sort_labels(labels: Iterable[Hashable]) -> list[Hashable]:
    """Sort distinct labels; those that cannot be sorted stay in the order they came."""
    distinct: list[Any] = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def sampling_key(label: Hashable) -> int:
    """Hash a label to a number below 2 ** 63: a random order of labels that is always the same."""
    return int.from_bytes(blake2b(str(label).encode("utf-8", "backslashreplace"), digest_size=8).digest()) >> 1


def label_array(labels: list[Hashable]) -> Array:
    """Make a one-dimensional array: of the labels' own dtype where they share one, else of objects."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        typed = np.array(labels)
        # NumPy would turn huge ints into floats and drop a NUL at the end of a str.
        if typed.tolist() == labels and typed.dtype.kind in "Uifb":
            return typed
    out = np.empty(len(labels), object)
    out[:] = labels
    return out


@contextmanager
def one_photo_each() -> Iterator[None]:
    """Silence scikit-learn's warning that nearly as many labels as samples may be a regression: here that is normal."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        yield


def training_part(labels: Sequence[Hashable], seed: int, single: str = "refused") -> Array:
    """Mark two thirds of each person's photos, drawn at random, shape (n,); the others validate.

    The only photo of a person is "refused", or "trains".
    """
    people = list(dict.fromkeys(labels))
    if len(people) < 2:
        raise BadLabels("y", "of 2 or more people for components='validate'", f"{len(people)}")
    rng = np.random.default_rng(seed)
    marked = np.zeros(len(labels), bool)
    for person in people:
        photos = [i for i, label in enumerate(labels) if label == person]
        if len(photos) < 2 and single == "refused":
            raise BadLabels(f"Label {person!r}", "on 2 or more images for components='validate'", str(len(photos)))
        marked[rng.permutation(photos)[: max(1, len(photos) * 2 // 3)]] = True
    return marked
