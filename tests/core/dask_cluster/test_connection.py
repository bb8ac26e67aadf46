"""Who is asked to work: a scheduler that is there, and workers that would do the same as this machine."""

from __future__ import annotations

import socket
import sys
import threading
from functools import partial

import pytest

from lightproof.core import dask_cluster
from lightproof.core.dask_cluster import Cluster, executor_for, facts
from lightproof.core.executors import ProcessExecutor, Task
from lightproof.errors import BadCluster, BadParameter, MissingExtra
from tests.core.dask_cluster.conftest import started

pytestmark = pytest.mark.long


def doubled(piece):
    return [2 * number for number in piece]


def lost(piece, deaths):
    raise AssertionError("nobody dies here")


DOUBLE = Task(doubled, lambda piece: [[number] for number in piece], lost)


@pytest.mark.parametrize("wrong", ["head:8786", "tcp://head", "http://head:80", "", 8786])
def test_an_address_must_be_one(wrong):
    with pytest.raises(BadParameter, match=r"`address` of Cluster must be an address such as tcp://host:8786 or tls"):
        Cluster(wrong)


def test_nobody_at_the_address_is_one_sentence(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BadCluster, match=f"{address} must be the address of a Dask scheduler; got .*[^.]\\.$"):
            Cluster(address).__enter__()
    with pytest.raises(BadCluster, match=f"{address} must be the address of a Dask scheduler; got .*[^.]\\.$"):
        Cluster(address).__enter__()


def test_somebody_else_at_the_address_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            line, _ = server.accept()
            with line:
                line.sendall(b"SSH-2.0-somebody\r\n")

        greeting = threading.Thread(target=greet)
        greeting.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BadCluster, match=rf"{address} must be the address of a Dask scheduler; got somebody else"):
            Cluster(address).__enter__()
        greeting.join()


def test_a_scheduler_without_workers_is_not_waited_for_for_ever(tmp_path):
    with started(tmp_path, threads=0) as (address, *_):
        said = rf"Scheduler {address} must be one with workers; got none in 0.3 seconds \(start some with: dask worker "
        with pytest.raises(BadCluster, match=said):
            Cluster(address, patience=0.3).__enter__()


def test_results_come_in_order_and_no_more_is_read_than_is_in_work(address):
    read = []

    def pieces():
        for i in range(60):
            read.append(i)
            yield [i, i]

    with Cluster(address) as executor:
        stream = executor.map(DOUBLE, pieces(), 60)
        assert [next(stream) for _ in range(3)] == [[0, 0], [2, 2], [4, 4]]
        assert len(read) < 20
        assert list(stream) == [[2 * i, 2 * i] for i in range(3, 60)]
        assert sorted(executor.map(DOUBLE, ([i] for i in range(20)), 20, ordered=False)) == [[2 * i] for i in range(20)]
        assert list(executor.map(DOUBLE, [], 0)) == []


def test_pieces_may_wait_for_another_task_of_the_same_crew(address):
    with Cluster(address) as executor:
        first = executor.map(DOUBLE, ([i] for i in range(50)), 50, light=True)
        assert list(executor.map(DOUBLE, first, 50)) == [[4 * i] for i in range(50)]


def fail(piece):
    raise BadCluster("This piece", "a good one", str(piece[0]))


def test_a_mistake_on_a_worker_is_told_as_it_was_said(address):
    with Cluster(address) as executor, pytest.raises(BadCluster, match=r"^This piece must be a good one; got 7\.$"):
        list(executor.map(Task(fail, list, lost), [[7]], 1))


def test_what_is_sent_once_is_seen_by_all(address):
    with Cluster(address) as executor:
        shared = executor.scatter(doubled, [1, 2, 3])
        stream = executor.map(Task(_added, list, lost), ((i, shared) for i in range(4)), 4)
        assert list(stream) == [12, 13, 14, 15]


def _added(piece):
    return piece[0] + sum(piece[1])


def pretend(change):
    from lightproof.core import dask_cluster

    theirs = dask_cluster.facts() | change
    dask_cluster.facts = lambda: theirs


def pretend_broken():
    from lightproof.core import dask_cluster

    def facts():
        raise ImportError("no module of that name")

    dask_cluster.facts = facts


def test_a_worker_of_another_version_is_refused_by_both_names(on_workers, address):
    on_workers(partial(pretend, {"numpy": "1.0"}))
    said = f"Worker tcp://.* must be one with numpy {facts()['numpy']}, as here; got numpy 1.0."
    with pytest.raises(BadCluster, match=said):
        Cluster(address).__enter__()
    on_workers(pretend_broken)
    with pytest.raises(BadCluster, match=r"must be one with the same lightproof as here; got no module of that name\."):
        Cluster(address).__enter__()


def test_a_worker_of_another_version_that_comes_later_is_refused_too(on_workers, address):
    with Cluster(address) as executor:
        on_workers(partial(pretend, {"lightproof": "0.0.1 (code 1234)"}))
        said = (
            rf"must be one with lightproof {facts()['lightproof'].split()[0]} \(code .*; got lightproof 0.0.1 \(code 12"
        )
        with pytest.raises(BadCluster, match=said):
            list(executor.map(DOUBLE, [[1]], 1))


def test_the_code_decides_what_is_the_same_version(tmp_path, monkeypatch):
    (tmp_path / "worker.py").write_text("one = 1\n")
    monkeypatch.setattr(dask_cluster, "__file__", str(tmp_path / "core" / "dask_cluster.py"))
    first = facts.__wrapped__()
    assert first == facts.__wrapped__()
    (tmp_path / "worker.py").write_text("one = 2\n")
    changed = facts.__wrapped__()
    assert {name for name in first if first[name] != changed[name]} == {"lightproof"}


def test_without_dask_the_line_for_pip_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"needs the package distributed; .*: pip install 'lightproof\[cluster\]'\."):
        Cluster("tcp://127.0.0.1:8786").__enter__()


def test_without_a_cluster_the_work_is_done_here(address):
    with executor_for("somebody", 2, None) as executor:
        assert executor == ProcessExecutor(2)
    with Cluster(address) as connected:
        with executor_for("somebody", -1, connected) as executor:
            assert executor is connected
        assert list(connected.map(DOUBLE, [[1]], 1)) == [[2]]
    with pytest.raises(
        BadParameter, match="`jobs` of somebody must be a whole number of at least 1, or -1 for one each"
    ):
        executor_for("somebody", 0, None)
