"""Work in threads: all of it in order, no mistake is lost, and matrix products take one core when told to."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lightproof.core import threads
from lightproof.core.threads import READERS, _helper, _libraries, by_readers, in_threads, one_core


@pytest.fixture(params=[1, 2])
def cores(request, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: request.param)
    return request.param


def test_threads_give_results_in_order(cores):
    assert in_threads(lambda i: i * i, (i for i in range(100))) == [i * i for i in range(100)]
    assert in_threads(str, []) == []


def test_two_threads_work_where_there_are_two_cores(cores):
    both_at_work = threading.Barrier(2, timeout=10 if cores == 2 else 0.1)

    def work(_):
        both_at_work.wait()
        if threading.get_ident() != caller:
            time.sleep(0.05)  # the caller has done its part by now, and must wait
        return threading.get_ident()

    caller = threading.get_ident()
    if cores == 2:
        did = in_threads(work, range(2))
        assert caller in did
        assert len({*did, None}) == 3
    else:
        with pytest.raises(threading.BrokenBarrierError):
            in_threads(work, range(2))


def test_who_finds_the_helper_busy_does_all_alone(cores):
    started, leave = threading.Event(), threading.Event()
    busy = _helper().submit(lambda: (started.set(), leave.wait(60)))
    assert started.wait(10)
    assert in_threads(lambda i: threading.get_ident(), range(9)) == [threading.get_ident()] * 9
    assert not busy.done()
    leave.set()
    busy.result()


class Stumble(BaseException):
    """Like an interrupt, no Exception."""


@pytest.mark.parametrize("who", ["caller", "helper", "both"])
def test_a_mistake_in_any_thread_reaches_the_caller_and_the_rest_is_left(who, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 2)
    both_at_work, caller, done = threading.Barrier(2, timeout=10), threading.get_ident(), []

    def work(i):
        if i < 2:
            both_at_work.wait()
            mine = "caller" if threading.get_ident() == caller else "helper"
            if who in (mine, "both"):
                # An IndexError, too, which must not be mistaken for the end of the list.
                raise Stumble if mine == "caller" else IndexError("stumbled")
            time.sleep(0.05)
        done.append(i)

    with pytest.raises(IndexError if who == "helper" else Stumble):
        in_threads(work, range(50))
    assert len(done) < 2
    assert in_threads(str, range(3)) == ["0", "1", "2"]


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies of processes there")
def test_a_copy_of_a_process_has_helpers_and_readers_of_its_own():
    asking = start("""
import os
import threading
from lightproof.core import threads

threads.os.cpu_count = lambda: 2
threads.in_threads(str, range(100))
threads.by_readers(str, range(100))
child = os.fork()
if child == 0:
    met = threading.Barrier(2, timeout=10)
    did = threads.in_threads(lambda _: (met.wait(), threading.get_ident())[1], range(2))
    beside = threads.by_readers(str, range(9))
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
from lightproof.core.threads import one_core

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
