"""One query from arrival to answer: read its head, choose a worker, send, perhaps once more, and count how it ended."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import grpc

from tidewise.core.errors import QueryError
from tidewise.core.loss import REQUEST_ID, TRACE_PARENT, Loss
from tidewise.core.outcome import Outcome, Reason
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.admission import budget, explain, find_entry, find_view, refuse_size
from tidewise.router.backlog import Backlog, begun, ended
from tidewise.router.choice import Choose, Refusal, choice, decide
from tidewise.router.failure import ELSEWHERE, Failure, Metadata, broken, failure, failure_of
from tidewise.router.head import Head, read_answer, read_head
from tidewise.router.health import Event
from tidewise.router.identity import Identities, value
from tidewise.router.link import Link
from tidewise.router.links import Links
from tidewise.router.statistics import Statistics
from tidewise.router.table import Entry, Lane, RoutingTable, build, without
from tidewise.router.tally import TallyBook

WORKER_KEY = "tidewise-worker"
HELD_MESSAGES = 16  # times the message limit: the bytes of all queries that may be held at once
HELD_QUERIES = 4096


NO_HEAD = Head("", "", "", None)


@dataclass(slots=True)
class Query:
    """An admitted query; ``label`` is the name it is counted under, ``deadline`` on the clock of this process.

    ``metadata`` is what the worker gets of the caller's, ``worker`` the one the query was last sent to.
    """

    body: bytes
    head: Head
    entry: Entry
    label: str
    arrived: float
    deadline: float
    metadata: Metadata
    worker: str = ""


class Forwarder:
    """Forwards queries by the newest table; owns the backlogs, the tally and the links to the workers."""

    def __init__(self, generator: random.Random) -> None:
        self.table = RoutingTable()
        self.tally = TallyBook(time.monotonic())
        self.statistics = Statistics()
        self.links = Links(self._rebuild)
        self.on_change: Callable[[], None] = _ignore  # called when the table has changed
        self.on_loss: Callable[[Loss], None] = _ignore  # called with every query that is not answered
        self.on_untold: Callable[[str, Reason, int], None] = _ignore  # never called: every loss is told
        self._snapshot = RoutingSnapshot()
        self._choose: Choose = choice(self.table.routing)
        self._generator = generator
        self._backlogs: dict[str, Backlog] = {}
        self._turns: Counter[str] = Counter()
        self._identities = Identities(f"{generator.getrandbits(32):08x}")
        self._held_queries = 0
        self._held_bytes = 0

    def install(self, snapshot: RoutingSnapshot) -> None:
        """Route by this snapshot from now on. Raises PlanError or ConfigError, and changes nothing, if it cannot be."""
        chosen = choice(snapshot.routing)
        build(snapshot)
        self._choose, self._snapshot = chosen, snapshot
        self.tally.know(snapshot.applications)
        self.statistics.keep(
            {name: frozenset(each.name for each in one.variants) for name, one in snapshot.applications.items()}
        )
        retired = self.links.open({route.address for route in snapshot.routes}, snapshot.max_message)
        self._rebuild()
        self.links.retire(retired)

    def _rebuild(self) -> None:
        self.table = build(self._snapshot, self.links.out(), self.table)
        self.on_change()

    async def forward(
        self, body: bytes, remaining: float | None, metadata: Iterable[tuple[str, str | bytes]]
    ) -> bytes | Failure:
        """The worker's answer as it came, or why there is none.

        ``remaining`` is what is left of the caller's gRPC deadline in seconds, None if it has none.
        """
        query = self._admit(body, remaining, metadata, time.monotonic())
        if isinstance(query, Failure):
            return query
        self._held_queries += 1
        self._held_bytes += len(body)
        try:
            answer = await self._serve(query)
        except BaseException as error:
            self._lose(query, broken(error, time.monotonic() >= query.deadline))
            raise
        finally:
            self._held_queries -= 1
            self._held_bytes -= len(body)
        return self._settle(query, answer, time.monotonic())

    def _admit(
        self, body: bytes, remaining: float | None, metadata: Iterable[tuple[str, str | bytes]], now: float
    ) -> Query | Failure:
        head: Head | Failure = _head_of(body)
        known = NO_HEAD if isinstance(head, Failure) else head
        label, passed = self.tally.arrived(known.application), self._identities.passed_on(metadata, known.id)
        oversized = refuse_size(len(body), self.table.max_message)
        if oversized is not None:
            return self._lost(oversized, label, known, passed)
        entry = head if isinstance(head, Failure) else find_entry(self.table, head.application)
        if isinstance(entry, Failure):
            return self._lost(entry, label, known, passed)
        seconds = budget(entry.application.slo, remaining, known.budget)
        if seconds <= 0:
            found = failure(Reason.DEADLINE, "the deadline had passed when the query arrived")
            return self._lost(found, label, known, passed)
        if self._is_full():
            found = failure(Reason.QUEUE_FULL, "the router holds as many queries as it may")
            return self._lost(found, label, known, passed)
        return Query(body, known, entry, label, now, now + seconds, passed)

    def _is_full(self) -> bool:
        return self._held_queries >= HELD_QUERIES or self._held_bytes >= HELD_MESSAGES * self.table.max_message

    async def refresh(self) -> None:
        """Tally and statistics are always up to date."""

    async def close(self) -> None:
        """Close every connection at once."""
        await self.links.close()

    async def _serve(self, query: Query) -> bytes | Failure:
        """The answer of the chosen worker, or of one other if that one is gone."""
        lane = self._pick(query)
        if isinstance(lane, Failure):
            return lane
        answer = await self._send(query, lane)
        if not isinstance(answer, Failure) or answer.reason not in ELSEWHERE:
            return answer
        other = self._pick(query, avoid=lane.route.worker)
        if isinstance(other, Failure):
            return answer
        self.tally.totals.retries[query.label] += 1
        return await self._send(query, other)

    def _pick(self, query: Query, avoid: str = "") -> Lane | Failure:
        entry = find_entry(self.table, query.head.application)  # not the query's own: it may have been removed since
        if isinstance(entry, Failure):
            return entry
        view = find_view(entry, query.head.version)
        if isinstance(view, Failure):
            return view
        if avoid:
            view = without(view, avoid)
        now = time.monotonic()
        left = query.deadline - now
        turn = self._turns[query.label] = self._turns[query.label] + 1
        picked = decide(self._choose, view, self._backlogs, now, left, turn, self._generator)
        return explain(picked, entry, query.head, left) if isinstance(picked, Refusal) else picked

    async def _send(self, query: Query, lane: Lane) -> bytes | Failure:
        """One attempt. However it ends, cancelled by the caller included, the worker's backlog is settled."""
        worker, link, sent = lane.route.worker, self.links[lane.route.address], time.monotonic()
        query.worker, metadata = worker, ((WORKER_KEY, worker), *query.metadata)
        begun(self._backlogs, worker, sent)
        heard = False
        try:
            answer = await link.infer(query.body, timeout=query.deadline - sent, metadata=metadata)
            heard = True
            return answer
        except grpc.aio.AioRpcError as error:
            found = failure_of(error, worker, self.table.max_message)
            heard = found.heard
            self._learn(link, found, sent)
            return found
        finally:
            self._hear(worker, link, heard)

    def _learn(self, link: Link, found: Failure, sent: float) -> None:
        if found.reason is Reason.WORKER_LOST or found.reason is Reason.DRAINING:
            link.learn(Event.LOST)
        elif found.reason is Reason.DEADLINE and not found.heard and link.heard < sent:
            link.learn(Event.SILENT)

    def _hear(self, worker: str, link: Link, heard: bool) -> None:
        now = time.monotonic()
        if heard:
            link.heard = now
        ended(self._backlogs, worker, now, heard)

    def _settle(self, query: Query, answer: bytes | Failure, now: float) -> bytes | Failure:
        if isinstance(answer, Failure):
            return self._lose(query, answer)
        said, on_time = read_answer(answer), now <= query.deadline
        variant = query.entry.names.get(said.version, "") if said is not None else ""
        self.tally.ended(query.label, Outcome.ON_TIME if on_time else Outcome.LATE, variant)
        if said is not None and variant:
            worth = query.entry.worth.get(variant, 0.0) if on_time else 0.0
            self.statistics.record(query.head.application, variant, now - query.arrived, said, time.time(), worth)
        return answer

    def _lose(self, query: Query, found: Failure) -> Failure:
        return self._lost(found, query.label, query.head, query.metadata, query.worker)

    def _lost(self, found: Failure, label: str, head: Head, passed: Metadata, worker: str = "") -> Failure:
        """Count and tell a query's end without an answer; its caller learns by what name the logs have it."""
        self.tally.ended(label, found.outcome, reason=found.reason)
        named = value(passed, REQUEST_ID)
        self.on_loss(
            Loss(
                label=label,
                application=head.application,
                outcome=found.outcome,
                reason=found.reason,
                sentence=found.message,
                request_id=named or head.id,
                query_id=head.id,
                worker=worker,
                traceparent=value(passed, TRACE_PARENT),
            )
        )
        return replace(found, trailing=(*found.trailing, (REQUEST_ID, named))) if named else found


def _head_of(body: bytes) -> Head | Failure:
    try:
        return read_head(body)
    except QueryError as error:
        return failure(Reason.BAD_INPUT, str(error))


def _ignore(*told: object) -> None:
    """Nobody asked to be told."""
