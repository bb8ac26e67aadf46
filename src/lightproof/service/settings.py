"""Settings of a service, and the limits of what it accepts."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from lightproof.errors import BadParameter
from lightproof.types import is_whole

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that nobody else can reach."""

MIN_TOKEN_LETTERS: Final = 16
"""Shorter tokens can be guessed."""

MIB: Final = 2**20

MAX_SHARES_OF_ADDRESS: Final = 2
"""One address may hold one part in so many of the memory for requests."""


@dataclass(frozen=True)
class Limits:
    """What a service accepts at most, in one request and at one time."""

    photo_bytes: int = 24 * MIB
    photo_pixels: int = 25_000_000
    photos: int = 50  # in one request
    body_bytes: int = 64 * MIB
    import_bytes: int = 1024 * MIB  # length of a request that brings a gallery
    held_bytes: int = 256 * MIB  # of all requests that are being received or worked on
    waiting: int = 64  # requests that wait for their turn; further ones are refused as busy
    rate: float = 100.0  # requests a second from one address in the long run; 0 is no limit
    guesses: int = 10  # wrong tokens a minute from one address
    idle_seconds: float = 10.0  # how long a sender may pause
    slow_bytes: int = 16 * 1024  # minimum number of bytes that a sender must send in that time
    job_seconds: float = 60.0  # how long the work on one photo may take

    def __post_init__(self) -> None:
        # Else the largest legal request would never find room.
        if self.held_bytes < MAX_SHARES_OF_ADDRESS * self.body_bytes:
            legal = f"{MAX_SHARES_OF_ADDRESS} times `body_bytes` or more"
            raise BadParameter("serve", "held_bytes", legal, self.held_bytes)


@dataclass(frozen=True)
class Settings:
    """What a service is started with."""

    gallery: str  # a file or a database, which exists
    token: str | None = None  # what callers must know
    names: tuple[str, ...] = ()  # host names of the service, besides its addresses
    workers: int = 1  # processes that compare faces
    audit: str | None = None  # file of the audit lines; stderr if None
    wait: float = 30.0  # seconds to wait for other writers
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if not is_whole(self.workers, 1):
            raise BadParameter("serve", "workers", "a whole number of at least 1", self.workers)
        token = self.token
        if token is not None and not (len(token) >= MIN_TOKEN_LETTERS and re.fullmatch("[!-~]*", token)):
            # The message does not repeat the token.
            legal = f"{MIN_TOKEN_LETTERS} or more ASCII letters and signs without spaces"
            raise BadParameter("serve", "token", legal, f"{len(token)} letters")


def check_host(host: str, token: str | None) -> None:
    """Refuse an address that others can reach where there is no token."""
    if host not in LOOPBACK and token is None:
        legal = "127.0.0.1, ::1 or localhost where there is no token (LIGHTPROOF_TOKEN or --token-file)"
        raise BadParameter("serve", "host", legal, host)


def default_workers() -> int:
    """Return the default number of processes that compare faces: one for each core, at most four."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 4)
