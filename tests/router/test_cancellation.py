from __future__ import annotations

import asyncio
import random

import grpc
import pytest
from grpc._cython.cygrpc import ExecuteBatchError
from router_stage import request, route, sleeping, snapshot, stage, story, until

from tidewise.core.outcome import Reason
from tidewise.router.failure import failure
from tidewise.router.forward import Forwarder
from tidewise.router.service import refuse
from tidewise.router.stream import Streams


@story
async def test_a_cancelled_query_is_cancelled_at_its_worker():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address)], slo_ms=60_000))
        call = on.client.infer(request(), timeout=60)
        await until(lambda: len(worker.seen) == 1)
        call.cancel()
        await until(lambda: worker.seen[0].cancelled)
        await until(lambda: on.controller.counted("garments") == (1, {"dropped": 1}))


@story
async def test_a_callers_closed_connection_cancels_what_it_had_asked():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address)], slo_ms=60_000))
        asked = [asyncio.ensure_future(on.client.ask(request(), timeout=60)) for _ in range(3)]
        await until(lambda: len(worker.seen) == 3)
        await on.client.channel.close()
        await until(lambda: all(one.cancelled for one in worker.seen))
        await asyncio.gather(*asked, return_exceptions=True)


@story
async def test_a_callers_deadline_cancels_at_the_worker():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address)], slo_ms=60_000))
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await on.client.infer(request(), timeout=1.0)
        assert error.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await until(lambda: worker.seen and worker.seen[0].cancelled)


class HungUp:
    """The context of a call whose caller has just gone: gRPC cannot send its status any more."""

    async def abort(self, *status: object) -> None:
        raise ExecuteBatchError("execute_batch")

    async def write(self, message: bytes) -> None:
        raise ExecuteBatchError("execute_batch")

    def invocation_metadata(self) -> None:
        return None

    def time_remaining(self) -> None:
        return None


@story
async def test_a_caller_that_hung_up_before_its_refusal_is_a_cancelled_call_not_a_fault():
    with pytest.raises(asyncio.CancelledError):
        await refuse(HungUp(), failure(Reason.BAD_INPUT, "the tensor is wrong"))  # type: ignore[arg-type]


@story
async def test_a_caller_that_hung_up_before_an_answer_of_its_stream_is_no_fault_either():
    async def one_query():
        yield request()

    await Streams(Forwarder(random.Random(1))).serve(one_query(), HungUp())  # type: ignore[arg-type]


@story
async def test_cancels_at_random_moments_leave_no_trace():
    """After 300 queries cancelled at random stages 50 normal ones succeed, and every one of them is accounted for."""
    async with stage(workers=2) as (on, workers):
        for one in workers:
            one.act = sleeping(0.02)
        await on.tell(snapshot([route(f"w{i}", one.address) for i, one in enumerate(workers)], slo_ms=60_000))
        draw = random.Random(7)
        calls = []
        for _ in range(300):
            call = on.client.infer(request(), timeout=60)
            asyncio.get_running_loop().call_later(draw.uniform(0, 0.1), call.cancel)
            calls.append(call)
            await asyncio.sleep(0.001)
        await asyncio.gather(*calls, return_exceptions=True)
        for _ in range(50):
            await on.client.ask(request())

        def settled() -> bool:
            arrivals, outcomes = on.controller.counted("garments")
            return outcomes.get("on_time", 0) >= 50 and arrivals == sum(outcomes.values())

        await until(settled)
