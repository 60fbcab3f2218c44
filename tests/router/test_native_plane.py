"""What only a data plane in a process of its own can do: crash, hang, and be started again."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import grpc
import pytest
from router_stage import PATIENCE, EchoWorker, request, route, sleeping, snapshot, story, until
from router_stage import stage as any_stage

from tidewise.native.data_plane import find_data_plane

pytestmark = pytest.mark.skipif(find_data_plane() is None, reason="the C++ data plane is not built")


def native(workers: int = 0):
    return any_stage(workers, data_plane="native")


async def answered(on) -> None:
    """Wait until a query is answered again."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(grpc.aio.AioRpcError):
                await on.client.ask(request(), timeout=1.0)
                return
            await asyncio.sleep(0.02)


@story
async def test_a_data_plane_that_crashes_is_back_with_its_table():
    async with native(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        await on.client.ask(request())
        for _ in range(3):
            before = on.router.forwarder.pid
            os.kill(before, signal.SIGKILL)
            await answered(on)
            assert on.router.forwarder.pid != before


@story
async def test_queries_held_by_a_crashed_data_plane_count_as_failed():
    async with native(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("a", worker.address)], slo_ms=60_000))
        held = [asyncio.ensure_future(on.client.ask(request())) for _ in range(3)]
        await until(lambda: on.controller.counted("garments")[0] == 3)
        os.kill(on.router.forwarder.pid, signal.SIGKILL)
        found = await asyncio.gather(*held, return_exceptions=True)
        assert all(isinstance(one, grpc.aio.AioRpcError) for one in found)
        await until(lambda: on.controller.counted("garments") == (3, {"failed": 3}))


@story
async def test_a_snapshot_that_comes_while_the_data_plane_is_down_is_in_force_when_it_is_back():
    async with native(workers=2) as (on, (one, two)):
        await on.tell(snapshot([route("a", one.address)]))
        os.kill(on.router.forwarder.pid, signal.SIGKILL)
        await on.tell(snapshot([route("b", two.address)], revision=2))
        await answered(on)
        assert two.seen and not one.seen


@story
async def test_the_data_plane_ends_with_its_router():
    async with native() as (on, _):
        await until(lambda: on.router.forwarder.pid is not None)
        pid = on.router.forwarder.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@story
async def test_tables_are_swapped_under_load_without_a_query_lost():
    async with native(workers=3) as (on, workers):
        routes = [route(f"w{i}", one.address) for i, one in enumerate(workers)]
        await on.tell(snapshot(routes))
        stop = asyncio.Event()

        async def load() -> int:
            count = 0
            while not stop.is_set():
                await on.client.ask(request())
                count += 1
            return count

        loads = [asyncio.ensure_future(load()) for _ in range(8)]
        for revision in range(2, 40):
            kept = [one for i, one in enumerate(routes) if i != revision % 3]
            await on.tell(snapshot(kept, revision=revision))
        stop.set()
        total = sum(await asyncio.gather(*loads))
        await until(lambda: on.controller.counted("garments") == (total, {"on_time": total}))


@story
async def test_a_worker_that_answers_before_the_query_has_been_sent_is_heard():
    worker = await EchoWorker().start()

    async def refuse(seen, context):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no", (("tidewise-reason", "bad_input"),))

    worker.act = refuse
    async with native() as (on, _):
        await on.tell(snapshot([route("a", worker.address)], slo_ms=60_000))
        found = await on.client.refused(request() + b"\x3a\x80\x80\x80\x02" + b"\0" * (1 << 22))
        assert (found.code, found.message) == (grpc.StatusCode.INVALID_ARGUMENT, "no")
        await on.client.refused(request())
    await worker.kill()
