"""Work of two threads, the caller and its helper: all of it in order, and no mistake is lost."""

from __future__ import annotations

import threading
import time

import pytest

from lightproof.core import processes
from lightproof.core.processes import _helper, in_threads


@pytest.fixture(params=[1, 2])
def cores(request, monkeypatch):
    monkeypatch.setattr(processes.os, "cpu_count", lambda: request.param)
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
    monkeypatch.setattr(processes.os, "cpu_count", lambda: 2)
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
