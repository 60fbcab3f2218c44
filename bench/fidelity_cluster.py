"""A trace on a real cluster of emulated devices: controller, router and workers as processes, queries over gRPC."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import numpy as np
import psutil
from fidelity_world import Stage

from tidewise.cli.local import LocalCluster, running, wait_until_ready
from tidewise.cli.observing import Event, Observer
from tidewise.core.cluster import Ports
from tidewise.core.errors import TidewiseError
from tidewise.core.record import QueryRecord
from tidewise.core.run import MachineSample, PlanChange
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub
from tidewise.traces.lateness import Lateness, LatenessMeter
from tidewise.traces.replay import send
from tidewise.traces.samples import load_samples

ANY_FREE = Ports(http=0, grpc=0, metrics=0, controller=0)
LOADED_SECONDS = 60.0  # for all of the first plan's variants to be warm


@dataclass(frozen=True, slots=True)
class Played:
    """One real run. ``machine`` is the share of the machine's cores that was busy, by second; ``own`` the mean share
    that the cluster and the sender used; ``way`` the seconds an answer spent neither queued nor computed, the median;
    ``lead`` the seconds between the first plan and the trace.
    """

    records: list[QueryRecord]
    plans: list[PlanChange]
    machine: list[float]
    own: float
    lateness: Lateness
    way: float
    lead: float


def play(
    stage: Stage, expected: Mapping[str, float], data_plane: str, state: Path, say: Callable[[str], None]
) -> Played:
    """Start the cluster, wait until every variant of the first plan is warm, replay the trace, stop the cluster."""
    cluster = replace(stage.cluster, ports=ANY_FREE)
    with running(cluster, stage.repository, state, stage.profile_file, say, expected, data_plane) as local:
        planned = _until_planned(local)
        status = wait_until_ready(local)
        deadline = time.monotonic() + LOADED_SECONDS
        while not all_warm(status) and time.monotonic() < deadline:
            time.sleep(0.25)
            status = wait_until_ready(local)
        gc.collect()
        gc.freeze()  # collections that walk what is loaded would only delay queries
        return asyncio.run(_replayed(stage, local, status, planned))


def _until_planned(local: LocalCluster) -> float:
    """Wait for the first plan; when it was last not there yet (time.monotonic)."""
    before = time.monotonic()
    deadline = before + LOADED_SECONDS
    with grpc.insecure_channel(local.controller) as channel:
        while time.monotonic() < deadline:
            local.children.tend()
            with contextlib.suppress(grpc.RpcError):
                asked = time.monotonic()
                if ControllerStub(channel).Status(pb.StatusRequest(), timeout=2).plan.version:
                    return before
                before = asked
            time.sleep(0.05)
    raise TidewiseError("no plan was made; see the controller's log (--keep)")


def all_warm(status: pb.StatusReply) -> bool:
    """Whether every device holds all that its assignment wants warm."""
    wanted = {one.worker: set(one.warm) for one in status.plan.assignments}
    held = {one.device.name: {warm.variant for warm in one.device.warm} for one in status.workers}
    return all(variants <= held.get(worker, set()) for worker, variants in wanted.items())


async def _replayed(stage: Stage, local: LocalCluster, status: pb.StatusReply, planned: float) -> Played:
    samples = load_samples(stage.repository, np.random.default_rng(0))
    events: list[Event] = []
    meter = LatenessMeter()
    observer = Observer(local.controller, events.append, status)
    watching = asyncio.ensure_future(observer.run())
    processes = [psutil.Process(pid) for pid in local.children.pids().values()] + [psutil.Process()]
    before, began = sum(map(_seconds, processes)), time.monotonic()
    records: list[QueryRecord] = []

    def keep(record: QueryRecord) -> None:
        records.append(record)
        meter.add(record)

    def start(origin: float) -> None:
        observer.origin = origin

    try:
        await send(stage.trace, local.router, samples, keep, on_start=start)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    used = (sum(map(_seconds, processes)) - before) / (time.monotonic() - began)
    ways = [one.ended - one.sent - one.queued - one.computed for one in records if one.variant]
    return Played(
        records=records,
        plans=[one for one in events if isinstance(one, PlanChange)],
        machine=[one.cpu for one in events if isinstance(one, MachineSample)],
        own=used / (psutil.cpu_count() or 1),
        lateness=meter.reading(),
        way=statistics.median(ways) if ways else 0.0,
        lead=observer.origin - planned,
    )


def _seconds(process: psutil.Process) -> float:
    """CPU seconds of a process and its children so far."""
    family = (process, *process.children(recursive=True)) if process.pid != psutil.Process().pid else (process,)
    return float(sum(one.cpu_times().user + one.cpu_times().system for one in family))
