"""The worker process's line to the controller: reports up, orders down, for as long as the process lives.

When the line breaks the devices go on with their last order, and the agent calls again, a little later each time.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from tidewise.core.application import Application, Variant
from tidewise.core.errors import ProfileError, UnreachableError
from tidewise.core.profile import Profile
from tidewise.core.report import MeasureRequest, Unprofiled, WorkerOrder, WorkerReport
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub
from tidewise.proto.convert_reports import order_noun, worker_report_message
from tidewise.proto.ending import told_to_end
from tidewise.worker.following import Follower
from tidewise.worker.host import Host
from tidewise.worker.reports import Readings, device_report

log = logging.getLogger(__name__)

REPORT_EVERY = 0.25  # seconds, unless something changed
FIRST_RETRY, LAST_RETRY = 0.1, 2.0  # seconds before calling again; doubled each time
Stream = grpc.aio.StreamStreamCall[Any, Any]
Measure = Callable[[MeasureRequest], None]


class Agent:
    """Attaches the devices of ``host`` to the controller to which ``connect`` opens channels.

    ``address`` says where routers reach this process, or raises UnreachableError; it is asked at every attachment, for
    the way to the controller shows by which of its addresses this machine is known. ``measure`` is asked to profile
    variants; it calls ``learn`` when it has. ``unprofiled`` are those which a device could not profile.
    """

    def __init__(
        self,
        host: Host,
        follower: Follower,
        connect: Callable[[], grpc.aio.Channel],
        address: Callable[[], str],
        clock: Callable[[], float],
    ) -> None:
        self.connected = False
        self.measure: Measure = _measure_nothing
        self.unprofiled: Callable[[str], tuple[Unprofiled, ...]] = lambda device: ()
        self.process = uuid.uuid4().hex
        self._host = host
        self._follower = follower
        self._connect = connect
        self._channel = connect()
        self._stub = ControllerStub(self._channel)
        self._find_address = address
        self._address = ""
        self._clock = clock
        self._changed = asyncio.Event()
        self._readings = {name: Readings() for name in host.stations}
        self._profile_news = True

    @property
    def stretches(self) -> dict[str, float]:
        """How many times its profile each device took when last reported."""
        return {name: one.stretch.level for name, one in self._readings.items()}

    def tell(self) -> None:
        """Report at once: something changed."""
        self._changed.set()

    def learn(self, measured: Profile) -> None:
        """Decide by what was measured from the next order on, and send it up."""
        self._follower.learn(self._follower.profile.with_entries(measured.entries.values()))
        self._profile_news = True
        self.tell()

    async def run(self) -> None:
        """Attach, and attach again whenever the line breaks; until cancelled."""
        delay = FIRST_RETRY
        while True:
            try:
                await self._attach()
            except grpc.aio.AioRpcError as error:
                log.info("controller not reachable", extra={"reason": error.details(), "again_s": delay})
            except UnreachableError as error:
                log.info("controller not reachable", extra={"reason": str(error), "again_s": delay})
            if told_to_end():
                return
            if not self.connected:
                await self._renew()
            delay = FIRST_RETRY if self.connected else min(LAST_RETRY, 2 * delay)
            self.connected = False
            await asyncio.sleep(delay)

    async def close(self) -> None:
        """Hang up for good."""
        await self._channel.close(None)

    async def _renew(self) -> None:
        """A new channel asks the name server again; the old one would wait longer after each failure."""
        await self._channel.close(None)
        self._channel = self._connect()
        self._stub = ControllerStub(self._channel)

    async def _attach(self) -> None:
        """One call: introduce the process in full, then report and follow until either side ends it."""
        self._address = await asyncio.to_thread(self._find_address)  # may ask a name server
        stream: Stream = self._stub.AttachWorkers()
        self._profile_news = True
        reporting = asyncio.ensure_future(self._report(stream))
        try:
            async for order in stream:
                self.connected = True
                self._follow(_order(order))
        finally:
            reporting.cancel()
            stream.cancel()
            await asyncio.gather(reporting, return_exceptions=True)

    def _follow(self, order: WorkerOrder) -> None:
        if order.profile.entries:
            self.learn(order.profile)
        self._follower.follow(order)
        for one in order.measures:
            self.measure(one)

    async def _report(self, stream: Stream) -> None:
        while True:
            self._changed.clear()
            await stream.write(worker_report_message(self._news()))
            try:
                async with asyncio.timeout(REPORT_EVERY):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _news(self) -> WorkerReport:
        now, draining = self._clock(), self._host.draining
        devices = tuple(
            device_report(station, self._readings[name], draining, now, self.unprofiled(name))
            for name, station in self._host.stations.items()
        )
        profiles = (self._follower.profile,) if self._profile_news else ()
        self._profile_news = False
        return WorkerReport(self.process, self._address, devices, profiles)

    async def fetch(self, application: Application, variant: Variant) -> AsyncIterator[bytes]:
        """A variant's model file from the controller. Raises UnreachableError."""
        request = pb.FetchRequest(application=application.name, path=variant.model, digest=variant.digest)
        try:
            async for chunk in self._stub.Fetch(request):
                yield chunk.data
        except grpc.aio.AioRpcError as error:
            raise UnreachableError(
                f"the model file of variant {variant.name!r} of {application.name!r} could not be fetched from the"
                f" controller: {error.details()}"
            ) from error


def _order(message: pb.WorkerOrder) -> WorkerOrder:
    """The order; without its profiles if they cannot be read, since what to host matters more."""
    try:
        return order_noun(message)
    except ProfileError as error:
        log.warning("profiles refused", extra={"reason": str(error)})
        del message.profiles[:]
        return order_noun(message)


def _measure_nothing(request: MeasureRequest) -> None:
    log.warning("asked to profile, but no profiler is here", extra={"device": request.device})
