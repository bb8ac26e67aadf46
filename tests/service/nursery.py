"""Starts services that a test kills: each is a fork of one process in which everything is loaded and warm.

``python -m tests.service.nursery GALLERY`` starts a service for each line on stdin, and writes its "PID PORT".
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import uvicorn

from lightproof.service import jobs, state
from lightproof.service.application import make_app
from lightproof.service.server import GuardedProtocol
from lightproof.service.settings import Limits, Settings
from tests.service.in_process import InlinePool


def serve(settings: Settings, listener: socket.socket) -> None:
    """Serve for ever, and do the work in this process, so that one kill ends all of it."""
    state.WorkerPool = InlinePool
    config = uvicorn.Config(make_app(settings), http=GuardedProtocol, ws="none", log_config=None, access_log=False)
    uvicorn.Server(config).run([listener])


def main() -> None:
    settings = Settings(sys.argv[1], limits=Limits(rate=0))
    jobs._state = jobs.WorkerState(settings)
    jobs.warm_up()
    jobs.worker_state().gallery.close()
    record = Path(sys.argv[1]).with_suffix(".said")
    print("ready", flush=True)
    for _ in sys.stdin:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
            try:
                serve(settings, listener)
            finally:
                os._exit(1)
        print(child, listener.getsockname()[1], flush=True)
        listener.close()
        os.waitpid(child, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    main()
