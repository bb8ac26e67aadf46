"""Work on many machines: the workers of a Dask scheduler, and whether they would do the same as the asking machine.

Dask moves Python objects between the machines, as pickles: it is for a network of machines that trust each other.
"""

from __future__ import annotations

import hashlib
import logging
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

from lightproof.core.executors import Executor, P, ProcessExecutor, R, Task
from lightproof.errors import BadCluster, BadParameter, MissingExtra
from lightproof.types import is_whole

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS: Final = 10.0  # for the scheduler to answer
MAX_GREETING_BYTES: Final = 2**20  # Dask's own greeting has some hundred
PATIENCE: Final = 60.0  # seconds to wait where there is no worker: one that died may be started again
POLL_SECONDS: Final = 1.0  # after which finished pieces are looked for, even without a signal
RECOUNT_SECONDS: Final = 5.0  # after which the workers are counted again
STORED_PIECES: Final = 2  # that wait for each thread of the workers, besides the one in work
MAX_FATAL_PARTS: Final = 3  # if so many first parts of a piece all kill their workers, the workers are to blame

ADDRESS: Final = "an address such as tcp://host:8786 or tls://host:8786"

GOES_ON: Final = "what is finished is kept, and the same call goes on"

LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "scikit-image", "numba", "pillow", "ai-edge-litert", "torch")
"""Packages that decide what comes of a photo."""


def executor_for(owner: str, jobs: int, cluster: str | Cluster | None) -> AbstractContextManager[Executor]:
    """Choose the executor: a cluster, for which ``jobs`` must be -1, or else so many processes of this machine.

    ``owner`` is the function that needs it, for error messages. A connected cluster stays connected.
    """
    if jobs != -1 and not is_whole(jobs, 1):
        raise BadParameter(owner, "jobs", "a whole number of at least 1, or -1 for one each core", jobs)
    if cluster is None:
        return nullcontext(ProcessExecutor(jobs))
    if jobs != -1:
        raise BadParameter(owner, "jobs", "left out where there is a cluster: it has its own processes", jobs)
    return nullcontext(cluster) if isinstance(cluster, Cluster) else Cluster(cluster)


class Cluster:
    """The workers of a scheduler, as an executor; connected while it is used in a ``with``.

    The address is ``tcp://host:8786``, or ``tls://host:8786`` with certificates from Dask's configuration.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        if not isinstance(address, str) or not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+:\d+", address):
            raise BadParameter("Cluster", "address", ADDRESS, address)
        self.address, self.patience = address, patience
        self._flying: set[Future] = set()
        self._bell = threading.Event()
        self._ahead, self._counted = 0, 0.0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            self._client = stack.enter_context(self._connected())
            self._check_workers()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._flying.clear()
        self._open.close()

    @contextmanager
    def _connected(self) -> Iterator[Client]:
        try:
            from distributed import Client
        except ModuleNotFoundError as missing:
            raise MissingExtra(f"For a cluster lightproof needs the package {missing.name}", "cluster") from None
        try:
            _check_answer(self.address)
            client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as problem:
            raise BadCluster(self.address, "the address of a Dask scheduler", _reason(problem)) from None
        try:
            yield client
        finally:
            client.close(timeout=1)

    def _check_workers(self) -> None:
        """Refuse workers that would get other results from the same photos, before there is any work."""
        self.wait_for_workers()
        facts_of_workers = self._client.run(facts, on_error="return")
        for worker, theirs in facts_of_workers.items():
            if isinstance(theirs, BaseException):
                raise BadCluster(f"Worker {worker}", "one with the same lightproof as here", _reason(theirs))
            check_facts(worker, theirs, facts())
        # Past the scheduler, which would have to read and write everything once more.
        self._client.direct_to_workers = all(map(_is_reachable, facts_of_workers))

    @property
    def n_threads(self) -> int:
        """Number of threads that all workers have now."""
        return max(1, int(self._client.scheduler_info(n_workers=0)["total_threads"]))

    def wait_for_workers(self, count: int = 1) -> None:
        """Wait until there are so many workers, for at most ``patience`` seconds."""
        try:
            self._client.wait_for_workers(count, timeout=self.patience)
        except TimeoutError:
            how = f"start some with: dask worker {self.address} --nthreads 1"
            legal, got = ("workers", "none") if count == 1 else (f"{count} workers", "fewer")
            got = f"{got} in {self.patience:g} seconds ({how})"
            raise BadCluster(f"Scheduler {self.address}", f"one with {legal}", got) from None
        except OSError:
            raise self._gone() from None

    def map(
        self, task: Task[P, R], pieces: Iterable[P], total: int, *, light: bool = False, ordered: bool = True
    ) -> Iterator[R]:
        """Do a task with every piece, see :class:`Executor`; a part that kills every worker it is given to is lost."""
        from distributed import KilledWorker

        source = iter(pieces)
        mine: dict[Future, P] = {}
        try:
            while True:
                self._send_ahead(task.do, source, mine, light)
                if not mine:
                    return
                future = self._next_of(mine, ordered)
                piece = mine.pop(future)
                try:
                    result = self._result(future)
                except KilledWorker:
                    yield from self._one_by_one(task, piece)
                else:
                    yield result
        finally:
            self._flying -= mine.keys()

    def scatter(self, function: Callable[..., R], *arguments: Any) -> R:
        """Make something big, see :class:`Executor`; if it is lost with a worker, another one makes it again."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return cast(R, self._submit(function, *arguments))

    def _submit(self, function: Callable[..., Any], *arguments: Any, light: bool = False) -> Future:
        try:
            return self._client.submit(function, *arguments, pure=False, priority=int(light))
        except Exception:
            if self._client.status == "running":
                raise
            raise self._gone() from None

    def _send(self, do: Callable[[P], Any], piece: P, light: bool) -> Future:
        future = self._submit(on_worker, Opaque(do, facts()), _packed(piece), light=light)
        future.add_done_callback(lambda _: self._bell.set())
        self._flying.add(future)
        return future

    def _send_ahead(self, do: Callable[[P], Any], source: Iterator[P], mine: dict[Future, P], light: bool) -> None:
        """Keep every thread of the workers busy, and some pieces waiting."""
        if time.monotonic() - self._counted > RECOUNT_SECONDS:
            self._ahead, self._counted = (1 + STORED_PIECES) * self.n_threads + 2, time.monotonic()
        for piece in islice(source, max(0, self._ahead - len(mine))):
            mine[self._send(do, piece, light)] = piece

    def _next_of(self, mine: Iterable[Future], ordered: bool) -> Future:
        first = next(iter(mine))
        if ordered:
            self._wait_until(first.done)
            return first
        self._wait_until(lambda: any(future.done() for future in mine))
        return next(future for future in mine if future.done())

    def _wait_until(self, finished: Callable[[], bool]) -> None:
        quiet_since = time.monotonic()
        while not finished():
            # A result that is lost with its worker and made again does not ring a second time.
            if self._bell.wait(min(self.patience, POLL_SECONDS)):
                self._bell.clear()
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since >= self.patience:
                self.wait_for_workers()
                quiet_since = time.monotonic()

    def _result(self, future: Future) -> Any:
        from distributed import CancelledError
        from distributed.comm import CommClosedError

        self._flying.discard(future)
        try:
            return future.result()
        except (CancelledError, CommClosedError):
            raise self._gone() from None
        except ImportError as problem:
            raise BadCluster("Every worker", "one with the same lightproof as here", _reason(problem)) from None

    def _one_by_one(self, task: Task[P, R], piece: P) -> Iterator[R]:
        """Do a piece part by part, each with nothing else in work: so no other part can be blamed for a death."""
        from distributed import KilledWorker

        done: list[R] = []
        fatal = 0
        for part in task.parts(piece):
            self._wait_until(lambda: all(future.done() for future in self._flying))
            future = self._send(task.do, part, True)
            self._next_of([future], ordered=True)
            try:
                done.append(self._result(future))
            except KilledWorker as death:
                fatal += 1
                if fatal == len(done) + 1 == MAX_FATAL_PARTS:
                    got = f"ones that die over whatever they are given (the last one was {death.last_worker.address})"
                    raise BadCluster("The workers", "able to do the work", f"{got}; {GOES_ON}") from None
                done.append(task.lost(part, death.allowed_failures + 1))
        yield from done

    def _gone(self) -> BadCluster:
        return BadCluster(f"Scheduler {self.address}", "there till the end", f"no connection to it; {GOES_ON}")


class Opaque:
    """What Dask is to send as it is: it would look into lists for futures, and a list of photos is long."""

    def __init__(self, *contents: Any) -> None:
        self.contents = contents


def on_worker(how: Opaque, piece: Any) -> Any:
    """Do a piece on a worker, which may have joined after all checks."""
    from distributed import get_worker

    do, ours = how.contents
    check_facts(get_worker().address, facts(), ours)
    _use_one_thread()
    return do(piece.contents[0] if isinstance(piece, Opaque) else piece)


@cache
def _use_one_thread() -> None:
    """Let a matrix product take one thread: there is a worker for each core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@cache
def facts() -> dict[str, str]:
    """Return what decides the results of this machine: versions, and the code of this package."""
    code = hashlib.sha256()
    top = Path(__file__).parents[1]
    for file in sorted(top.rglob("*.py")):
        code.update(str(file.relative_to(top)).encode() + file.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    lightproof = f"{_version('lightproof')} (code {code.hexdigest()[:8]})"
    return {"Python": python, "lightproof": lightproof} | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def check_facts(worker: str, theirs: dict[str, str], ours: dict[str, str]) -> None:
    """Refuse a worker that would get other results from the same photos."""
    for name, wanted in ours.items():
        if theirs.get(name) != wanted:
            raise BadCluster(f"Worker {worker}", f"one with {name} {wanted}, as here", f"{name} {theirs.get(name)}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask while we are connected: our errors say what matters in one sentence."""
    loud = logging.getLogger("distributed")
    before = loud.level
    loud.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        loud.setLevel(before)


def _packed(piece: Any) -> Any:
    """Pack a piece, unless it is a tuple with a future in it."""
    from distributed import Future

    has_future = isinstance(piece, tuple) and any(isinstance(part, Future) for part in piece)
    return piece if has_future else Opaque(piece)


def _check_answer(address: str) -> None:
    """Refuse what does not begin as Dask does, with a length of eight bytes: Dask would wait for ever."""
    if address.startswith("tcp://"):
        with _connect(address, CONNECT_SECONDS) as line:
            head = line.recv(8)
        if int.from_bytes(head, sys.byteorder) > MAX_GREETING_BYTES or len(head) < 8:
            raise OSError("somebody else there")


def _is_reachable(worker: str) -> bool:
    """Tell whether this machine can talk to a worker; in some networks only the scheduler can."""
    try:
        _connect(worker, 1).close()
    except (OSError, ValueError):
        return False
    return True


def _connect(address: str, timeout: float) -> socket.socket:
    host, _, port = address.partition("://")[2].rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout)


def _reason(problem: BaseException) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return " ".join(str(problem).split())[:200].rstrip(".") or type(problem).__name__
