"""The memory that a process holds, and the core that it runs on."""

from __future__ import annotations

import os
from pathlib import Path


def resident(process: int | None = None) -> float:
    """Bytes of memory that a process, this one by default, has now; 0 once it is gone."""
    try:
        pages = int(Path(f"/proc/{process or os.getpid()}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def stay_on_one_core() -> None:
    """Keep this thread, and those it starts from now on, on one core, where the system can do that.

    The engine compares in two threads; a time on one core is that of both.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
