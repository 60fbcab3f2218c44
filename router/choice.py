"""Which worker a query goes to, or why it goes to none: pure functions over a view and the workers' backlogs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tidewise.core.errors import ConfigError
from tidewise.core.outcome import Reason
from tidewise.router.backlog import Backlogs
from tidewise.router.table import Lane, View


@dataclass(frozen=True, slots=True)
class Refusal:
    """The query goes nowhere."""

    reason: Reason
    predicted: float | None = None  # seconds to the earliest predicted finish


Choose = Callable[[View, Backlogs, float, int, random.Random], Lane]
CREDIT = 0.9  # of what could be done since the last answer: else a full queue looked as empty as an idle worker's


def decide(
    choose: Choose, view: View, backlogs: Backlogs, now: float, budget: float, turn: int, generator: random.Random
) -> Lane | Refusal:
    """The lane for a query with ``budget`` seconds left, or a refusal.

    The policy's lane is taken if it is predicted to finish in time, else the lane with the earliest predicted finish;
    the query is refused when even that is too late. ``turn`` counts the application's queries.
    """
    if not view.lanes:
        return Refusal(Reason.NO_WORKER)
    lane = choose(view, backlogs, now, turn, generator)
    if predicted_finish(lane, backlogs, now) <= budget:
        return lane
    lane = min(view.lanes, key=lambda one: predicted_finish(one, backlogs, now))
    finish = predicted_finish(lane, backlogs, now)
    return lane if finish <= budget else Refusal(Reason.PREDICTED_LATE, finish)


def predicted_finish(lane: Lane, backlogs: Backlogs, now: float) -> float:
    """Seconds until the worker could have answered one more query: its backlog at its rate, then its fastest variant.

    A floor, not an estimate: what this refuses the worker could not have served in time either. Queries of one batch
    come back together, so all that could be done since the last answer counts as done, unless the worker is stuck.
    """
    backlog = backlogs.get(lane.route.worker)
    if backlog is None:
        return lane.route.fastest
    ahead, elapsed = backlog.outstanding * lane.service, now - backlog.since
    if 0 <= elapsed < max(lane.service, lane.batch):
        ahead = max(0.0, ahead - elapsed)
    return ahead + lane.route.fastest


def weighted_backlog(lane: Lane, backlogs: Backlogs, now: float) -> float:
    """(Outstanding + 1) / share, in seconds of the lane's share of the view's capacity, less what is done of it.

    Most of the time since the last answer counts as done, as far as there was work, unless the worker is stuck: its
    queries come back by batches, in the midst of which much is done and nothing heard.
    """
    cost, backlog = lane.cost, backlogs.get(lane.route.worker)
    if backlog is None:
        return cost
    outstanding, elapsed = backlog.outstanding, now - backlog.since
    here = cost * (outstanding + 1)
    if 0 <= elapsed < cost or 0 <= elapsed < lane.batch:
        here -= CREDIT * min(elapsed, cost * outstanding)
    return here


def least_backlog(view: View, backlogs: Backlogs, now: float, turn: int, generator: random.Random) -> Lane:
    """The lane with the least weighted backlog; among idle workers the cycle decides, so that shares hold."""
    best, least = view.lanes[0], float("inf")
    for lane in view.lanes:
        here = weighted_backlog(lane, backlogs, now) if lane.route.worker in backlogs else lane.cost
        if here < least:
            best, least = lane, here
    if best.route.worker in backlogs:
        return best
    return _next_idle(view, backlogs, turn) or best


def _next_idle(view: View, backlogs: Backlogs, turn: int) -> Lane | None:
    lanes, cycle = view.lanes, view.cycle
    for step in range(len(lanes)):
        lane = lanes[cycle[(turn + step) % len(cycle)]]
        if lane.route.worker not in backlogs:
            return lane
    return None


def cycle(view: View, backlogs: Backlogs, now: float, turn: int, generator: random.Random) -> Lane:
    """The next lane of the smooth weighted cycle, whatever the backlogs."""
    return view.lanes[view.cycle[turn % len(view.cycle)]]


def random_pair(view: View, backlogs: Backlogs, now: float, turn: int, generator: random.Random) -> Lane:
    """The shorter of two lanes drawn by share (Mitzenmacher, 2001: the power of two choices)."""
    first, second = (view.lanes[generator.choice(view.cycle)] for _ in range(2))
    if weighted_backlog(second, backlogs, now) < weighted_backlog(first, backlogs, now):
        return second
    return first


CHOICES: dict[str, Choose] = {"least-backlog": least_backlog, "cycle": cycle, "random": random_pair}


def choice(name: str) -> Choose:
    """The policy of this name. Raises ConfigError naming the known ones."""
    if name not in CHOICES:
        raise ConfigError(f"there is no routing policy {name!r}; known: {', '.join(CHOICES)}")
    return CHOICES[name]
