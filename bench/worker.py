"""What a worker adds to the bare engine: `python bench/worker.py [--application NAME] [--quick] [--json]`.

For every variant, on one thread:

engine_ratio  throughput of queue, batching, engine and split, in this process, over a bare onnxruntime loop that runs
              the same batches, ready-made;
cpu_ratio     processor time of the bare loop over that of the engine's round, for the same batches: what a busy
              machine cannot blur;
python_ratio  as engine_ratio, with queries coming over gRPC through the Python front from a client process;
front_ratio   the same through the C++ front, where that is built;
*_cpu_us      this process's processor time a query, served that way.

All are measured in turn, round by round; a ratio is the median over the rounds of the ratio within a round, so that a
machine that is now busy, now idle, disturbs it little. The client is Python's, unless --load names the load generator
of bench/router.py, which is quick enough to keep the small variants busy.

decision_us is what one event costs the device's machine (an arrival, the end of a batch), timer_late_p99_us how late
batches that wait are started.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

import click
import grpc
import onnxruntime
from worker_client import request_of
from worker_report import Result, summary, tell
from worker_rounds import PATIENCE, Bench, Round
from worker_timers import lateness

from tidewise.cli.options import repository_option
from tidewise.core.application import Application, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.profile import Profile, VariantProfile
from tidewise.dashboard.loss_log import LossLog
from tidewise.proto import inference_pb2_grpc
from tidewise.worker.batching import RULES
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Policy
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
from tidewise.worker.stations import AnyStation, batcher_name, front_name, make_stations

DEVICE = DeviceType("bench", batch_sizes=(8,))  # one size: noise in a profile must not choose the batch
ENGINE_QUERIES, SERVED_QUERIES = 20_000, 4_000  # at most so many in a round: tiny variants would take minutes
TIMERS = 400


async def measure(
    subject: Subject, variant: Variant, profile: VariantProfile, seconds: float, times: int, load: Path | None
) -> Result:
    """The variant's rates, each round long enough for about ``seconds`` of computing."""
    application = replace(subject.application, slo=PATIENCE)
    model, samples = subject.model(variant), samples_for(application, subject.folder, 256)
    session = load_variant(DEVICE, application, variant, model, profile, samples)
    station = await ready_station(application, variant, profile, session)
    batch = servable(application, variant, profile).cap
    async with opened(Host({station.name: station}), application) as doors:
        bench = Bench(
            application=application,
            station=station,
            bare=bare_session(model),
            doors=doors,
            queries=samples.queries(256),
            requests=[request_of(application, query) for query in samples.queries(64)],
            window=2 * batch,
            load=load,
        )
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as clients:
            rounds = await in_turn(bench, max(2, round(seconds / profile.p50(batch))) * batch, times, clients)
    decision = decision_us(station)
    station.close()
    engines = [(one["engine"], one["bare"]) for one in rounds]
    return Result(
        application=application.name,
        variant=variant.name,
        accuracy=variant.accuracy,
        batch=batch,
        bare_qps=statistics.median(bare.qps for _, bare in engines),
        engine_qps=statistics.median(engine.qps for engine, _ in engines),
        engine_ratio=statistics.median(engine.qps / bare.qps for engine, bare in engines),
        cpu_ratio=statistics.median(bare.cpu / engine.cpu for engine, bare in engines),
        decision_us=decision,
        **{f"{door}_ratio": statistics.median(one[door].qps / one["bare"].qps for one in rounds) for door in doors},
        **{f"{door}_cpu_us": statistics.median(one[door].cpu * 1e6 for one in rounds) for door in doors},
    )


@asynccontextmanager
async def opened(host: Host, application: Application) -> AsyncIterator[dict[str, str]]:
    """Addresses of the fronts that are built here, by name, while they serve the device."""
    host.know({application.name: application})
    server, losses = grpc.aio.server(), LossLog(logging.getLogger(__name__))
    service = InferenceService(host, asyncio.get_running_loop().time)
    inference_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(service, server)
    doors = {"python": f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"}
    front = None
    if front_name() == "native":
        from tidewise.worker.front import Front

        front = Front(host, server, "127.0.0.1:0", 1 << 26, losses)
        doors["front"] = f"127.0.0.1:{front.port}"
    await server.start()
    if front is not None:
        front.start()
    yield doors
    if front is not None:
        await front.close()
    await server.stop(None)


async def in_turn(bench: Bench, count: int, times: int, clients: ProcessPoolExecutor) -> list[dict[str, Round]]:
    """Every round's ways by name; the bare loop repeats the batches of the engine's."""
    rounds = []
    for door in bench.doors:
        await bench.served_round(door, bench.window, clients)  # wakes the client process
    for _ in range(times):
        before = bench.batches
        ways = {"engine": await bench.engine_round(max(bench.window, min(count, ENGINE_QUERIES)))}
        ways["bare"] = bench.bare_round(bench.batches - before)
        for door in bench.doors:
            ways[door] = await bench.served_round(door, min(count, SERVED_QUERIES), clients)
        rounds.append(ways)
    return rounds


async def ready_station(
    application: Application, variant: Variant, profile: VariantProfile, session: Session
) -> AnyStation:
    """A device that hosts the variant and nothing else."""

    async def loaded(device_type: DeviceType, source: Source) -> Session:
        return session

    policy = Policy(RULES["eager"], CHOICES["planned"], max_queue=100_000)
    station = make_stations({"bench": DEVICE}, policy, loaded)["bench"]
    order = Order(1, application.name, (servable(application, variant, profile),))
    station.order(order, [Source(application, variant, profile)])
    while station.device.hosting.pending is not None:
        await asyncio.sleep(0.001)
    return station


def decision_us(station: AnyStation) -> float | None:
    """Microseconds an event has cost the device's machine; not known of the Python one."""
    if isinstance(station, Station):
        return None
    deciding, decisions, _ = station.core.take_effort()
    return deciding / decisions * 1e6


def bare_session(model: Path) -> onnxruntime.InferenceSession:
    """onnxruntime as it comes, but for one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


async def run(subjects: Sequence[Subject], quick: bool, load: Path | None) -> tuple[list[Result], list[float]]:
    """Every variant's result (with ``quick`` of the most accurate and the fastest), and how late timers were."""
    with tempfile.TemporaryDirectory() as folder:
        profile = profile_subjects(subjects, [DEVICE], Path(folder) / "profile.json", QUICK)
    results = []
    for subject in subjects:
        for variant in chosen(subject.application, profile) if quick else subject.application.variants:
            entry = profile.entries[subject.application.name, variant.name, DEVICE.name]
            results.append(await measure(subject, variant, entry, 0.15 if quick else 0.5, 5 if quick else 15, load))
    return results, await lateness(TIMERS)


def chosen(application: Application, profile: Profile) -> list[Variant]:
    """The most accurate variant and the fastest."""
    best = max(application.variants, key=lambda one: one.accuracy or 0.0)
    quickest = min(
        application.variants, key=lambda one: profile.entries[application.name, one.name, DEVICE.name].p50(1)
    )
    return [best] if best is quickest else [best, quickest]


@click.command()
@repository_option
@click.option("--application", "names", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--quick", is_flag=True, help="Five short rounds of two variants of each application; under a minute.")
@click.option("--load", type=click.Path(path_type=Path, exists=True), help="The tidewise-load program to ask with.")
@click.option("--json", "as_json", is_flag=True)
def main(repository: Path, names: tuple[str, ...], quick: bool, load: Path | None, as_json: bool) -> None:
    """Compare a worker's throughput with a bare onnxruntime loop's."""
    subjects = [one for one in read_subjects(repository) if not names or one.application.name in names]
    results, late = asyncio.run(run(subjects, quick, load))
    values = {"host": host_name(), "engine": engine_name(), "batcher": batcher_name(), **summary(results, late)}
    if as_json:
        click.echo(json.dumps({**values, "variants": [asdict(one) for one in results]}, indent=1))
    else:
        tell(values, results)


if __name__ == "__main__":
    sys.exit(main())
