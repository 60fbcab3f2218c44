"""Our own policy: the scenario plan. Families are placed for several demands; ceilings follow demand without a solver.

Which family a device holds warm is slow to change, since loading costs seconds. Which of its warm variants serves the
next batch is free, and decided twice a second here (the ceiling) and for every batch by the device itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.ceilings import ceilings
from tidewise.controller.allocation.hull import Rung
from tidewise.controller.answer import Kept, Stale, Wrong, moved_since, unserved
from tidewise.controller.case_builder import parted
from tidewise.controller.families import ladder, memory_of, place_families, warm_variants, with_spares
from tidewise.controller.greedy import greedy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.policies.restrict import every_variant
from tidewise.controller.question import Question, View, ask
from tidewise.controller.scenarios import SHORT, DemandMemory, Tuning, level, scenarios
from tidewise.controller.triggers import Trigger
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import Estimate
from tidewise.core.errors import PlanError
from tidewise.core.plan import Assignment, Plan, consistent
from tidewise.core.scenario import Families, FamilyPlan, ScenarioCase

STEER_EVERY = 0.5  # seconds
LEAST_RATE = 0.2

_Class = tuple[str, tuple[str, ...]]  # a kind, and what its devices keep warm


@dataclass(slots=True)
class ScenarioPolicy:
    """``tuning`` says how much reserve the scenarios hold, ``fairness`` and ``swap_cost`` are the program's."""

    tuning: Tuning = field(default_factory=Tuning)
    fairness: float = 0.1
    swap_cost: float = 0.002
    steering: bool = True
    static: bool = False
    sudden: bool = False
    method: str | None = None
    _memory: DemandMemory = field(default_factory=DemandMemory)
    _case: Case | None = None
    _steered: float = float("-inf")

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """The scenarios of this moment."""
        question = ask(ticket, trigger, view, plan, settings, every_variant)
        case = question.case
        known = {name: one for name, one in view.estimates.items() if name in case.applications}
        problem = ScenarioCase(
            device_types=case.device_types,
            variants=case.variants,
            capacity=case.capacity,
            scenarios=scenarios(known, view.applications, self._memory.busiest(), self.tuning),
            current=_families(question, plan),
            weight={name: one.weight for name, one in case.applications.items()},
            floor={name: one.min_accuracy for name, one in case.applications.items() if one.min_accuracy > 0},
            fairness=self.fairness,
            swap_cost=self.swap_cost if plan.version else 0.0,
        )
        return replace(question, solve=problem, reserved={})

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The families as a plan, the variants set to what demand is now."""
        assert isinstance(answer, FamilyPlan), "scenarios are answered with families"
        moved = moved_since(question, view)
        if moved is not None:
            return Stale(moved)
        self._case = question.case
        demand = {name: one.rate for name, one in question.demand.items()}
        slo = {name: one.slo for name, one in view.applications.items()}
        counts = with_spares(question.case, answer.counts, _families(question, current), demand, slo)
        plan = replace(
            self._described(question, answer), assignments=tuple(_assignments(question, counts, answer, current, view))
        )
        if self.steering:
            plan = replace(plan, assignments=self._steered_assignments(plan, view, planned=True))
        try:
            consistent(plan, view.applications, view.devices)
        except PlanError as error:
            return Wrong(str(error))
        if _hosting(plan) == _hosting(current) and not question.forced:
            return Kept("the plan in force holds the same families")
        return plan

    def stand_in(self, question: Question, current: Plan, view: View) -> Plan | None:
        """Every device the family that a greedy plan of counts gives it."""
        if not unserved(question, current, view):
            return None
        solution = greedy(question.case)
        counts = {
            kind: dict(Counter(name for v, n in row.items() for name in [parted(v)[0]] * n))
            for kind, row in solution.counts.items()
        }
        verdict = self.judge(question, FamilyPlan(counts, {}, solution.served, 0.0, 1.0, "greedy"), current, view)
        return verdict if isinstance(verdict, Plan) else None

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """New ceilings, if demand moved any."""
        self._memory.note(view.estimates, now)
        if not self.steering or self._case is None or now < self._steered + STEER_EVERY:
            return None
        self._steered = now
        changed = self._steered_assignments(plan, view)
        return None if changed == plan.assignments else replace(plan, assignments=changed, trigger="ceilings")

    def _steered_assignments(self, plan: Plan, view: View, planned: bool = False) -> tuple[Assignment, ...]:
        """The plan's assignments with the ceilings that demand asks for now.

        A device counts for what it serves; ``planned`` counts it for what it is about to serve.
        """
        case = self._case
        assert case is not None
        kind_of = _kind_of(view, case)
        holding: dict[str, Counter[_Class]] = defaultdict(Counter)
        for one in plan.assignments:
            if one.worker in kind_of:
                serves = one.application if planned else _serves(view, one.worker)
                holding[serves][kind_of[one.worker], one.warm if serves == one.application else ()] += 1
        aims = {name: self._aims(name, classes, view) for name, classes in holding.items() if name in case.applications}
        return tuple(
            _aimed(one, aims.get(one.application, {}).get((kind_of.get(one.worker, ""), one.warm)))
            for one in plan.assignments
        )

    def _aims(self, name: str, classes: Mapping[_Class, int], view: View) -> dict[_Class, Rung]:
        """The ceiling of each class of alike devices; those on their way to another family count whole."""
        case = self._case
        assert case is not None
        ladders = {one: ladder(case, one[0], name, one[1]) for one in classes}
        rate = _recourse_rate(view.estimates.get(name, Estimate()), view.applications[name].slo)
        return ceilings(ladders, classes, rate)

    def _described(self, question: Question, answer: FamilyPlan) -> Plan:
        return Plan(
            version=0,
            demand={name: one.planned for name, one in question.demand.items()},
            served=dict(answer.served),
            trigger=str(question.trigger),
            status="fallback" if answer.method == "greedy" else "scenario",
            phi=min(answer.served.values(), default=1.0),
            objective=answer.objective,
            bound=answer.bound,
            gap=(answer.bound - answer.objective) / answer.bound if answer.bound > 0 else 0.0,
            solve=answer.wall,
        )


def _aimed(one: Assignment, aim: Rung | None) -> Assignment:
    return one if aim is None else replace(one, ceiling=parted(aim.variant)[1])


def _recourse_rate(estimate: Estimate, slo: float) -> float:
    """The rate the variants must carry: the last seconds' and one deviation."""
    rate = estimate.rates[SHORT] or level(estimate)
    return rate + math.sqrt(max(rate, LEAST_RATE) / (slo / 2))


def _kind_of(view: View, case: Case) -> dict[str, str]:
    from tidewise.controller.kinds import kinds_of

    kinds = kinds_of(view.devices, view.barred)
    return {device: kind.name for kind in kinds.values() for device in kind.devices if kind.name in case.device_types}


def _serves(view: View, worker: str) -> str:
    device = view.devices.get(worker)
    return device.report.warm[0].application if device is not None and device.report.warm else ""


def _families(question: Question, plan: Plan) -> dict[str, dict[str, int]]:
    """What devices hold or are about to, by kind."""
    kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in plan.assignments:
        if one.worker in kind_of:
            found[kind_of[one.worker]][one.application] += 1
    return {kind: dict(row) for kind, row in found.items()}


def _assignments(
    question: Question, counts: Families, answer: FamilyPlan, current: Plan, view: View
) -> Iterator[Assignment]:
    planned = {one.worker: one.application for one in current.assignments}
    serving = {device: _serves(view, device) for device in view.devices}
    hosts: dict[str, tuple[str, str]] = {}
    for kind in question.kinds.values():
        placed = place_families(counts.get(kind.name, {}), kind.devices, planned, serving)
        hosts |= {device: (kind.name, name) for device, name in placed.items()}
    ladders = {key: ladder(question.case, *key) for key in set(hosts.values())}
    total: Counter[str] = Counter()
    for key in hosts.values():
        total[key[1]] += ladders[key][0].rate  # type: ignore[assignment]
    for device in sorted(hosts):
        key = hosts[device]
        yield _assignment(
            question, device, key, ladders[key], answer.busy.get(key[0], {}), total[key[1]], current, view
        )


def _assignment(
    question: Question,
    device: str,
    key: tuple[str, str],
    rungs: tuple[Rung, ...],
    busy: Mapping[str, float],
    total: float,
    current: Plan,
    view: View,
) -> Assignment:
    """``capacity`` is that of the fastest variant: the router must not refuse what the device could still answer."""
    kind = question.kinds[key[0]]
    memory = memory_of(question.case, view.profile, kind.device_type)
    held = current.of(device)
    kept = held.warm if held is not None and held.application == key[1] else ()
    warm = warm_variants(rungs, busy, kind, memory, kept)
    names = tuple(parted(one.variant)[1] for one in warm)
    return Assignment(device, key[1], names, names[0], rungs[0].rate / total, rungs[0].rate)


def _hosting(plan: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.worker, one.application, one.warm) for one in plan.assignments]
