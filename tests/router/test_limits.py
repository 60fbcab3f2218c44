from __future__ import annotations

import asyncio
from typing import Any

import grpc
from router_stage import Seen, request, route, snapshot, stage, story, until

from tidewise.proto import inference_pb2 as pb

LIMIT = 6_000_000


def sized(size: int) -> bytes:
    """A query of exactly this many bytes."""
    message = pb.ModelInferRequest.FromString(request())
    message.raw_input_contents[0] = b"\0" * (size - 100)
    message.raw_input_contents[0] += b"\0" * (size - message.ByteSize())
    assert message.ByteSize() == size
    return message.SerializeToString()


@story
async def test_large_messages_pass_both_ways_up_to_the_limit():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)], max_message=LIMIT))
        answer = await on.client.ask(sized(LIMIT - 1000))
        assert answer.ByteSize() > LIMIT - 2000


@story
async def test_a_query_over_the_limit_is_refused_saying_the_limit():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)], max_message=LIMIT))
        found = await on.client.refused(sized(LIMIT + 1))
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "too_large")
        assert found.message == f"the query has {LIMIT + 1} bytes; the limit is {LIMIT} bytes"
        assert not worker.seen
        await on.client.ask(request())
        await until(lambda: on.controller.counted("garments") == (2, {"failed": 1, "on_time": 1}))


@story
async def test_a_query_far_over_the_limit_is_refused_before_it_is_read():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)], max_message=LIMIT))
        found = await on.client.refused(sized(3 * LIMIT))
        assert found.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        await on.client.ask(request())
        assert len(worker.seen) == 1


@story
async def test_an_answer_over_the_limit_is_refused_saying_the_limit():
    async with stage(workers=1) as (on, (worker,)):

        async def swell(seen: Seen, context: Any) -> bytes:
            return pb.ModelInferResponse(raw_output_contents=[b"\0" * LIMIT]).SerializeToString()

        worker.act = swell
        await on.tell(snapshot([route("a", worker.address)], max_message=LIMIT))
        found = await on.client.refused(request())
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "too_large")
        assert str(LIMIT) in found.message


@story
async def test_the_limit_follows_the_snapshot_and_nothing_in_flight_is_lost():
    async with stage(workers=1) as (on, (worker,)):
        release = asyncio.Event()

        async def hold(seen: Seen, context: Any) -> None:
            await release.wait()

        worker.act = hold
        await on.tell(snapshot([route("a", worker.address)], max_message=1_000_000))
        held = [asyncio.ensure_future(on.client.ask(request())) for _ in range(4)]
        await until(lambda: len(worker.seen) == 4)
        await on.tell(snapshot([route("a", worker.address)], revision=2, max_message=2_000_000))
        worker.act = None
        await on.client.ask(sized(1_500_000))
        release.set()
        assert len(await asyncio.gather(*held)) == 4
