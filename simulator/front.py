"""The router under pretend time: its own table, choice, backlogs and tally, without sockets."""

from __future__ import annotations

import random
from collections import deque

import numpy as np

from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.report import RouterReport
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.backlog import Backlog, begun, ended
from tidewise.router.choice import Choose, Refusal, choice, decide
from tidewise.router.table import EMPTY_VIEW, RoutingTable, View, build
from tidewise.router.tally import TallyBook
from tidewise.simulator.ledger import Ledger
from tidewise.simulator.world import World
from tidewise.worker.query import Batch, LaneKey, Query

Sent = tuple[float, str, Query]  # when it arrives, at which worker, what
Heard = tuple[float, int, str, Batch | None, Reason | None]  # when, the query's place in the trace, from whom, how


class Front:
    """One router. ``sent`` and ``heard`` are the queries and the answers on their way, in order of time."""

    def __init__(self, world: World, ledger: Ledger, generator: random.Random, start: float) -> None:
        self.sent: deque[Sent] = deque()
        self.heard: deque[Heard] = deque()
        self._trace = world.trace
        self._hop = world.charges.network
        self._ledger = ledger
        self._generator = generator
        self._lanes = tuple(LaneKey(name) for name in world.trace.names)
        self._views: list[View] = [EMPTY_VIEW] * len(self._lanes)
        self._turns = [0] * len(self._lanes)
        self._due: list[float] = world.trace.arrival.tolist()
        self._budgets = _budgets(world)
        self._codes: list[int] = world.trace.application.tolist()
        self._table = RoutingTable()
        self._choose: Choose = choice(self._table.routing)
        self._backlogs: dict[str, Backlog] = {}
        self._tally = TallyBook(start)

    def install(self, snapshot: RoutingSnapshot, now: float) -> None:
        """Route by this snapshot from now on."""
        self._table, self._choose = build(snapshot, before=self._table), choice(snapshot.routing)
        self._tally.know(snapshot.applications)
        entries = self._table.entries
        self._views = [entries[name].everywhere if name in entries else EMPTY_VIEW for name in self._trace.names]

    def arrived(self, index: int, now: float) -> None:
        """A query arrives: it is sent on its way, or refused."""
        code = self._codes[index]
        lane = self._lanes[code]
        self._tally.arrived(lane.application)
        turn = self._turns[code] = self._turns[code] + 1
        budget = self._budgets[index]
        picked = decide(self._choose, self._views[code], self._backlogs, now, budget, turn, self._generator)
        if isinstance(picked, Refusal):
            self._end(index, now, "", None, picked.reason)
            return
        worker = picked.route.worker
        begun(self._backlogs, worker, now)
        there = now + self._hop
        self.sent.append((there, worker, Query(index, lane, there, there + budget)))

    def ended(self, now: float, index: int, worker: str, batch: Batch | None, reason: Reason | None) -> None:
        """A device answered or gave up a query; this router hears of it a little later."""
        self.heard.append((now + self._hop, index, worker, batch, reason))

    def hear(self, heard: Heard) -> None:
        """An answer, or the reason why there is none, is back; what comes after the deadline nobody waits for."""
        now, index, worker, batch, reason = heard
        if batch is not None and now - self._due[index] > self._budgets[index]:
            batch, reason = None, Reason.DEADLINE
        ended(self._backlogs, worker, now, answered=reason is not Reason.DEADLINE)
        self._end(index, now, worker, batch, reason)

    def report(self, now: float) -> RouterReport:
        """What the controller is told: the tallies since the report before."""
        return RouterReport("router", "", self._table.revision, self._tally.close(now))

    def _end(self, index: int, now: float, worker: str, batch: Batch | None, reason: Reason | None) -> None:
        name = self._lanes[self._codes[index]].application
        if batch is None:
            self._tally.ended(name, OUTCOME_OF_REASON[reason or Reason.INTERNAL])
        else:
            self._tally.ended(name, Outcome.ON_TIME, batch.servable.model.variant)
        self._ledger.end(index, now, worker, batch, reason)


def _budgets(world: World) -> list[float]:
    """Seconds each query has: its own deadline, but never more than its application's SLO."""
    slos = np.array([world.applications[name].slo for name in world.trace.names])
    found: list[float] = np.minimum(world.trace.deadline, slos[world.trace.application]).tolist()
    return found
