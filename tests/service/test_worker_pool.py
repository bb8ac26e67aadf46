"""Processes that work: in order, not without end, and replaced when they die."""

from __future__ import annotations

import asyncio
import math
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lightproof.errors import NoFace
from lightproof.service.problems import ServiceProblem
from lightproof.service.settings import Settings
from lightproof.service.worker_pool import WorkerPool
from tests.service.conftest import FREE
from tests.service.running import wait_until

pytestmark = pytest.mark.slow


async def here() -> bool:
    return False


async def gone() -> bool:
    return True


@pytest.fixture(scope="module")
def settings(made_gallery):
    return Settings(str(made_gallery), limits=replace(FREE, waiting=2))


def with_pool(settings, seconds, ask):
    async def asked():
        pool = WorkerPool(settings, 1, seconds)
        try:
            return await ask(pool)
        finally:
            pool.close()

    return asyncio.run(asked())


def test_work_that_does_not_end_is_ended_and_the_next_is_done(settings):
    async def ask(pool):
        assert await pool.do(here, math.sqrt, 9) == 3
        with pytest.raises(ServiceProblem, match=r"^The work must be finished; got a worker that died\.") as told:
            await pool.do(here, time.sleep, 60)
        assert (told.value.code, told.value.headers) == ("interrupted", {"Retry-After": "1"})
        return await pool.do(here, math.sqrt, 16)

    assert with_pool(settings, 10, ask) == 4


def test_a_process_that_dies_over_its_work_costs_only_that_work(settings):
    async def ask(pool):
        with pytest.raises(ServiceProblem, match="died"):
            await pool.do(here, os._exit, 1, again=False)
        return await pool.do(here, math.sqrt, 16)

    assert with_pool(settings, 60, ask) == 4


def test_more_than_may_wait_are_told_to_come_back_and_nobody_works_for_who_is_gone(settings):
    async def ask(pool):
        waiting = [asyncio.create_task(pool.do(here, time.sleep, 0.2)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(
            ServiceProblem, match=r"^The service must have room for another request; got 3 waiting requests\.$"
        ):
            await pool.do(here, math.sqrt, 4)
        await asyncio.gather(*waiting)
        assert pool.waiting == 0
        with pytest.raises(ServiceProblem, match="got a closed connection"):
            await pool.do(gone, os._exit, 1)
        return await pool.do(here, math.sqrt, 4)

    assert with_pool(settings, 60, ask) == 2


def test_to_close_is_to_end_whatever_is_being_done(settings):
    async def ask(pool):
        number = await pool.do(here, os.getpid)
        work = asyncio.create_task(pool.do(here, time.sleep, 60, again=False))
        await asyncio.sleep(0.3)
        pool.close()
        with pytest.raises(ServiceProblem):
            await work
        return number

    number = with_pool(settings, 60, ask)
    wait_until(lambda: not Path(f"/proc/{number}").exists(), what="the end of the process")


def test_one_process_that_does_not_end_costs_the_others_nothing(settings):
    async def asked():
        pool = WorkerPool(settings, 2, 4)
        try:
            await pool.warm_up()
            slow = asyncio.create_task(pool.do(here, time.sleep, 60))
            await asyncio.sleep(2.5)
            other = asyncio.create_task(pool.do(here, time.sleep, 3, again=False))
            with pytest.raises(ServiceProblem, match="died"):
                await slow
            await other
        finally:
            pool.close()

    asyncio.run(asked())


def refuse() -> None:
    raise NoFace("The photo", ["gamma"], 20)


def test_errors_travel_with_their_sentence(settings):
    async def ask(pool):
        await pool.do(here, refuse)

    with pytest.raises(
        NoFace, match=r"^The photo must be a photo of a face with at least 20 pixels between the eyes; got"
    ):
        with_pool(settings, 60, ask)
