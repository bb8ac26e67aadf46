"""Work in several processes: all of it in order, and an interrupt is for the process that asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lightproof.core.processes import READERS, _libraries, by_readers, one_core

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are another thing there")

ASKING = """
import os, signal, sys, time
from joblib import delayed
from lightproof.core.processes import in_processes

def mask(): return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASKING + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=os.environ | environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job may ignore it
    )  # fmt: skip


def test_results_come_in_order_and_interrupts_reach_the_asking_process_alone():
    asking = start("""
print(list(in_processes((delayed(divmod)(i, 7) for i in range(30)), 2)) == [divmod(i, 7) for i in range(30)])
print(list(in_processes((delayed(mask)() for _ in range(4)), 2)) == [[signal.SIGINT]] * 4)
print(mask() == [])
""")
    assert asking.communicate(timeout=60) == ("True\n" * 3, "")


@pytest.mark.parametrize("moment", [0, 0.2, 0.6, 1.2])
def test_an_interrupt_ends_all_of_them_without_a_word(moment):
    asking = start("""
def work():
    for i in range(500):
        if i == 3: print("started", flush=True)
        yield delayed(time.sleep)(0.2)
try:
    for _ in in_processes(work(), 2): pass
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


@pytest.mark.parametrize("threads", [0, 1])
def test_an_interrupt_while_they_are_started_is_not_lost_nor_breaks_it_off(threads):
    # Who has another thread is interrupted through that one, as with the threads of matrix products.
    asking = start(
        WITH_THREADS.format(threads=threads)
        + """
popen_loky_posix.Popen._launch = interrupted
try:
    for _ in in_processes((delayed(time.sleep)(0.1) for _ in range(30)), 2): pass
except KeyboardInterrupt:
    sys.exit(130)
"""
    )
    assert (*asking.communicate(timeout=60), asking.returncode) == ("launched\nlaunched\n", "", 130)


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
        yield delayed(time.sleep)(0.1)
try:
    for _ in in_processes(work(), 2): pass
except KeyboardInterrupt:
    sys.exit(130)
"""
    )
    assert (*asking.communicate(timeout=60), asking.returncode) == ("", "", 130)


def test_who_stops_early_is_not_warned():
    asking = start("""
for _ in in_processes((delayed(time.sleep)(0.05) for _ in range(500)), 2): break
print("done")
""")
    assert asking.communicate(timeout=60) == ("done\n", "")


def test_only_the_stumbling_of_loky_over_dropped_work_is_not_told():
    asking = start("""
import threading
from joblib.externals.loky import process_executor
from lightproof.core.processes import _stumble_quietly

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


def test_a_copy_of_a_process_has_helpers_and_readers_of_its_own():
    asking = start("""
import threading
from lightproof import processes

processes.os.cpu_count = lambda: 2
processes.in_threads(str, range(100))
processes.by_readers(str, range(100))
child = os.fork()
if child == 0:
    met = threading.Barrier(2, timeout=10)
    did = processes.in_threads(lambda _: (met.wait(), threading.get_ident())[1], range(2))
    beside = processes.by_readers(str, range(9))
    os._exit(7 if len(set(did)) == 2 and beside == list("012345678") else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert asking.communicate(timeout=60)[0] == "7\n"


@pytest.fixture
def libraries():
    """All that other tests have loaded by now, not only what was there when a core was first asked for."""
    _libraries.cache_clear()


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_matrix_products_take_one_core_while_somebody_wants_it_and_all_of_them_again_after(libraries):
    with threadpool_limits(2):
        before = blas_threads()
        with one_core(), one_core():
            assert blas_threads() == {1}
        assert blas_threads() == before


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core")
def test_who_wants_one_core_beside_another_thread_leaves_setting_it_back_to_that():
    # In a process of its own: what another test has set stays with the thread that set it.
    asking = start(
        """
import threading
import numpy
from threadpoolctl import threadpool_info
from lightproof.core.processes import one_core

def threads(): print(*{library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
inside, leave = threading.Event(), threading.Event()

def stay():
    with one_core():
        inside.set()
        leave.wait(60)

other = threading.Thread(target=stay)
threads()
other.start()
inside.wait(60)
with one_core(): threads()
threads()
leave.set()
other.join()
threads()
""",
        OPENBLAS_NUM_THREADS="2",
        MKL_NUM_THREADS="2",
    )
    assert asking.communicate(timeout=60) == ("2\n1\n1\n2\n", "")


def test_what_waits_is_done_side_by_side_and_comes_in_order():
    met = threading.Barrier(READERS, timeout=10)
    assert by_readers(lambda i: (met.wait(), i)[1], range(READERS)) == list(range(READERS))


def test_a_mistake_beside_others_reaches_the_caller_and_the_next_call_works():
    with pytest.raises(ZeroDivisionError):
        by_readers(lambda i: 1 / i, [3, 0, 2])
    assert by_readers(str, range(20)) == [str(i) for i in range(20)]


def test_when_one_makes_a_mistake_the_others_are_waited_for():
    begun, told, ended = threading.Event(), threading.Event(), []

    def read(i):
        if i == 0:
            begun.wait(10)
            told.set()
            raise KeyError(i)
        begun.set()
        told.wait(10)
        time.sleep(0.2)
        ended.append(i)

    with pytest.raises(KeyError):
        by_readers(read, [0, 1])
    assert ended == [1]
