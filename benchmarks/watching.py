"""The memory that a process holds."""

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
