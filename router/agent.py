"""Attached to the controller: reports tallies, takes snapshots, and goes on with the last one when it is gone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import grpc
from google.protobuf.message import DecodeError

from tidewise.core.errors import TidewiseError
from tidewise.core.routes import RoutingSnapshot
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import snapshot_noun, tally_message
from tidewise.proto.ending import told_to_end
from tidewise.router.plane import Plane

ATTACH = "/tidewise.control.v1.Controller/AttachRouter"
REPORT_SECONDS = 0.25
STARTING_SECONDS = 10.0  # within which a controller may be slower to start than its routers
FLUSH_SECONDS = 0.05  # for one small message to leave
FIRST_RETRY, LAST_RETRY = 0.1, 2.0
OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 5000),  # a controller may vanish without a word
    ("grpc.keepalive_timeout_ms", 3000),
]
log = logging.getLogger("tidewise.router")


class Agent:
    """Keeps a forwarder told by a controller; ``installed`` is awaited with every snapshot that was taken.

    Set ``leaving`` when the router drains: a controller that goes down with it is then no cause for a warning.
    """

    def __init__(
        self,
        forwarder: Plane,
        controller: str,
        name: str,
        address: str,
        installed: Callable[[RoutingSnapshot], Awaitable[None]],
    ) -> None:
        self._forwarder = forwarder
        self._controller, self._name, self._address = controller, name, address
        self._installed = installed
        self.connected = False
        self.leaving = False
        self._born = time.monotonic()
        self._applied = 0
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Stay attached until cancelled; a controller that is gone is called again, less and less often."""
        delay = FIRST_RETRY
        while True:
            began = time.monotonic()
            try:
                # a new channel asks the name server again; an old one would wait longer after each failure
                async with grpc.aio.insecure_channel(self._controller, options=OPTIONS) as channel:
                    if await _answers(channel):
                        await self._attend(channel)
                        log.log(self._level, "the controller ended the attachment; going on with the last snapshot")
                    else:
                        log.log(self._level, "no controller answers at %s", self._controller)
            except grpc.aio.AioRpcError as error:
                log.log(self._level, "no controller: %s; going on with the last snapshot", error.details())
            self.connected = False
            if told_to_end():
                return
            delay = FIRST_RETRY if time.monotonic() - began > LAST_RETRY else min(LAST_RETRY, delay * 2)
            await asyncio.sleep(delay)

    @property
    def _level(self) -> int:
        """How bad it is that there is no controller: all processes of a cluster may start, or end, at once."""
        starting = not self._applied and time.monotonic() - self._born < STARTING_SECONDS
        return logging.INFO if self.leaving or starting else logging.WARNING

    async def flush(self) -> None:
        """Report what has been counted so far, before leaving."""
        self._news.set()
        await asyncio.sleep(FLUSH_SECONDS)

    async def _attend(self, channel: grpc.aio.Channel) -> None:
        """One attachment, until its stream ends."""
        attach = channel.stream_stream(
            ATTACH,
            request_serializer=pb.RouterReport.SerializeToString,
            response_deserializer=_snapshot_or_none,
        )
        over = asyncio.Event()
        try:
            async for message in attach(self._reports(over)):
                self.connected = True
                if message is None:
                    log.error("refused a routing snapshot that is not one; going on with the last")
                else:
                    await self._take(message)
        finally:
            over.set()

    async def _reports(self, over: asyncio.Event) -> AsyncIterator[pb.RouterReport]:
        """A report at once, then one in every interval, and one as soon as a snapshot is in force.

        gRPC goes on asking for them when the stream has ended: none after that, for its counts would be lost.
        """
        while True:
            self._news.clear()
            await self._forwarder.refresh()
            if over.is_set():
                return
            yield self._report(time.monotonic())
            try:
                async with asyncio.timeout(REPORT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                continue

    def _report(self, now: float) -> pb.RouterReport:
        return pb.RouterReport(
            router=self._name,
            address=self._address,
            applied_revision=self._applied,
            tallies=[tally_message(one) for one in self._forwarder.tally.close(now)],
        )

    async def _take(self, message: pb.RoutingSnapshot) -> None:
        """Put the snapshot in force and acknowledge it; one that cannot be used is refused and the old one stays."""
        try:
            snapshot = snapshot_noun(message)
            self._forwarder.install(snapshot)
        except Exception as error:  # whatever is wrong with a snapshot, serving goes on
            trace = not isinstance(error, TidewiseError)
            log.error(
                "refused routing snapshot %d: %s; going on with the last", message.revision, error, exc_info=trace
            )
            return
        await self._installed(snapshot)
        self._applied = snapshot.revision
        self._news.set()
        log.info(
            "routing snapshot in force",
            extra={"revision": snapshot.revision, "plan": snapshot.plan_version, "routes": len(snapshot.routes)},
        )


async def _answers(channel: grpc.aio.Channel) -> bool:
    """Whether somebody is there. A call would take the first report, and its counts with it, before that is known."""
    state = channel.get_state(try_to_connect=True)
    while state in (grpc.ChannelConnectivity.IDLE, grpc.ChannelConnectivity.CONNECTING):
        await channel.wait_for_state_change(state)
        state = channel.get_state(try_to_connect=True)
    return state is grpc.ChannelConnectivity.READY


def _snapshot_or_none(data: bytes) -> pb.RoutingSnapshot | None:
    try:
        return pb.RoutingSnapshot.FromString(data)
    except DecodeError:
        return None
