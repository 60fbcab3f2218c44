"""The Anytime planner: no plan of the cluster beyond a first placement; every variant is warm, and queueing picks.

Twice a second, for every application, the most accurate variant is chosen whose M/M/c wait, by Erlang's C formula at
the measured rate, still leaves time for the batch; devices may go no higher. For each batch they then look at the
backlog they really have, and go lower where it asks for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tidewise.controller.case_builder import joined
from tidewise.controller.kinds import kinds_of
from tidewise.controller.policies.counts import CountPolicy
from tidewise.controller.policies.erlang import wait_bound
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.question import Question, View
from tidewise.controller.triggers import BURST_WINDOW
from tidewise.core.application import Application
from tidewise.core.case import Case
from tidewise.core.plan import Assignment, Plan

EVERY = 0.5  # seconds
CERTAINTY = 0.99


@dataclass(slots=True)
class AnytimePolicy(CountPolicy):
    """The exact plan's placement; ``bounded`` by the M/M/c wait, or by the devices' backlogs alone."""

    static: bool = True
    sudden: bool = False
    bounded: bool = True
    _case: Case | None = None
    _at: float = float("-inf")

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The placement, with every variant warm that the device can run in time."""
        self._case = question.case
        verdict = CountPolicy.judge(self, question, answer, current, view)
        if not isinstance(verdict, Plan):
            return verdict
        return replace(verdict, assignments=tuple(_all_warm(question, verdict, view)))

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """The most accurate variants that the bound allows."""
        if not self.bounded or self._case is None or now < self._at + EVERY or view.expecting:
            return None
        self._at = now
        bounded = tuple(_bounded(plan, self._case, view))
        return None if bounded == plan.assignments else replace(plan, assignments=bounded, trigger="ceilings")


def _all_warm(question: Question, plan: Plan, view: View) -> Iterator[Assignment]:
    kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
    for one in plan.assignments:
        row = question.case.capacity[kind_of[one.worker]]
        family = view.applications[one.application].variants
        able = [v for v in family if row.get(joined(one.application, v.name), 0.0) > 0]
        names = tuple(v.name for v in sorted(able, key=lambda v: (-(v.accuracy or 0.0), v.version)))
        fastest = max(row[joined(one.application, name)] for name in names)
        yield replace(one, warm=names, ceiling=names[0], capacity=fastest)


def _bounded(plan: Plan, case: Case, view: View) -> Iterator[Assignment]:
    kinds = kinds_of(view.devices, view.barred)
    kind_of = {device: kind.name for kind in kinds.values() for device in kind.devices}
    rows: dict[str, dict[str, Mapping[str, float]]] = defaultdict(dict)
    for one in plan.assignments:
        rows[one.application][one.worker] = case.capacity.get(kind_of.get(one.worker, ""), {})
    ceiling = {name: _ceiling(view.applications[name], list(found.values()), view) for name, found in rows.items()}
    for one in plan.assignments:
        accuracy = {v.name: v.accuracy or 0.0 for v in view.applications[one.application].variants}
        allowed = [name for name in one.warm if accuracy[name] <= ceiling[one.application]]
        yield replace(one, ceiling=allowed[0] if allowed else one.warm[-1])


def _ceiling(application: Application, rows: list[Mapping[str, float]], view: View) -> float:
    """The accuracy of the best variant whose wait leaves a batch its share of the SLO; the lowest if none does."""
    rate = view.estimates[application.name].rates[BURST_WINDOW]
    room = application.slo * (1 - view.batch_share)
    ladder = sorted((one.accuracy or 0.0, joined(application.name, one.name)) for one in application.variants)
    while len(ladder) > 1:
        whole = sum(_best(row, ladder) for row in rows)
        if wait_bound(len(rows), rate, whole / len(rows), CERTAINTY) <= room:
            break
        ladder.pop()
    return ladder[-1][0]


def _best(row: Mapping[str, float], ladder: list[tuple[float, str]]) -> float:
    """The capacity of the most accurate of these variants, which ascend, that a device can run."""
    return next((row[name] for _, name in reversed(ladder) if row.get(name, 0.0) > 0), 0.0)
