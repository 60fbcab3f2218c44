"""Watching a running cluster: what the controller says, and how busy this machine is, as events of a run."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator

import grpc
import grpc.aio
import psutil

from tidewise.cli.hosting import hosting
from tidewise.core.run import MachineSample, PlanChange, WorkerSample
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub
from tidewise.proto.convert import plan_noun

WATCH_SECONDS = 0.5
MACHINE_SECONDS = 1.0
RETRY_SECONDS = 0.5
BEFORE = -1e-3  # seconds: the plan found in force was made before the run

Event = PlanChange | WorkerSample | MachineSample


class Observer:
    """Follows one controller; hands every event to ``note`` with its time since ``origin`` (time.monotonic seconds).

    ``status`` is the newest word of the controller. A controller that goes away is waited for.
    """

    def __init__(self, controller: str, note: Callable[[Event], None], status: pb.StatusReply) -> None:
        self.controller = controller
        self.note = note
        self.origin = time.monotonic()
        self.status = status
        self._version = -1

    async def run(self) -> None:
        """Watch until cancelled."""
        self._heard(self.status, BEFORE)
        await asyncio.gather(self._watch(), self._machine())

    async def _watch(self) -> None:
        async with grpc.aio.insecure_channel(self.controller) as channel:
            while True:
                with contextlib.suppress(grpc.aio.AioRpcError):
                    async for status in ControllerStub(channel).Watch(pb.WatchRequest(interval_s=WATCH_SECONDS)):
                        self._heard(status)
                await asyncio.sleep(RETRY_SECONDS)

    async def _machine(self) -> None:
        psutil.cpu_percent()
        while True:
            await asyncio.sleep(MACHINE_SECONDS)
            self.note(MachineSample(self._now(), psutil.cpu_percent() / 100))

    def _heard(self, status: pb.StatusReply, at: float | None = None) -> None:
        self.status = status
        if status.plan.version != self._version:
            self._version = status.plan.version
            self.note(PlanChange(self._now() if at is None else at, plan_noun(status.plan)))
        for sample in worker_samples(status, self._now()):
            self.note(sample)

    def _now(self) -> float:
        return time.monotonic() - self.origin


def worker_samples(status: pb.StatusReply, at: float) -> Iterator[WorkerSample]:
    """What each worker reported, and the variant it serves with."""
    hosted = hosting(status)
    for one in status.workers:
        application, variant = hosted[one.device.name]
        yield WorkerSample(
            at=at,
            worker=one.device.name,
            device_type=one.device.device_type,
            application=application,
            variant=variant,
            plan_version=one.device.applied_version,
            queued=one.device.queued,
            busy=one.device.busy,
            connected=one.connected,
        )
