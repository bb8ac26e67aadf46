"""One line for each enroll, identify and delete: what, when and about whom, by number; never a picture or a name."""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lightproof.errors import CannotWrite

log = logging.getLogger("lightproof.audit")


class Audit:
    """Where the lines go.

    Parameters
    ----------
    file : str or None
        Lines are added to it, each written whole, also when several services write to it; stderr if None.
    """

    def __init__(self, file: str | None) -> None:
        self._file: int | None = None
        if file is not None:
            try:
                # What is in it is for who runs the service.
                self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            except OSError as problem:
                raise CannotWrite(Path(file), problem) from None

    def write(self, request: str, action: str, **facts: Any) -> None:
        """Write a line: the number of the request, what was done, and what came of it."""
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": when, "request": request, "action": action, **facts})
        if self._file is None:
            log.info(line)
            return
        try:
            os.write(self._file, f"{line}\n".encode())
        except OSError as problem:
            # What was done is done; that it is not on record must not go unseen.
            log.error("An audit line cannot be written (%s): %s", problem.strerror, line)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
