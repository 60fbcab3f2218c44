"""What a worker adds to the bare engine: `python bench/worker.py [--application NAME] [--quick] [--json]`.

For every variant, on one thread:

engine_ratio  throughput of queue, batching, engine and split, in this process, over a bare onnxruntime loop that runs
              the same batches, ready-made;
cpu_ratio     processor time of the bare loop over that of the engine's round, for the same batches: what a busy
              machine cannot blur;
served_ratio  as engine_ratio, with queries coming over gRPC from a client process of their own.

All three are measured in turn, round by round; a ratio is the median over the rounds of the ratio within a round, so
that a machine that is now busy, now idle, disturbs it little.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import grpc
import onnxruntime
from worker_client import request_of
from worker_rounds import PATIENCE, Bench, Counting, Round

from tidewise.cli.options import repository_option
from tidewise.core.application import Application, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.profile import VariantProfile
from tidewise.proto import inference_pb2_grpc
from tidewise.worker.batching import RULES
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Device, Policy
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.choose import engine_name
from tidewise.worker.engine.loading import load_variant
from tidewise.worker.host import Host
from tidewise.worker.orders import Order
from tidewise.worker.profiling.effort import QUICK
from tidewise.worker.profiling.host import host_name
from tidewise.worker.profiling.store import profile_subjects
from tidewise.worker.profiling.subject import Subject, read_subjects
from tidewise.worker.samples import samples_for
from tidewise.worker.servable import servable
from tidewise.worker.service import InferenceService
from tidewise.worker.sessions import Source
from tidewise.worker.station import Station

DEVICE = DeviceType("bench", batch_sizes=(8,))  # one size: noise in a profile must not choose the batch
ENGINE_QUERIES, SERVED_QUERIES = 4_000, 800  # at most so many in a round: tiny variants would take minutes
GOAL = 0.90  # engine_ratio of the most accurate variant


@dataclass(frozen=True, slots=True)
class Result:
    """Queries per second of one variant three ways, medians over the rounds."""

    application: str
    variant: str
    accuracy: float | None
    batch: int
    bare_qps: float
    engine_qps: float
    served_qps: float
    engine_ratio: float
    cpu_ratio: float
    served_ratio: float


async def measure(subject: Subject, variant: Variant, profile: VariantProfile, seconds: float, times: int) -> Result:
    """The variant's rates, each round long enough for about ``seconds`` of computing."""
    application = replace(subject.application, slo=PATIENCE)
    model, samples = subject.model(variant), samples_for(application, subject.folder, 256)
    counting = Counting(load_variant(DEVICE, application, variant, model, profile, samples))
    station = await ready_station(application, variant, profile, counting)
    batch = servable(application, variant, profile).cap
    host, server = Host({station.name: station}), grpc.aio.server()
    host.know({application.name: application})
    service = InferenceService(host, asyncio.get_running_loop().time)
    inference_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    bench = Bench(
        application=application,
        station=station,
        counting=counting,
        bare=bare_session(model),
        address=f"127.0.0.1:{port}",
        queries=samples.queries(256),
        requests=[request_of(application, query) for query in samples.queries(64)],
        window=2 * batch,
    )
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as clients:
        rounds = await in_turn(bench, max(2, round(seconds / profile.p50(batch))) * batch, times, clients)
    await server.stop(None)
    station.close()
    counting.close()
    return Result(
        application=application.name,
        variant=variant.name,
        accuracy=variant.accuracy,
        batch=batch,
        bare_qps=statistics.median(bare.qps for bare, _, _ in rounds),
        engine_qps=statistics.median(engine.qps for _, engine, _ in rounds),
        served_qps=statistics.median(served for _, _, served in rounds),
        engine_ratio=statistics.median(engine.qps / bare.qps for bare, engine, _ in rounds),
        cpu_ratio=statistics.median(bare.cpu / engine.cpu for bare, engine, _ in rounds),
        served_ratio=statistics.median(served / bare.qps for bare, _, served in rounds),
    )


async def in_turn(
    bench: Bench, count: int, times: int, clients: ProcessPoolExecutor
) -> list[tuple[Round, Round, float]]:
    """(bare, engine, served) of every round; the bare loop repeats the batches of the engine's."""
    rounds = []
    await bench.served_rate(bench.window, clients)  # wakes the client process
    for _ in range(times):
        bench.counting.sizes.clear()
        engine = await bench.engine_round(min(count, ENGINE_QUERIES))
        bare = bench.bare_round(list(bench.counting.sizes))
        rounds.append((bare, engine, await bench.served_rate(min(count, SERVED_QUERIES), clients)))
    return rounds


async def ready_station(
    application: Application, variant: Variant, profile: VariantProfile, session: Session
) -> Station:
    """A device that hosts the variant and nothing else."""

    async def loaded(device_type: DeviceType, source: Source) -> Session:
        return session

    policy = Policy(RULES["eager"], CHOICES["planned"], max_queue=100_000)
    station = Station(Device("bench", policy), DEVICE, loaded)
    order = Order(1, application.name, (servable(application, variant, profile),))
    station.order(order, [Source(application, variant, profile)])
    while station.device.hosting.pending is not None:
        await asyncio.sleep(0.001)
    return station


def bare_session(model: Path) -> onnxruntime.InferenceSession:
    """onnxruntime as it comes, but for one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


async def run(subjects: Sequence[Subject], quick: bool) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        profile = profile_subjects(subjects, [DEVICE], Path(folder) / "profile.json", QUICK)
    results = []
    for subject in subjects:
        for variant in subject.application.variants:
            entry = profile.entries[subject.application.name, variant.name, DEVICE.name]
            results.append(await measure(subject, variant, entry, 0.2 if quick else 0.5, 5 if quick else 15))
    return results


def top_variants(results: Sequence[Result]) -> list[Result]:
    """The most accurate variant of each application."""
    names = dict.fromkeys(one.application for one in results)
    return [
        max((one for one in results if one.application == name), key=lambda one: one.accuracy or 0) for name in names
    ]


@click.command()
@repository_option
@click.option("--application", "names", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--quick", is_flag=True, help="Five short rounds.")
@click.option("--json", "as_json", is_flag=True)
def main(repository: Path, names: tuple[str, ...], quick: bool, as_json: bool) -> None:
    """Compare a worker's throughput with a bare onnxruntime loop's."""
    subjects = [one for one in read_subjects(repository) if not names or one.application.name in names]
    results = asyncio.run(run(subjects, quick))
    values = {"host": host_name(), "engine": engine_name(), "variants": [asdict(one) for one in results]}
    if as_json:
        click.echo(json.dumps(values, indent=1))
        return
    click.echo(f"{values['host']}, {values['engine']} engine; queries per second, one thread")
    click.echo(
        f"{'application':<12}{'variant':<12}{'batch':>6}{'bare':>10}{'engine':>10}{'served':>10}  engine    cpu served"
    )
    for one in results:
        rates = f"{one.bare_qps:>10.0f}{one.engine_qps:>10.0f}{one.served_qps:>10.0f}"
        ratios = f"{one.engine_ratio:>8.3f}{one.cpu_ratio:>7.3f}{one.served_ratio:>7.3f}"
        click.echo(f"{one.application:<12}{one.variant:<12}{one.batch:>6}{rates}{ratios}")
    for one in top_variants(results):
        verdict = "holds" if one.engine_ratio >= GOAL else "is missed"
        click.echo(
            f"{one.application}: top variant {one.variant} {one.engine_ratio:.3f}; the goal of {GOAL:.2f} {verdict}"
        )


if __name__ == "__main__":
    sys.exit(main())
