"""What a query meets on its way through a router. Nothing here knows how the router is made."""

from __future__ import annotations

import asyncio
import re
import time

import grpc
from router_stage import echo, failing, request, route, sleeping, snapshot, stage, story, until

from tidewise.proto import inference_pb2 as pb


@story
async def test_body_and_answer_pass_untouched():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        body = request(id="q7")
        raw = await on.client.infer(body, timeout=60)
        assert worker.seen[0].body == body
        assert raw == echo(body, "big-0")


@story
async def test_the_worker_is_told_its_device_and_the_callers_trace():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-3", worker.address)]))
        await on.client.ask(request(), x_request_id="r1", traceparent="00-ab-cd-01", cookie="secret")
        told = worker.seen[0].metadata
        assert (told["tidewise-worker"], told["x-request-id"], told["traceparent"]) == ("big-3", "r1", "00-ab-cd-01")
        assert "cookie" not in told


@story
async def test_the_budget_on_the_wire_is_the_least_of_slo_grpc_deadline_and_parameter():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)], slo_ms=20_000))
        for timeout, parameters, expected in (
            (60.0, {}, 20.0),
            (None, {"deadline_ms": 60_000}, 20.0),
            (10.0, {"deadline_ms": 60_000}, 10.0),
            (60.0, {"deadline_ms": 5000}, 5.0),
            (60.0, {"deadline_ms": 5000.5}, 5.0005),
        ):
            await on.client.ask(request(**parameters), timeout=timeout)
            remaining = worker.seen[-1].remaining
            # gRPC writes a timeout in few digits, rounded up by at most two percent.
            assert remaining is not None and expected - 3 < remaining <= expected * 1.02 + 0.002


@story
async def test_a_deadline_ends_the_query_on_time_while_the_worker_is_busy():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address)]))
        began = time.monotonic()
        found = await on.client.refused(request(deadline_ms=500))
        assert 0.49 <= time.monotonic() - began < 20  # the SLO
        assert (found.code, found.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline")
        await until(lambda: worker.seen and worker.seen[0].cancelled)


@story
async def test_a_query_that_arrives_past_its_deadline_is_not_sent():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        found = await on.client.refused(request(deadline_ms=0))
        assert (found.code, found.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline")
        assert not worker.seen


@story
async def test_a_hopeless_wait_is_refused_at_once():
    """Five seconds to live, two a query, five ahead on the only worker."""
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(60)
        await on.tell(snapshot([route("big-0", worker.address, capacity=0.5, fastest=2.0)]))
        ahead = [asyncio.ensure_future(on.client.ask(request())) for _ in range(5)]
        await until(lambda: len(worker.seen) == 5)
        began = time.monotonic()
        found = await on.client.refused(request(deadline_ms=5000))
        assert time.monotonic() - began < 4  # before its deadline
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "predicted_late")
        left = re.search(r"([0-9.]+) ms left", found.message)
        assert left is not None and 1000 < float(left[1]) <= 5000
        assert len(worker.seen) == 5
        for one in ahead:
            one.cancel()


@story
async def test_unknown_names_are_not_found():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        found = await on.client.refused(request("shoes"))
        assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "unknown_application")
        assert "'shoes'" in found.message and "garments" in found.message
        found = await on.client.refused(request(version="9"))
        assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "unknown_variant")
        assert "'9'" in found.message and "1 (fast), 2 (fine)" in found.message


@story
async def test_what_is_not_a_query_is_bad_input():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        found = await on.client.refused(b"\xff\xff\xff")
        assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "bad_input")
        message = pb.ModelInferRequest.FromString(request())
        message.parameters["deadline_ms"].string_param = "soon"
        found = await on.client.refused(message.SerializeToString())
        assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "bad_input")
        assert "deadline_ms" in found.message
        assert not worker.seen


@story
async def test_a_workers_refusal_passes_as_it_is():
    async with stage(workers=2) as (on, workers):
        for worker in workers:
            worker.act = failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "the queue of big-0 is full", "queue_full")
        await on.tell(snapshot([route(f"big-{i}", one.address) for i, one in enumerate(workers)]))
        found = await on.client.refused(request())
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "queue_full")
        assert (found.message, found.trailing["extra"]) == ("the queue of big-0 is full", "kept")
        assert sum(len(one.seen) for one in workers) == 1


@story
async def test_an_application_without_workers_is_unavailable():
    async with stage() as (on, _):
        await on.tell(snapshot([]))
        found = await on.client.refused(request())
        assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "no_worker")
        assert "'garments'" in found.message


@story
async def test_a_pinned_query_goes_only_where_its_variant_is_ready():
    async with stage(workers=2) as (on, (one, two)):
        routes = [route("a", one.address, variants=("fine",)), route("b", two.address, variants=("fast",))]
        await on.tell(snapshot(routes))
        for version in ("1", "fast") * 5:
            await on.client.ask(request(version=version))
        assert (len(one.seen), len(two.seen)) == (0, 10)
        await on.tell(snapshot(routes[:1], revision=2))
        found = await on.client.refused(request(version="1"))
        assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "no_worker")
        assert "'1'" in found.message and "ready: fine" in found.message


@story
async def test_idle_workers_share_by_plan():
    async with stage(workers=4) as (on, workers):
        shares = (0.4, 0.3, 0.2, 0.1)
        await on.tell(snapshot([route(f"w{i}", one.address, share=shares[i]) for i, one in enumerate(workers)]))
        for _ in range(200):
            await on.client.ask(request())
        assert [round(len(one.seen) / 20) for one in workers] == [4 * 2, 3 * 2, 2 * 2, 1 * 2] or [
            abs(len(one.seen) - share * 200) <= 2 for one, share in zip(workers, shares, strict=True)
        ] == [True] * 4


@story
async def test_a_busy_worker_is_passed_over():
    async with stage(workers=2) as (on, (slow, quick)):
        slow.act = sleeping(60)
        await on.tell(snapshot([route("slow", slow.address), route("quick", quick.address)], slo_ms=60_000))
        held = [asyncio.ensure_future(on.client.ask(request())) for _ in range(2)]
        await until(lambda: len(slow.seen) == len(quick.seen) == 1)
        for _ in range(20):
            await on.client.ask(request())
        assert (len(slow.seen), len(quick.seen)) == (1, 21)
        held[0].cancel(), held[1].cancel()


@story
async def test_arrivals_and_outcomes_reach_the_controller():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("big-0", worker.address)]))
        for _ in range(5):
            await on.client.ask(request())
        await on.client.refused(request(deadline_ms=0))
        for name in ("a", "b", "c"):
            await on.client.refused(request(name))
        await until(lambda: on.controller.counted("garments") == (6, {"on_time": 5, "dropped": 1}))
        await until(lambda: on.controller.counted("_unknown") == (3, {"failed": 3}))
        variants = [tally.variants["fine"] for report in on.controller.reports for tally in report.tallies]
        assert sum(variants) == 5
