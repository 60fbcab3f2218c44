"""Workers that die, hang, drain and come back, as a router's callers see it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
from router_stage import PATIENCE, Stage, failing, request, route, sleeping, snapshot, stage, story

HERE = Path(__file__).parent
FOR_EVER = 300.0


class Process:
    """An echo worker that can be killed."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.address = ""

    async def start(self) -> Process:
        port = self.address.rpartition(":")[2] or "0"
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(HERE / "worker_process.py"), port, str(self.seconds), stdout=asyncio.subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.address = (await self.process.stdout.readline()).decode().strip()
        return self

    async def asked(self) -> None:
        """Wait until one more query has reached it."""
        assert self.process.stdout is not None
        await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.signal(signal.SIGKILL)
            await self.process.wait()


@asynccontextmanager
async def processes(*seconds: float):
    """Workers that take so many seconds for a query."""
    started = await asyncio.gather(*(Process(one).start() for one in seconds))
    try:
        yield started
    finally:
        for one in started:
            await one.kill()


async def until_answered_by(on: Stage, worker: str) -> None:
    """Ask until this worker answers."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(grpc.aio.AioRpcError):
                if (await on.client.ask(request())).parameters["worker"].string_param == worker:
                    return
            await asyncio.sleep(0.02)


@story
async def test_a_query_whose_application_was_removed_and_whose_worker_then_died_is_told_so():
    async with processes(FOR_EVER, FOR_EVER) as (doomed, other), stage() as (on, _):
        await on.tell(snapshot([route("a", doomed.address), route("b", other.address)]))
        asked = [asyncio.ensure_future(on.client.refused(request())) for _ in range(2)]
        await asyncio.gather(doomed.asked(), other.asked())
        await on.tell(snapshot([], applications=(), revision=2))
        await doomed.kill()
        await other.kill()
        assert {(await one).reason for one in asked} == {"worker_lost"}


@story
async def test_queries_held_by_a_killed_worker_are_answered_by_another():
    async with processes(FOR_EVER, 0.0) as (doomed, other), stage() as (on, _):
        await on.tell(snapshot([route("a", doomed.address), route("b", other.address)]))
        asked = [asyncio.ensure_future(on.client.ask(request())) for _ in range(8)]
        await doomed.asked()
        await doomed.kill()
        answers = await asyncio.gather(*asked)
        assert {one.parameters["worker"].string_param for one in answers} == {"b"}


@story
async def test_a_killed_worker_without_a_substitute_is_unavailable_at_once():
    async with processes(FOR_EVER) as (doomed,), stage() as (on, _):
        await on.tell(snapshot([route("a", doomed.address)]))
        asked = asyncio.ensure_future(on.client.refused(request()))
        await doomed.asked()
        await doomed.kill()
        found = await asked
        assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "worker_lost")
        assert "'a'" in found.message
        found = await on.client.refused(request())
        assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "no_worker")


@story
async def test_a_dead_worker_gets_no_query_and_a_restarted_one_comes_back():
    async with processes(0.0, 0.0) as (doomed, other), stage() as (on, _):
        await on.tell(snapshot([route("a", doomed.address), route("b", other.address)]))
        await doomed.kill()
        for _ in range(50):
            answer = await on.client.ask(request())
            assert answer.parameters["worker"].string_param == "b"
        await doomed.start()
        await until_answered_by(on, "a")


@story
async def test_a_stopped_worker_is_left_out_and_comes_back_when_it_goes_on():
    async with processes(0.0, 0.0) as (frozen, other), stage() as (on, _):
        await on.tell(snapshot([route("a", frozen.address), route("b", other.address)], slo_ms=300))
        frozen.signal(signal.SIGSTOP)
        served = 0
        async with asyncio.timeout(PATIENCE):
            while served < 30:  # in a row: whatever was sent to the stopped worker was lost to its deadline
                try:
                    await on.client.ask(request())
                    served += 1
                except grpc.aio.AioRpcError as error:
                    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                    served = 0
        frozen.signal(signal.SIGCONT)
        await until_answered_by(on, "a")


@story
async def test_a_query_is_sent_to_two_workers_at_most():
    async with stage(workers=3) as (on, workers):
        for worker in workers:
            worker.act = failing(grpc.StatusCode.UNAVAILABLE, "going", "draining")
        await on.tell(snapshot([route(f"w{i}", one.address) for i, one in enumerate(workers)]))
        found = await on.client.refused(request())
        assert (found.code, found.reason, found.message) == (grpc.StatusCode.UNAVAILABLE, "draining", "going")
        assert sum(len(one.seen) for one in workers) == 2


@story
async def test_a_draining_worker_is_passed_over_until_it_says_it_serves():
    async with stage(workers=2) as (on, (leaving, other)):
        leaving.act = failing(grpc.StatusCode.UNAVAILABLE, "going", "draining")
        leaving.health = False
        await on.tell(snapshot([route("a", leaving.address), route("b", other.address)]))
        for _ in range(50):
            await on.client.ask(request())
        assert (len(leaving.seen), len(other.seen)) == (1, 50)
        leaving.act, leaving.health = None, True
        async with asyncio.timeout(PATIENCE):
            while len(leaving.seen) == 1:
                await on.client.ask(request())
                await asyncio.sleep(0.02)


@story
async def test_no_second_attempt_outlives_the_deadline():
    async with processes(FOR_EVER) as (doomed,), stage(workers=1) as (on, (other,)):
        other.act = sleeping(FOR_EVER)
        await on.tell(snapshot([route("a", doomed.address), route("b", other.address)], slo_ms=2000))
        asked = [asyncio.ensure_future(on.client.refused(request())) for _ in range(2)]
        await doomed.asked()
        await asyncio.sleep(0.5)
        await doomed.kill()
        found = await asyncio.gather(*asked)
        assert {one.code for one in found} == {grpc.StatusCode.DEADLINE_EXCEEDED}
        assert all(seen.remaining is not None and seen.remaining <= 2.05 for seen in other.seen)
        assert min(seen.remaining or 9 for seen in other.seen) < 1.6  # the second attempt had only what was left


@story
async def test_bad_input_is_not_tried_twice():
    async with stage(workers=2) as (on, workers):
        for worker in workers:
            worker.act = failing(grpc.StatusCode.INVALID_ARGUMENT, "input 'x' has 3 bytes", "bad_input")
        await on.tell(snapshot([route(f"w{i}", one.address) for i, one in enumerate(workers)]))
        found = await on.client.refused(request())
        assert (found.code, found.message) == (grpc.StatusCode.INVALID_ARGUMENT, "input 'x' has 3 bytes")
        assert sum(len(one.seen) for one in workers) == 1
