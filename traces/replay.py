"""Open-loop replay: every query is sent when it is due, whatever became of those before it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import cast

import grpc
import grpc.aio

from tidewise.core.errors import TraceError, UnreachableError
from tidewise.core.outcome import REASON_KEY
from tidewise.core.record import QueryRecord
from tidewise.core.trace import Trace
from tidewise.traces import wire
from tidewise.traces.pacing import Finished, Pacer, Send, Sleep
from tidewise.traces.query import Destination, Query, answer_record, cancelled_record, error_record
from tidewise.traces.samples import Samples

GRACE = 1.0  # seconds the caller waits beyond the deadline, so that a late answer is seen as late and not lost
AT_ONCE = 32  # queries sent before answers are looked at again
CONNECT = 10.0  # seconds the target may take to accept connections
LEAD = 0.05  # seconds between being ready and the trace's second 0

CHANNEL_OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),  # each channel its own connection
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),  # a router that restarts is found again at once
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_retries", 0),  # a retry would hide a failure
    ("grpc.enable_http_proxy", 0),
]

OnRecord = Callable[[QueryRecord], None]
OnStart = Callable[[float], None]
Call = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]


async def replay(
    trace: Trace,
    target: str,
    samples: Mapping[str, Samples],
    on_record: OnRecord | None = None,
    *,
    speed: float = 1.0,
    channels: int = 4,
) -> list[QueryRecord]:
    """Replay the trace against ``target`` (HOST:PORT); one record a query, in the order in which they ended.

    ``on_record`` is called with each as it ends, in the event loop. See ``send`` for the rest.
    """
    records: list[QueryRecord] = []

    def keep(record: QueryRecord) -> None:
        records.append(record)
        if on_record is not None:
            on_record(record)

    await send(trace, target, samples, keep, speed=speed, channels=channels)
    return records


async def send(
    trace: Trace,
    target: str,
    samples: Mapping[str, Samples],
    on_record: OnRecord,
    *,
    speed: float = 1.0,
    channels: int = 4,
    on_start: OnStart | None = None,
) -> None:
    """Replay without keeping records; memory grows with the queries in flight only.

    Arrival times are divided by ``speed``, deadlines are not. If it is cancelled, the queries still in flight are
    recorded as dropped (reason cancelled) before it ends; those not sent yet have no record.
    ``on_start`` is told, just before the first query, when the trace's second 0 is (time.monotonic). Raises TraceError
    if the trace names an application without samples, UnreachableError if nothing listens at the target.
    """
    missing = [name for name in trace.names if name not in samples]
    if missing:
        raise TraceError(
            f"the trace asks for application {missing[0]!r}, which the repository lacks; it has {', '.join(samples)}"
            " (rename with: tidewise trace convert --rename OLD=NEW)"
        )
    opened = [grpc.aio.insecure_channel(target, options=CHANNEL_OPTIONS) for _ in range(channels)]
    try:
        await _connect(opened, target)
        calls = [channel.unary_unary(wire.METHOD, None, None) for channel in opened]
        await _Sender(trace, samples, calls, on_record, speed).run(on_start)
    finally:
        await asyncio.gather(*(channel.close(None) for channel in opened))


async def _connect(channels: list[grpc.aio.Channel], target: str) -> None:
    try:
        async with asyncio.timeout(CONNECT):  # wait_for would lose a cancellation that comes with the last channel
            await asyncio.gather(*(one.channel_ready() for one in channels))
    except TimeoutError:
        raise UnreachableError(f"nothing answers at {target} within {CONNECT:g} s; is the cluster up?") from None


class _Sender:
    """The shell around the pacer: clock, calls, tasks in flight."""

    def __init__(
        self, trace: Trace, samples: Mapping[str, Samples], calls: list[Call], on_record: OnRecord, speed: float
    ) -> None:
        self._destinations = [Destination.of(name, samples[name]) for name in trace.names]
        self._codes = trace.application.tolist()
        self._deadlines = trace.deadline.tolist()
        self._due = (trace.arrival / speed).tolist()
        self._pacer = Pacer(trace.arrival / speed)
        self._calls = calls
        self._on_record = on_record
        self._flight: set[asyncio.Task[None]] = set()
        self._origin = 0.0

    async def run(self, on_start: OnStart | None) -> None:
        """Send everything, then wait for what is in flight."""
        self._origin = time.monotonic() + LEAD
        if on_start is not None:
            on_start(self._origin)
        try:
            await self._send_all()
            while self._flight:
                await asyncio.wait(self._flight)
        finally:
            for task in self._flight:
                task.cancel()
            await asyncio.gather(*self._flight, return_exceptions=True)

    async def _send_all(self) -> None:
        while True:
            match self._pacer.step(now := self._now(), AT_ONCE):
                case Send(first, last):
                    for index in range(first, last):
                        self._start(index)
                    await asyncio.sleep(0)
                case Sleep(until):
                    await asyncio.sleep(until - now)
                case Finished():
                    return

    def _start(self, index: int) -> None:
        to = self._destinations[self._codes[index]]
        task = asyncio.create_task(self._query(index, to, to.next_sample()))
        self._flight.add(task)
        task.add_done_callback(self._flight.discard)

    async def _query(self, index: int, to: Destination, sample: int) -> None:
        deadline = min(self._deadlines[index], to.slo)
        query = Query(to, sample, self._due[index], self._now(), deadline)
        call = self._calls[index % len(self._calls)]
        try:
            data = await call(query.request(str(index)), timeout=query.left + GRACE)
            record = answer_record(query, self._now(), data)
        except grpc.aio.AioRpcError as error:
            record = error_record(query, self._now(), error.code().name, _reason(error), error.details() or "")
        except asyncio.CancelledError:
            record = cancelled_record(query, self._now())
        self._on_record(record)

    def _now(self) -> float:
        return time.monotonic() - self._origin


def _reason(error: grpc.aio.AioRpcError) -> str:
    trailing = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    return next((str(value) for key, value in trailing if key == REASON_KEY), "")
