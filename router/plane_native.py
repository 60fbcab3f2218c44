"""The C++ data plane as the rest of a router sees it: told snapshots, asked for counts, its table mirrored here."""

from __future__ import annotations

import asyncio
import itertools
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import grpc

from tidewise.core.loss import PASSED, Loss
from tidewise.core.outcome import REASON_KEY, Outcome, Reason
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.choice import choice
from tidewise.router.failure import Failure, failure, passed_on
from tidewise.router.link import INFER
from tidewise.router.plane_process import PlaneProcess
from tidewise.router.plane_wire import Counted, Kind, Payload, python_frame, resolved_frame, table_frame
from tidewise.router.statistics import Statistics
from tidewise.router.table import RoutingTable, build
from tidewise.router.tally import LabelCounts, TallyBook

OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_reconnect_backoff_ms", 500),
]


class NativePlane:
    """A plane whose queries are routed by a process of its own; what stands here follows that process."""

    def __init__(self, program: Path) -> None:
        self.table = RoutingTable()
        self.tally = TallyBook(time.monotonic())
        self.statistics = Statistics()
        self.on_change: Callable[[], None] = _ignore
        self.on_loss: Callable[[Loss], None] = _ignore
        self.on_untold: Callable[[str, Reason, int], None] = _ignore
        self._process = PlaneProcess(program, self._greeting, self._heard, self._lost)
        self._snapshot: RoutingSnapshot | None = None
        self._out: frozenset[str] = frozenset()
        self._python = ""  # where the Python side serves
        self._told = self._applied = 0  # snapshots, of the present process
        self._news = asyncio.Event()
        self._held: Counter[str] = Counter()  # arrivals less outcomes by label, as far as the process has said
        self._turns = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._channel: grpc.aio.Channel | None = None

    @property
    def pid(self) -> int | None:
        """The data plane's process id, while there is one."""
        return self._process.pid

    async def start(self, listeners: Sequence[socket.socket], own: str, python: str) -> None:
        """Serve at these sockets. ``own`` is one of their addresses, ``python`` where everything but queries goes."""
        self._python = python
        self._channel = grpc.aio.insecure_channel(own, options=OPTIONS)
        self._infer: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(INFER)  # type: ignore[call-arg]
        await self._process.start(listeners)

    def serve_rest_at(self, python: str) -> None:
        """From now on everything but queries goes to this address."""
        self._python = python
        self._process.send(python_frame(python))

    def install(self, snapshot: RoutingSnapshot) -> None:
        """Have the process route by this snapshot; ``settled`` waits for it. Raises PlanError or ConfigError."""
        choice(snapshot.routing)
        build(snapshot)
        self._snapshot = snapshot
        self.tally.know(snapshot.applications)
        self.statistics.keep(
            {name: frozenset(each.name for each in one.variants) for name, one in snapshot.applications.items()}
        )
        self._told += self._process.send(table_frame(snapshot))
        self._rebuild()

    async def settled(self) -> None:
        """Wait until the process routes by the newest snapshot."""
        while self._snapshot is not None and not 0 < self._told == self._applied:
            self._news.clear()
            await self._news.wait()

    async def forward(
        self, body: bytes, remaining: float | None, metadata: Iterable[tuple[str, str | bytes]]
    ) -> bytes | Failure:
        """Ask the process itself, as any caller would: one plane decides and counts."""
        passed = tuple(pair for pair in metadata if pair[0] in PASSED)
        try:
            return await self._infer(body, timeout=remaining, metadata=passed)
        except grpc.aio.AioRpcError as error:
            return _failure(error)

    async def refresh(self) -> None:
        """Bring tally and statistics up to date."""
        await self._process.read()

    async def stop(self, grace: float | None) -> None:
        """Let queries end within ``grace`` seconds (None: at once), then the process."""
        await self._process.stop(grace)

    async def close(self) -> None:
        """End what is still running for the process."""
        for task in self._tasks:
            task.cancel()
        if self._channel is not None:
            await self._channel.close(None)

    def _greeting(self) -> Iterator[bytes]:
        self._told = self._applied = 0
        yield python_frame(self._python)
        if self._snapshot is not None:
            self._told = 1
            yield table_frame(self._snapshot)

    def _heard(self, kind: Kind, payload: Payload) -> None:
        if kind is Kind.COUNTS:
            self._count(payload.counts())
        elif kind is Kind.APPLIED:
            self._applied += 1
            self._news.set()
        elif kind is Kind.OUT:
            self._out = frozenset(payload.texts())
            self._rebuild()
        elif kind is Kind.RESOLVE:
            task = asyncio.create_task(self._resolve(payload.text()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _count(self, found: Counted) -> None:
        for counts, figures in found.labels:
            self.tally.add(counts)
            self._held[counts.label] += counts.arrivals - sum(counts.ended.values())
            for variant, more in figures.items():
                self.statistics.add(counts.label, variant, more)
        for loss in found.losses:
            self.on_loss(loss)
        for label, reason, count in found.untold:
            self.on_untold(label, reason, count)

    def _lost(self) -> None:
        """What the process held when it ended, its callers have seen fail."""
        for label, count in self._held.items():
            if count > 0:
                self.tally.add(LabelCounts(label, 0, 0, {(Outcome.FAILED, Reason.INTERNAL): count}, {}))
                self.on_untold(label, Reason.INTERNAL, count)
        self._held.clear()
        self._told = self._applied = 0

    def _rebuild(self) -> None:
        if self._snapshot is not None:
            self.table = build(self._snapshot, self._out, self.table)
        self.on_change()

    async def _resolve(self, address: str) -> None:
        """Look a host up; one of several addresses each time, so that a dead one is not asked for ever."""
        host, _, port = address.rpartition(":")
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        numeric = ""
        if found:
            family, _, _, _, where = found[next(self._turns) % len(found)]
            number = where[0] if isinstance(where[0], str) else ""
            numeric = f"[{number}]:{port}" if family == socket.AF_INET6 else f"{number}:{port}"
        self._process.send(resolved_frame(address, numeric))


def _failure(error: grpc.aio.AioRpcError) -> Failure:
    trailing = passed_on(error.trailing_metadata() or ())
    said = dict(trailing).get(REASON_KEY)
    details = error.details() or ""
    if said in frozenset(Reason):
        return Failure(Reason(str(said)), details, error.code(), trailing, heard=True)
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return failure(Reason.DEADLINE, "the deadline passed while the router held the query")
    return failure(Reason.INTERNAL, f"the router's data plane was lost while it held the query ({details})")


def _ignore(*told: object) -> None:
    """Nobody asked to be told."""
