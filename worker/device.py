"""One device as a machine: queue, batching, variant choice and hosting joined. No clock, no sockets, no threads.

Every event returns the actions to take, in order. After each event, call ``timer`` at ``wake``. The worker process
drives it with real engines, the simulator under pretend time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidewise.core.outcome import OUTCOME_OF_REASON, Reason
from tidewise.worker.actions import Action, Answered, Ended, Start
from tidewise.worker.batching import DEADLINE, DRAIN, IDLE, SLACK, Drop, Rule, Run, Wait, fill
from tidewise.worker.choice import Choice
from tidewise.worker.counters import Counters
from tidewise.worker.hosting import HostingAction
from tidewise.worker.margin import relaxed, renewed
from tidewise.worker.orders import Order
from tidewise.worker.query import Batch, Part, Query
from tidewise.worker.queue import NEVER, Lane, Queue
from tidewise.worker.repertoire import LINGER, Repertoire
from tidewise.worker.servable import Model, Servable


@dataclass(frozen=True, slots=True)
class Policy:
    """How a device decides: batching rule, variant choice, and the most queries it queues.

    ``reserve`` is the least margin in seconds: what an answer needs from the end of its batch to its caller. Waits end
    that much early too: a timer that rings late must not cost the query it was set for. Where swaps are not
    ``staged``, the old variant stops before the new one loads.
    """

    rule: Rule
    choice: Choice
    max_queue: int = 512
    reserve: float = 0.0
    staged: bool = True


class Device:
    """One device, of ``memory`` bytes (None: enough). ``now`` never runs backwards from one event to the next.

    ``running`` is the batch in the engine, None when idle. ``wake`` is when ``timer`` is due, infinite if never.
    """

    def __init__(self, name: str, policy: Policy, linger: float = LINGER, memory: int | None = None) -> None:
        self.name = name
        self.policy = policy
        self.queue = Queue(policy.max_queue)
        self.repertoire = Repertoire(linger, policy.staged, memory)
        self.hosting = self.repertoire.hosting
        self.counters = Counters()
        self.running: Batch | None = None
        self.draining = False
        self.wake = NEVER
        self._gone: set[int] = set()  # queries of the running batch that ended before it did
        self._target = 1
        self._margin = policy.reserve
        self._wait = NEVER

    # events

    def arrived(self, query: Query, now: float) -> list[Action]:
        """A query is here."""
        self.counters.arrivals[query.lane.application] += 1
        if not self.repertoire.takes(query.lane, now):
            return [self._ended(query, Reason.NO_WORKER)]
        if self.queue.full:
            return [self._ended(query, Reason.QUEUE_FULL)]
        self.queue.add(query)
        return self._settled([], now)

    def batch_done(self, now: float, failures: Mapping[int, str] | None = None) -> list[Action]:
        """The running batch ended; ``failures`` names by query id those whose rows the engine could not run."""
        batch, gone = self.running, self._gone
        assert batch is not None, "no batch is running"
        self.running, self._gone = None, set()
        counts = self.counters.batch_done(batch, now)
        actions: list[Action] = []
        late = False
        for part in batch.parts:
            query = part.query
            if gone and query.id in gone:
                late = late or now > query.deadline + SLACK
                continue
            if failures and query.id in failures:
                self.queue.cancel(query.id)
                counts.failed += 1
                actions.append(self._ended(query, Reason.ENGINE, failures[query.id]))
            elif part.start + part.rows == query.rows:  # its last
                missed = now > query.deadline + SLACK
                late = late or missed
                self.counters.answered(query, batch, missed, counts, now)
                actions.append(Answered(query, batch))
        self._learn(batch, late, now)
        return self._settled(actions, now)

    def timer(self, now: float) -> list[Action]:
        """``wake`` has come: a deadline, the end of a wait, or a variant to let go."""
        return self._settled([], now)

    def cancelled(self, query_id: int, now: float, reason: Reason = Reason.CANCELLED) -> list[Action]:
        """Nobody wants this query's answer any more; unknown and ended queries are ignored."""
        query = self.queue.cancel(query_id) or self._running_query(query_id)
        if query is None or query_id in self._gone:
            return []
        ended = self._ended(query, reason)
        return self._settled([ended], now)

    def ordered(self, order: Order, now: float) -> list[Action]:
        """A new plan's part for this device."""
        return self._hosted(self.hosting.ordered(order), now)

    def refused(self, version: int, reason: str, now: float) -> list[Action]:
        """A plan's part that this device cannot follow; it goes on as before."""
        return self._hosted(self.hosting.refuse(version, reason), now)

    def loaded(self, model: Model, now: float) -> list[Action]:
        """A model asked for is ready to run."""
        return self._hosted(self.hosting.loaded(model), now)

    def load_failed(self, model: Model, reason: str, now: float) -> list[Action]:
        """A model asked for could not be loaded."""
        return self._hosted(self.hosting.load_failed(model, reason), now)

    def drain(self, now: float) -> list[Action]:
        """Stop soon: never wait for more queries. Whoever drives the device stops sending them."""
        self.draining = True
        return self._settled([], now)

    # readings

    @property
    def waiting(self) -> Mapping[str, int]:
        """Queries queued, by application."""
        return self.queue.waiting()

    @property
    def queued(self) -> int:
        """Queries queued."""
        return len(self.queue)

    @property
    def busy(self) -> bool:
        """Whether a batch runs."""
        return self.running is not None

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing is queued."""
        return not self.busy and not self.queued

    def overdue(self, now: float) -> float:
        """Seconds by which the running batch has outlasted its profile."""
        batch = self.running
        return 0.0 if batch is None else max(0.0, now - batch.started - batch.servable.latency[batch.rows])

    # inside

    def _settled(self, actions: list[Action], now: float) -> list[Action]:
        """Finish an event: expire, let go, start what may start, and say when to wake."""
        queue = self.queue
        due = queue.next_deadline()
        if due <= now:
            actions += [self._ended(query, Reason.DEADLINE) for query in queue.expire(now)]
            due = queue.next_deadline()
        self._wait = NEVER
        if self.running is None and due < NEVER:
            self._dispatch(actions, now)
            due = queue.next_deadline()
        self.wake = min(self._wait, due)
        if self.repertoire.lingers:
            actions += self.repertoire.release(now, self._needed, (key.application for key in self.queue.lanes))
            self.wake = min(self.wake, self.repertoire.next_release(now))
        return actions

    def _dispatch(self, actions: list[Action], now: float) -> None:
        """Start the most urgent lane, or note until when its rule wants to wait."""
        for lane in self.queue.by_urgency():
            decided = self._decide(lane, actions, now)
            if decided is None:
                continue
            servable, decision = decided
            if isinstance(decision, Wait):
                self._wait = decision.until - self._margin - self.policy.reserve
            else:
                self._start(lane, servable, decision, actions, now)
            return

    def _decide(self, lane: Lane, actions: list[Action], now: float) -> tuple[Servable, Run | Wait] | None:
        """Run or wait, after dropping the heads that cannot be met; None if that was all of them."""
        rule, choice, margin = self.policy.rule, self.policy.choice, self._margin
        while lane.deadlines:
            servable = choice(lane, self.repertoire.candidates(lane.key), now + margin)
            decision = rule.decide(lane, servable, now + margin, self._target)
            if isinstance(decision, Wait) and decision.until - margin - self.policy.reserve <= now + SLACK:
                decision = rule.decide(lane, servable, decision.until, self._target)
                if isinstance(decision, Wait):  # what is over must not begin anew, or it would for ever
                    decision = fill(lane, servable, DEADLINE)
            if isinstance(decision, Drop):
                dropped = self.queue.pop(lane, decision.count)
                actions += [self._ended(query, Reason.HOPELESS) for query, _ in dropped]
            elif isinstance(decision, Run) or not (self.draining or len(self.queue.lanes) > 1):
                return servable, decision
            else:  # no rule for one lane knows of the others, and waiting would be at their cost
                return servable, fill(lane, servable, DRAIN if self.draining else IDLE)
        self._margin = relaxed(margin, self.policy.reserve)
        return None

    def _start(self, lane: Lane, servable: Servable, run: Run, actions: list[Action], now: float) -> None:
        parts = tuple([Part(query, query.rows - left, left) for query, left in self.queue.pop(lane, run.count)])
        first = parts[0]
        if run.rows < first.rows:
            parts = (Part(first.query, first.start, run.rows),)
            self.queue.requeue(first.query, first.rows - run.rows, servable.model.variant)
        version = self.repertoire.plan_version(servable.model.application)
        self.running = Batch(servable, parts, run.rows, run.size, run.reason, now, version)
        self.counters.dispatches[run.reason] += 1
        actions.append(Start(self.running))

    def _learn(self, batch: Batch, late: bool, now: float) -> None:
        expected, took = batch.servable.latency[batch.rows], now - batch.started
        self._margin = renewed(self._margin, expected, took, self.policy.reserve)
        self._target = self.policy.rule.learn(self._target, batch.servable.sizes, late)

    def _running_query(self, query_id: int) -> Query | None:
        parts = self.running.parts if self.running else ()
        return next((part.query for part in parts if part.query.id == query_id), None)

    def _ended(self, query: Query, reason: Reason, text: str = "") -> Ended:
        if self._running_query(query.id) is not None:
            self._gone.add(query.id)
        self.counters.ended[query.lane.application, reason] += 1
        self.counters.outcomes[OUTCOME_OF_REASON[reason]] += 1
        return Ended(query, reason, text)

    def _hosted(self, decided: list[HostingAction], now: float) -> list[Action]:
        return self._settled([*self.repertoire.decided(decided, now)], now)

    def _needed(self, model: Model) -> bool:
        """Whether a query runs, or may still run, on this model."""
        if self.running is not None and self.running.servable.model == model:
            return True
        lanes = [key for key in self.queue.lanes if key.application == model.application]
        return any(one.model == model for key in lanes for one in self.repertoire.candidates(key))
