"""Decoders that keep their troubles to themselves; those that matter leave as errors."""

from __future__ import annotations

import ctypes
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache

from PIL import _imaging

_lock = threading.Lock()
_silence = ExitStack()
_readers = 0


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Pillow: spoiled notes of the camera do not spoil the picture, and we judge its size ourselves.

    The filters of warnings belong to the whole process. Threads that each put them back would put back those of each
    other; so the first that comes sets the filter, and the last that leaves puts the old ones back.
    """
    global _readers
    with _lock:
        if _readers == 0:
            _silence.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", module=r"PIL\b")
        _readers += 1
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if _readers == 0:
                _silence.close()


@lru_cache(1)
def silence_libtiff() -> None:
    """Keep libtiff from telling its troubles to the terminal, past Python; Pillow tells them too."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(_imaging.__file__).TIFFSetErrorHandler(None)
