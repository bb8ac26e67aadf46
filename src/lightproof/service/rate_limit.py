"""How often somebody may ask: a bucket of tokens for each address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MOST: Final = 10_000
"""Addresses that are remembered; the one that was longest silent is forgotten first, and starts anew."""


class Rates:
    """Lets each address do something so often.

    Parameters
    ----------
    rate : float
        Times a second, for long; 0 is no limit.
    burst : float
        Times at once.
    now : callable
        Tells the time.
    """

    def __init__(self, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str, cost: float = 1.0) -> float:
        """Take a token if there is one; return 0, or the seconds until there is one.

        With a cost of 0 nothing is taken, and it is only said whether there is one.
        """
        if not self._rate:
            return 0.0
        now = self._now()
        left, since = self._buckets.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        missing = max(cost, 1.0) - left
        self._buckets[address] = (left if missing > 0 else left - cost, now)
        if len(self._buckets) > MOST:
            self._buckets.popitem(last=False)
        return missing / self._rate if missing > 0 else 0.0
