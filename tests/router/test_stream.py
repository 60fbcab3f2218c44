from __future__ import annotations

import asyncio
from typing import Any

import grpc
from router_stage import Seen, request, route, sleeping, snapshot, stage, story, until

from tidewise.proto import inference_pb2 as pb


def parse(data: Any) -> pb.ModelStreamInferResponse:
    return pb.ModelStreamInferResponse.FromString(data)


@story
async def test_answers_come_in_the_order_of_completion():
    async with stage(workers=1) as (on, (worker,)):
        release = asyncio.Event()

        async def hold_the_first(seen: Seen, context: Any) -> None:
            if pb.ModelInferRequest.FromString(seen.body).id == "first":
                await release.wait()

        worker.act = hold_the_first
        await on.tell(snapshot([route("big-0", worker.address)]))
        call = on.client.stream(iter([request(id="first"), request(id="second")]))
        got = []
        async for one in call:
            got.append(parse(one).infer_response.id)
            release.set()
        assert got == ["second", "first"]
        assert await call.code() is grpc.StatusCode.OK


@story
async def test_each_message_of_a_stream_is_routed_on_its_own():
    async with stage(workers=2) as (on, (one, two)):
        routes = [route("a", one.address), route("b", two.address, application="digits")]
        await on.tell(snapshot(routes, ("garments", "digits")))
        bodies = [request("garments" if i % 2 else "digits", id=str(i)) for i in range(10)]
        got = [parse(each) async for each in on.client.stream(iter(bodies))]
        assert sorted(int(each.infer_response.id) for each in got) == list(range(10))
        assert (len(one.seen), len(two.seen)) == (5, 5)


@story
async def test_a_failed_message_is_an_error_message_and_the_stream_goes_on():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        bodies = [request("shoes", id="bad"), b"\xff", request(id="good")]
        got = [parse(each) async for each in on.client.stream(iter(bodies))]
        errors = {each.infer_response.id: each.error_message for each in got if each.error_message}
        assert "NOT_FOUND" in errors["bad"] and "'shoes'" in errors["bad"]
        assert "INVALID_ARGUMENT" in errors[""]
        assert [each.infer_response.id for each in got if not each.error_message] == ["good"]


@story
async def test_a_stream_holds_a_bounded_number_of_queries():
    async with stage(workers=1) as (on, (worker,)):
        release = asyncio.Event()

        async def hold(seen: Seen, context: Any) -> None:
            await release.wait()

        worker.act = hold
        await on.tell(snapshot([route("big-0", worker.address, capacity=1e6, fastest=1e-6)], slo_ms=20_000))
        call = on.client.stream(iter([request(id=str(i)) for i in range(200)]))
        reading = asyncio.ensure_future(_all(call))
        await until(lambda: len(worker.seen) == 64)
        await asyncio.sleep(0.2)
        assert len(worker.seen) == 64
        release.set()
        assert len(await reading) == 200


@story
async def test_a_cancelled_stream_cancels_its_queries():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address)], slo_ms=60_000))
        call = on.client.stream(iter([request() for _ in range(4)]))
        reading = asyncio.ensure_future(_all(call))
        await until(lambda: len(worker.seen) == 4)
        call.cancel()
        await until(lambda: all(one.cancelled for one in worker.seen))
        await asyncio.gather(reading, return_exceptions=True)


async def _all(call: Any) -> list[bytes]:
    return [one async for one in call]
