"""The process's door: where ordinary queries go straight to C++ and everything else to the gRPC server of Python.

Without the C++ front that server is the door itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import grpc

from tidewise.core.application import TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.histogram import Histogram, merged
from tidewise.core.loss import Loss
from tidewise.core.metrics_catalogue import NO_REASON, SECONDS
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.dashboard.loss_log import LossLog
from tidewise.native import _worker
from tidewise.native.listening import listen_on
from tidewise.worker.host import Host, Served
from tidewise.worker.native_station import NativeStation
from tidewise.worker.tally import Stages, Tally

LOSSES_EVERY = 0.25  # seconds between readings of the queries that were not answered


class Front:
    """The C++ front of the devices of ``host``, listening at ``listen``; ``server`` answers what it does not."""

    def __init__(self, host: Host, server: grpc.aio.Server, listen: str, limit: int, losses: LossLog) -> None:
        self._losses = losses
        address, _, port = listen.rpartition(":")
        listening = listen_on(address.strip("[]"), int(port))
        self._folder = Path(tempfile.mkdtemp(prefix="tidewise-worker-"))
        rest = f"unix:{self._folder / 'rest'}"
        server.add_insecure_port(rest)
        self.port: int = listening.getsockname()[1]
        devices = {
            name: (station.core, station.device_type.name)
            for name, station in host.stations.items()
            if isinstance(station, NativeStation)
        }
        self._make: Callable[[], _worker.Front] = lambda: _worker.Front(
            listening.detach(), rest, devices, limit, SECONDS
        )
        self._core: _worker.Front | None = None
        self._host = host
        self._telling: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Take queries; the gRPC server serves already."""
        self._core = self._make()
        self._host.on_catalogue = self.know
        self.know(self._host.catalogue)
        self._telling = asyncio.create_task(self._tell_losses())

    def know(self, catalogue: Mapping[str, Served]) -> None:
        """Check queries against this catalogue from now on."""
        if self._core is not None:
            self._core.know([_known(one) for one in catalogue.values()])

    async def drain(self, grace: float) -> None:
        """Take no more connections, and give callers so many seconds to leave."""
        core, loop = self._core, asyncio.get_running_loop()
        if core is None:
            return
        core.drain()
        end = loop.time() + grace
        while core.connections and loop.time() < end:
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """End every call. The devices must be closed before this object may go."""
        if self._telling is not None:
            self._telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._telling
        if self._core is not None:
            self._core.close()
            self._tell(self._core)
        shutil.rmtree(self._folder, ignore_errors=True)

    def whole(self, tally: Tally) -> Tally:
        """What ended here and in Python together."""
        whole = Tally(tally.ended.copy(), dict(tally.stages))
        if self._core is None:
            return whole
        read = self._core.read()
        for (application, on_time), count in read["answered"].items():
            whole.ended[application, Outcome.ON_TIME if on_time else Outcome.LATE, NO_REASON] += count
        for (application, name), count in read["lost"].items():
            reason = Reason(name)
            whole.ended[application, OUTCOME_OF_REASON[reason], reason] += count
        for key, histograms in read["stages"].items():
            whole.stages[key] = _added(whole.stages.get(key), Stages(*map(_histogram, histograms)))
        return whole

    async def _tell_losses(self) -> None:
        while self._core is not None:
            await asyncio.sleep(LOSSES_EVERY)
            self._tell(self._core)

    def _tell(self, core: _worker.Front) -> None:
        told, untold = core.take_losses()
        for application, name, sentence, request_id, query_id, worker, trace in told:
            reason = Reason(name)
            named = request_id or query_id or uuid.uuid4().hex[:12]
            outcome = OUTCOME_OF_REASON[reason]
            self._losses.lost(Loss(application, application, outcome, reason, sentence, named, query_id, worker, trace))
        for (application, name), count in untold.items():
            self._losses.untold(application, Reason(name), count)


def _known(served: Served) -> tuple[object, ...]:
    application = served.application
    return (
        application.name,
        application.slo,
        [_spec(one) for one in application.inputs],
        [_spec(one) for one in application.outputs],
        [(one.name, str(one.version)) for one in application.variants],
    )


def _spec(spec: TensorSpec) -> tuple[object, ...]:
    return spec.name, spec.datatype, DATATYPES[spec.datatype], tuple(spec.shape)


def _histogram(read: tuple[list[int], float]) -> Histogram:
    counts, total = read
    return Histogram(counts=list(counts), total=total)


def _added(mine: Stages | None, more: Stages) -> Stages:
    if mine is None:
        return more
    return Stages(
        merged([mine.total, more.total]),
        merged([mine.queue, more.queue]),
        merged([mine.batch, more.batch]),
        merged([mine.compute, more.compute]),
        merged([mine.reply, more.reply]),
    )
