"""Work in pieces, by this process or by others beside it."""

from __future__ import annotations

import os

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
