"""A service as people run it: ``lightproof serve`` in processes of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpx2 as httpx


class Running:
    """A service that was started, and is stopped at the end of a block."""

    def __init__(self, gallery: Path, *options: object, token: str | None = None) -> None:
        command = [sys.executable, "-m", "lightproof", "serve", "--gallery", str(gallery), "--port", "0"]
        surroundings = {name: value for name, value in os.environ.items() if name != "LIGHTPROOF_TOKEN"}
        if token is not None:
            surroundings["LIGHTPROOF_TOKEN"] = token
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the service
        self.process = subprocess.Popen(
            [*command, *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env=surroundings,
            start_new_session=True,
        )
        line = self.process.stdout.readline()
        assert " at http" in line, f"{line}{self.stderr()}"
        self.url = line.split()[-1]
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def stderr(self) -> str:
        """Everything on stderr so far."""
        self._stderr.seek(0)
        return self._stderr.read()

    def mistakes(self) -> list[str]:
        """Lines of the log that tell of an answer that is the service's own fault, or of a bug."""
        return re.findall(r"^.* 500 \d+ ms .*$|^.*Traceback.*$", self.stderr(), re.MULTILINE)

    def family(self) -> list[int]:
        """All processes of the service."""
        return [int(entry) for entry in os.listdir("/proc") if entry.isdecimal() and _group(entry) == self.process.pid]

    def workers(self) -> list[int]:
        """Those that compare faces: they are the children of the process that all are forked from."""
        parents = {process: _parent(process) for process in self.family()}
        return [process for process, parent in parents.items() if parents.get(parent) == self.process.pid]

    def memory(self) -> int:
        """Bytes of all processes together that no other shares."""
        return sum(_own_bytes(process) for process in self.family())

    def stop(self, how: signal.Signals = signal.SIGTERM, wait: float = 30) -> int:
        """Tell it to stop; return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(wait)

    def kill(self) -> None:
        """End all of it at once, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.client.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self._stderr.close()


def wait_until(true, seconds: float = 30, what: str = "it") -> None:
    """Wait for something, or fail."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)


def _status(process: object, line: int) -> str:
    # Behind the name of the program, which may hold anything.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[line]
    except OSError:
        return "-1"


def _parent(process: object) -> int:
    return int(_status(process, 1))


def _group(process: object) -> int:
    return int(_status(process, 3))


def _own_bytes(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
