"""What a real router process exports and logs, between a controller stand-in and echo workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from observed import Process, Scrape, tidewise
from router_stage import (
    PATIENCE,
    PLANE,
    Client,
    ControllerStandIn,
    EchoWorker,
    Stage,
    failing,
    request,
    route,
    sleeping,
    snapshot,
    until,
)

NAMES = 3_000
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Observed(Stage):
    """A stage whose router is a process of its own."""

    process: Process
    metrics: str

    async def scrape(self, when: Callable[[Scrape], object] = lambda found: True) -> Scrape:
        """The first scrape of which this holds: the counts of a data plane in C++ are read a few times a second."""
        async with asyncio.timeout(PATIENCE):
            while not when(found := await asyncio.to_thread(Scrape, self.metrics)):
                await asyncio.sleep(0.05)
        return found


@asynccontextmanager
async def router(folder: Path, workers: int = 1) -> AsyncIterator[tuple[Observed, list[EchoWorker]]]:
    """A router process attached to a controller stand-in, and echo workers it does not know of yet."""
    controller = await ControllerStandIn().start()
    echoes = [await EchoWorker().start() for _ in range(workers)]
    words = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--drain-delay", "0")
    words += ("--data-plane", PLANE.get())
    with tidewise(folder / "router.log", "router", "--join", controller.address, *words) as process:
        up = await asyncio.to_thread(process.line, event="router is listening")
        on = Observed(controller, Client(up["address"]), up["address"], up["http_port"], None)
        on.process, on.metrics = process, f"127.0.0.1:{up['metrics_port']}"
        try:
            yield on, echoes
        finally:
            await on.client.channel.close()
            await controller.stop()
            for one in echoes:
                await one.kill()


def ended(number: int) -> Callable[[Scrape], bool]:
    """Whether so many queries have come to their end."""
    return lambda found: found.sum("tidewise_router_queries_total") == number


def run(story: object) -> None:
    asyncio.run(asyncio.wait_for(story, 110))  # type: ignore[arg-type]


def test_thousands_of_invented_names_are_one_series_and_a_few_log_lines(tmp_path: Path) -> None:
    async def ask(on: Observed, numbers: range) -> None:
        for number in numbers:
            with suppress(grpc.aio.AioRpcError):
                await on.client.infer(request(f"invented-{number}"), timeout=100)

    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            await on.tell(snapshot([route("a", worker.address)]))
            await on.client.ask(request())
            await ask(on, range(1))
            before = await on.scrape(ended(2))
            began = time.monotonic()
            await asyncio.gather(*(ask(on, range(start, NAMES, 50)) for start in range(50)))
            seconds = time.monotonic() - began
            after = await on.scrape(ended(NAMES + 2))
            assert len(after.samples) == len(before.samples)
            assert after.sum("tidewise_router_arrivals_total", application="_unknown") == NAMES + 1
            reason = {"application": "_unknown", "outcome": "failed", "reason": "unknown_application"}
            assert after.sum("tidewise_router_queries_total", **reason) == NAMES + 1
            assert after.sum("nv_inference_request_failure", model="_unknown") == NAMES + 1
            assert "invented" not in after.text

            def told() -> list[dict[str, Any]]:
                return [line for line in on.process.lines() if "count" in line or "reason" in line]

            await until(lambda: sum(line.get("count", 1) for line in told()) == NAMES + 1)  # none silent
            lines = on.process.lines(reason="unknown_application")
            assert len(lines) < 40 * (seconds + 2)  # no flood
            assert all(len(line["application"]) <= 128 for line in lines)

    run(story())


def test_stages_sum_to_the_total_and_triton_names_agree(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            worker.act = sleeping(0.02)
            await on.tell(snapshot([route("a", worker.address)]))
            for _ in range(12):
                await on.client.ask(request())
            found = await on.scrape(ended(12))
            total = found.sum("tidewise_router_query_seconds_sum", application="garments")
            assert found.sum("tidewise_router_query_seconds_count") == 12
            assert total >= 12 * 0.02
            stages = found.sum("tidewise_router_stage_seconds_sum", application="garments", variant="fine")
            assert stages == pytest.approx(total)
            assert found.sum("tidewise_router_stage_seconds_sum", stage="queue") == pytest.approx(12 * 0.0015)
            assert found.sum("tidewise_router_stage_seconds_sum", stage="compute") == pytest.approx(12 * 0.0025)
            assert found.sum("tidewise_router_answers_total", variant="fine") == 12
            model = {"model": "garments", "version": "2"}
            assert found.sum("nv_inference_request_success", **model) == 12
            assert found.sum("nv_inference_request_duration_us", **model) == pytest.approx(total * 1e6)
            assert found.sum("nv_inference_queue_duration_us", **model) == pytest.approx(12 * 1500)
            assert found.sum("nv_inference_compute_infer_duration_us", **model) == pytest.approx(12 * 2500)

    run(story())


def test_every_arrival_is_waiting_or_ended_for_one_reason(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            await on.tell(snapshot([route("a", worker.address)], slo_ms=60_000))
            worker.act = sleeping(300)
            held = [asyncio.ensure_future(on.client.infer(request(), timeout=60)) for _ in range(5)]
            await until(lambda: len(worker.seen) == 5)
            waiting = {"application": "garments"}
            found = await on.scrape(lambda found: found.sum("tidewise_router_waiting_queries", **waiting) == 5)
            assert found.sum("nv_inference_pending_request_count", model="garments") == 5
            for one in held:
                one.cancel()
            await until(lambda: all(one.cancelled for one in worker.seen))
            worker.act = failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", "queue_full")
            await on.client.refused(request())
            await on.client.refused(request(deadline_ms=0))
            await on.client.refused(request(version="99"))
            await on.client.refused(b"\xff\xff\xff")
            found = await on.scrape(ended(9))
            by_reason = {
                (one.labels["outcome"], one.labels["reason"]): one.value
                for one in found.all("tidewise_router_queries_total")
            }
            assert by_reason == {
                ("dropped", "cancelled"): 5,
                ("refused", "queue_full"): 1,
                ("dropped", "deadline"): 1,
                ("failed", "unknown_variant"): 1,
                ("failed", "bad_input"): 1,
            }
            assert found.sum("tidewise_router_arrivals_total") == 9
            assert found.sum("tidewise_router_waiting_queries") == 0

    run(story())


def test_plan_version_routes_and_connection_are_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path, workers=2) as (on, (one, two)):
            await on.tell(snapshot([route("a", one.address), route("b", two.address)], revision=7))
            found = await on.scrape(lambda found: found.sum("tidewise_router_routing_revision") == 7)
            assert found.sum("tidewise_router_plan_version") == 1
            assert found.sum("tidewise_router_routes", application="garments") == 2
            assert found.sum("tidewise_router_controller_connected") == 1
            assert 0 <= found.sum("tidewise_router_snapshot_age_seconds") < 30
            await on.controller.stop()
            await on.scrape(lambda found: found.sum("tidewise_router_controller_connected") == 0)

    run(story())


def test_a_lost_query_has_one_line_that_names_it_and_its_worker(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            worker.act = failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "the queue is full", "queue_full")
            await on.tell(snapshot([route("a", worker.address)]))
            metadata = (("x-request-id", "r-7"), ("traceparent", TRACE), ("tracestate", "v=1"))
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await on.client.infer(request(id="q1"), timeout=PATIENCE, metadata=metadata)
            assert dict(error.value.trailing_metadata() or ())["x-request-id"] == "r-7"
            told = worker.seen[0].metadata
            assert (told["x-request-id"], told["traceparent"], told["tracestate"]) == ("r-7", TRACE, "v=1")
            line = await asyncio.to_thread(on.process.line, event="query refused")
            del line["time"]
            assert line == {
                "level": "info",
                "part": "router",
                "event": "query refused",
                "application": "garments",
                "outcome": "refused",
                "reason": "queue_full",
                "request_id": "r-7",
                "query_id": "q1",
                "worker": "a",
                "traceparent": TRACE,
                "sentence": "the queue is full",
            }

    run(story())


def test_a_query_without_a_name_gets_one_that_worker_log_and_caller_share(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            worker.act = failing(grpc.StatusCode.INTERNAL, "broken", "engine")
            await on.tell(snapshot([route("a", worker.address)]))
            found = await on.client.refused(request())
            line = await asyncio.to_thread(on.process.line, reason="engine")
            assert line["request_id"] == worker.seen[0].metadata["x-request-id"] == found.trailing["x-request-id"]
            assert line["level"] == "warning"
            await on.client.refused(request(id="mine"))
            assert "x-request-id" not in worker.seen[1].metadata  # its own id names it
            assert (await asyncio.to_thread(on.process.line, request_id="mine"))["reason"] == "engine"

    run(story())


def test_a_query_its_caller_gave_up_is_told_with_the_worker_that_had_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with router(tmp_path) as (on, (worker,)):
            worker.act = sleeping(300)
            await on.tell(snapshot([route("a", worker.address)], slo_ms=60_000))
            asked = asyncio.ensure_future(on.client.infer(request(id="gone"), timeout=60))
            await until(lambda: bool(worker.seen))
            asked.cancel()
            line = await asyncio.to_thread(on.process.line, request_id="gone")
            assert (line["event"], line["reason"], line["worker"]) == ("query dropped", "cancelled", "a")

    run(story())
