"""Work in pieces, by this process or by others beside it: in order, and an interrupt is for the asking process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from lightproof.core.executors import ProcessExecutor, Task


def with_process(piece):
    return piece, os.getpid()


def lost(piece, deaths):
    raise AssertionError("nobody dies here")


WHERE = Task(with_process, lambda piece: [piece], lost)


@pytest.mark.parametrize(
    ("jobs", "total", "light"), [(1, 9, False), (2, 1, False), (2, 9, True)], ids=["one job", "one piece", "light"]
)
def test_what_is_not_worth_a_process_is_done_here_and_only_when_asked_for(jobs, total, light):
    read = []

    def pieces():
        for i in range(total):
            read.append(i)
            yield i

    stream = ProcessExecutor(jobs).map(WHERE, pieces(), total, light=light)
    assert next(stream) == (0, os.getpid())
    assert read == [0]
    assert list(stream) == [(i, os.getpid()) for i in range(1, total)]


@pytest.mark.skipif(os.cpu_count() == 1, reason="one core has nobody beside it")
@pytest.mark.parametrize("ordered", [True, False])
def test_others_do_every_piece(ordered):
    done = list(ProcessExecutor(2).map(WHERE, iter(range(20)), 20, ordered=ordered))
    assert os.getpid() not in {process for _, process in done}
    pieces = [piece for piece, _ in done]
    assert (pieces if ordered else sorted(pieces)) == list(range(20))


def test_what_many_pieces_hold_is_made_at_once():
    assert ProcessExecutor().scatter(divmod, 7, 2) == (3, 1)


# --- interrupts

needs_signals = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are another thing there")

ASKING = """
import os, signal, sys, time
from lightproof.core.executors import in_processes

def mask(_=None): return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASKING + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=os.environ | environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job may ignore it
    )  # fmt: skip


@pytest.mark.slow
@needs_signals
def test_results_come_in_order_and_interrupts_reach_the_asking_process_alone():
    asking = start("""
print(list(in_processes(hex, range(30), 2)) == [hex(i) for i in range(30)])
print(list(in_processes(mask, range(4), 2)) == [[signal.SIGINT]] * 4)
print(mask() == [])
""")
    assert asking.communicate(timeout=60) == ("True\n" * 3, "")


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("moment", [0, 0.2, 0.6, 1.2])
def test_an_interrupt_ends_all_of_them_without_a_word(moment):
    asking = start("""
def work():
    for i in range(500):
        if i == 3: print("started", flush=True)
        yield 0.2
try:
    for _ in in_processes(time.sleep, work(), 2): pass
except KeyboardInterrupt:
    sys.exit(130)
""")
    assert asking.stdout.readline() == "started\n", asking.communicate()
    time.sleep(moment)
    os.killpg(asking.pid, signal.SIGINT)
    assert (*asking.communicate(timeout=60), asking.returncode) == ("", "", 130)


WITH_THREADS = """
import threading
from joblib.externals.loky.backend import popen_loky_posix

for _ in range({threads}): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

launch = popen_loky_posix.Popen._launch
def interrupted(self, process):
    os.kill(0, signal.SIGINT)
    launch(self, process)
    print("launched", flush=True)
"""


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("threads", [0, 1])
def test_an_interrupt_while_they_are_started_is_not_lost_nor_breaks_it_off(threads):
    # Who has another thread is interrupted through that one, as with the threads of matrix products.
    asking = start(
        WITH_THREADS.format(threads=threads)
        + """
popen_loky_posix.Popen._launch = interrupted
try:
    for _ in in_processes(time.sleep, [0.1] * 30, 2): pass
except KeyboardInterrupt:
    sys.exit(130)
"""
    )
    assert (*asking.communicate(timeout=60), asking.returncode) == ("launched\nlaunched\n", "", 130)


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("threads", [0, 1])
@pytest.mark.parametrize("piece", [0, 1, 3])
def test_an_interrupt_while_a_piece_is_made_is_heard_at_once(threads, piece):
    asking = start(
        WITH_THREADS.format(threads=threads)
        + f"""
def work():
    for i in range(30):
        if i == {piece}:
            os.kill(0, signal.SIGINT)
            time.sleep(10)
            print("deaf")
        yield 0.1
try:
    for _ in in_processes(time.sleep, work(), 2): pass
except KeyboardInterrupt:
    sys.exit(130)
"""
    )
    assert (*asking.communicate(timeout=60), asking.returncode) == ("", "", 130)


@pytest.mark.slow
@needs_signals
def test_who_stops_early_is_not_warned():
    asking = start("""
for _ in in_processes(time.sleep, [0.05] * 500, 2): break
print("done")
""")
    assert asking.communicate(timeout=60) == ("done\n", "")


@needs_signals
def test_only_the_stumbling_of_loky_over_dropped_work_is_not_told():
    asking = start("""
import threading
from joblib.externals.loky import process_executor
from lightproof.core.executors import _stumble_quietly

class Thread(threading.Thread):
    def run(self): raise self.problem

def told(module, problem):
    Thread.__module__ = module
    thread = Thread()
    thread.problem = problem
    thread.start()
    thread.join()

heard = []
threading.excepthook = lambda stumble: heard.append(type(stumble.exc_value).__name__)
_stumble_quietly()
loky = process_executor._ExecutorManagerThread.__module__
for module, problem in ((loky, KeyError(1)), (loky, OSError()), ("mine", KeyError(1))): told(module, problem)
print(heard)
""")
    assert asking.communicate(timeout=60) == ("['OSError', 'KeyError']\n", "")
