"""What real worker processes export and log, under a pretend controller; emulated devices make times known."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from observed import Process, Scrape, tidewise, wait_until
from worker_cluster import (
    BEST,
    CHEAP,
    CLUSTER,
    DIGITS,
    LADDER,
    PretendController,
    applied,
    controller,
    images,
    patient,
    request,
)
from worker_stations import Bench, rows

from tidewise.core.profile import BatchLatency, Profile, VariantProfile, format_profile
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.inference_pb2_grpc import GRPCInferenceServiceStub
from tidewise.worker.answer import Answer

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def timed(seconds: float, device_type: str) -> Profile:
    """Every variant takes this long for one row or two."""
    sizes = tuple(BatchLatency(size, seconds, seconds) for size in (1, 2))
    return Profile().with_entries(VariantProfile("digits", one.name, device_type, sizes) for one in LADDER)


@contextmanager
def worker(
    folder: Path, seconds: float, device_type: str = "pretend", models: Path = DIGITS, slo_ms: float = 20_000.0
) -> Iterator[tuple[Process, PretendController, str]]:
    """A worker process that hosts the best variant of digits; the last value is the address of its metrics."""
    (folder / "cluster.toml").write_text(CLUSTER)
    (folder / "profile.json").write_text(format_profile(timed(seconds, device_type)))
    with controller(patient(folder / "models", models, slo_ms)) as (pretend, port):
        where = ("--join", f"127.0.0.1:{port}", "--cluster", str(folder / "cluster.toml"), "--name", "w0")
        own = ("--state", str(folder / "state"), "--device-type", device_type, "--metrics", "127.0.0.1:0")
        given = ("--profile", str(folder / "profile.json"))
        with tidewise(folder / "worker.log", "worker", *where, *own, *given) as process:
            up = process.line(event="worker process up")
            pretend.order(3, BEST.name)
            applied(pretend, 3)
            yield process, pretend, f"127.0.0.1:{up['metrics_port']}"


def ask(pretend: PretendController, many: int, **metadata: str) -> list[pb.ModelInferResponse | grpc.RpcError]:
    """As many queries at once; what became of each."""
    pairs = tuple((key.replace("_", "-"), value) for key, value in metadata.items())
    with grpc.insecure_channel(pretend.reports[-1].address) as channel:
        stub = GRPCInferenceServiceStub(channel)
        calls = [stub.ModelInfer.future(request(images(1)), metadata=pairs) for _ in range(many)]
        return [call.exception() or call.result() for call in calls]


def test_the_queue_gauge_is_the_number_that_waits(tmp_path: Path) -> None:
    with worker(tmp_path, 0.8) as (_, pretend, metrics), ThreadPoolExecutor(1) as caller:
        seen = []

        def waiting() -> float:
            found = Scrape(metrics)
            seen.append(found.sum("tidewise_worker_queue_depth", application="digits", worker="w0"))
            assert found.sum("nv_inference_pending_request_count", model="digits") == seen[-1]
            return seen[-1]

        asked = caller.submit(ask, pretend, 4)
        wait_until(lambda: waiting() in (2, 3), "a queue")  # four asked; one or two run at once
        asked.result()
        wait_until(lambda: waiting() == 0, "no queue")
        assert max(seen) <= 3


def test_a_device_at_work_tells_stages_batches_dispatches_and_loads(tmp_path: Path) -> None:
    with worker(tmp_path, 0.1) as (_, pretend, metrics):
        answers = [one for _ in range(4) for one in ask(pretend, 3)]
        assert all(isinstance(one, pb.ModelInferResponse) for one in answers)
        found = Scrape(metrics)
        served = {"application": "digits", "variant": BEST.name, "device_type": "pretend"}
        total = found.sum("tidewise_worker_query_seconds_sum", application="digits")
        assert found.sum("tidewise_worker_query_seconds_count") == 12
        assert found.sum("tidewise_worker_stage_seconds_sum", application="digits") == pytest.approx(total)
        stages = {one.labels["stage"] for one in found.all("tidewise_worker_stage_seconds_sum")}
        assert stages == {"queue", "batch", "compute", "reply"}
        assert found.sum("tidewise_worker_stage_seconds_sum", stage="compute") >= 12 * 0.1
        said = sum(one.parameters["queue_us"].int64_param for one in answers) / 1e6
        waited = sum(found.sum("tidewise_worker_stage_seconds_sum", stage=one) for one in ("queue", "batch"))
        assert waited == pytest.approx(said, abs=1e-4)
        assert found.sum("tidewise_worker_answers_total", **served) == 12
        assert found.sum("tidewise_worker_batch_size_sum", **served) == 12
        batches = found.sum("tidewise_worker_batch_size_count", **served)
        assert 8 <= batches < 12
        assert found.sum("tidewise_worker_compute_seconds_count", **served) == batches
        assert found.sum("tidewise_worker_dispatches_total", worker="w0") == batches
        assert found.sum("tidewise_worker_busy_seconds_total", worker="w0") >= batches * 0.1
        assert found.sum("tidewise_worker_load_seconds_count", **served) == 1
        assert found.sum("tidewise_worker_hosted", worker="w0", application="digits", variant=BEST.name) == 1
        assert found.sum("tidewise_worker_plan_version", worker="w0") == 3
        assert 0 <= found.sum("tidewise_worker_plan_age_seconds", worker="w0") < 60
        assert found.sum("tidewise_worker_controller_connected") == 1
        model = {"model": "digits", "version": str(BEST.version)}
        assert found.sum("nv_inference_request_success", **model) == found.sum("nv_inference_count", **model) == 12
        assert found.sum("nv_inference_exec_count", **model) == batches
        assert found.sum("nv_inference_request_duration_us", **model) == pytest.approx(total * 1e6)
        assert found.sum("nv_inference_queue_duration_us", **model) == pytest.approx(said * 1e6, abs=100)


def test_every_query_a_worker_loses_is_counted_by_reason_and_told_by_name(tmp_path: Path) -> None:
    with worker(tmp_path, 0.15, slo_ms=200.0) as (process, pretend, metrics):
        with grpc.insecure_channel(pretend.reports[-1].address) as channel:
            stub = GRPCInferenceServiceStub(channel)
            for number in range(30):
                stub.ModelInfer.future(request(images(1), model_name=f"invented-{number}")).exception()
            stub.ModelInfer.future(request(images(1), raw_input_contents=[b"1"], id="short")).exception()
        results = ask(pretend, 6, x_request_id="r-9", traceparent=TRACE)
        lost = sum(isinstance(one, grpc.RpcError) for one in results)
        assert lost  # six times 150 ms on one device do not fit into 200 ms
        wait_until(lambda: Scrape(metrics).sum("tidewise_worker_queries_total") == 37, "all ended")
        found = Scrape(metrics)
        assert found.sum("tidewise_worker_queries_total", application="_unknown", reason="unknown_application") == 30
        assert found.sum("tidewise_worker_queries_total", application="digits", reason="bad_input") == 1
        assert found.sum("tidewise_worker_queries_total", application="digits", outcome="dropped") == lost
        assert "invented" not in found.text
        line = process.line(outcome="dropped")
        assert (line["request_id"], line["traceparent"], line["worker"]) == ("r-9", TRACE, "w0")
        assert line["reason"] in ("hopeless", "deadline")
        wait_until(
            lambda: sum(line.get("count", "request_id" in line) for line in process.lines()) == 31 + lost,
            "every loss told",
        )


def test_buckets_of_two_worker_processes_sum_to_a_quantile_within_one_bucket(tmp_path: Path) -> None:
    took: list[float] = []
    merged: dict[float, float] = {}
    for number, seconds in enumerate((0.004, 0.06)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with worker(folder, seconds) as (_, pretend, metrics):
            for _ in range(20):
                (answer,) = ask(pretend, 1)
                assert isinstance(answer, pb.ModelInferResponse)
                took.append(answer.parameters["compute_us"].int64_param / 1e6)
            for bound, count in Scrape(metrics).buckets("tidewise_worker_stage_seconds", stage="compute").items():
                merged[bound] = merged.get(bound, 0.0) + count
    truth = sorted(took)[round(0.95 * len(took)) - 1]
    bounds = sorted(merged)
    reached = next(place for place, bound in enumerate(bounds) if merged[bound] >= 0.95 * len(took))
    assert abs(reached - next(place for place, bound in enumerate(bounds) if bound >= truth)) <= 1


def test_a_variant_that_cannot_be_loaded_is_counted(tmp_path: Path) -> None:
    with worker(tmp_path, 0.01, device_type="real") as (process, pretend, metrics):
        (pretend.folder / CHEAP.model).write_bytes(b"not a model")
        pretend.order(4, CHEAP.name)
        failed = {"application": "digits", "variant": CHEAP.name}
        wait_until(lambda: Scrape(metrics).sum("tidewise_worker_load_failures_total", **failed) == 1, "told")
        found = Scrape(metrics)
        assert found.sum("tidewise_worker_plan_version", worker="w0") == 3
        assert found.sum("tidewise_worker_hosted", variant=BEST.name) == 1
        assert process.line(event="variant not loaded")["variant"] == CHEAP.name


def test_waiting_for_company_is_a_stage_of_its_own() -> None:
    """Two queries 50 ms apart share a batch: the first waited for it on an idle device."""

    async def story() -> None:
        bench = await Bench(seconds=0.02, sizes=(1, 2), rule="deadline").host()
        try:
            first = bench.send(rows(1.0))[1]
            await asyncio.sleep(0.05)
            second = bench.send(rows(2.0))[1]
            one, two = await asyncio.gather(first, second)
        finally:
            bench.station.close()
        assert isinstance(one, Answer) and isinstance(two, Answer)
        assert one.batch == two.batch == 2
        assert one.waited == pytest.approx(one.queued)
        assert one.waited >= 0.05
        assert two.waited < one.waited

    asyncio.run(story())


def test_waiting_for_a_busy_device_is_not() -> None:
    async def story() -> None:
        bench = await Bench(seconds=0.05, sizes=(1,)).host()
        try:
            one, two = await asyncio.gather(bench.ask(rows(1.0)), bench.ask(rows(2.0)))
        finally:
            bench.station.close()
        assert isinstance(one, Answer) and isinstance(two, Answer)
        assert two.queued >= 0.05
        assert two.waited < two.queued / 2

    asyncio.run(story())
