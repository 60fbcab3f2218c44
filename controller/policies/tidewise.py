"""Our own policy: the scenario plan. Families are placed for several demands; ceilings follow demand without a solver.

Which family a device holds warm is slow to change, since loading costs seconds. Which of its warm variants serves the
next batch is free, and decided twice a second here (the ceiling) and for every batch by the device itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.ceiling import ceilings
from tidewise.controller.allocation.hull import Rung
from tidewise.controller.answer import Kept, Stale, Wrong, moved_since, unserved
from tidewise.controller.case_builder import joined, parted
from tidewise.controller.families import Families, ladder, place_families, warm_room, warm_variants, with_spares
from tidewise.controller.greedy import greedy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.policies.reserve import shared
from tidewise.controller.policies.restrict import every_variant
from tidewise.controller.question import Question, View, ask
from tidewise.controller.scenarios import SHORT, DemandMemory, Tuning, level, scenarios
from tidewise.controller.triggers import Trigger
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import Estimate
from tidewise.core.errors import PlanError
from tidewise.core.plan import Assignment, Plan, consistent
from tidewise.core.scenario import ScenarioCase, ScenarioSolution, ScenarioValue
from tidewise.core.solution import Status

STEER_EVERY = 0.5  # seconds
LEAST_RATE = 0.2
RECOURSE_SIGMA = 1.0  # deviations above the last seconds' rate that ceilings leave room for

_Class = tuple[str, tuple[str, ...]]  # a kind, and what its devices keep warm


@dataclass(slots=True)
class ScenarioPolicy:
    """``tuning`` says how much reserve the scenarios hold; ``steering`` whether ceilings follow demand."""

    tuning: Tuning = field(default_factory=Tuning)
    steering: bool = True
    static: bool = False
    sudden: bool = False
    method: str | None = None
    _memory: DemandMemory = field(default_factory=DemandMemory)
    _case: Case | None = None
    _ladders: dict[tuple[str, str, tuple[str, ...]], tuple[Rung, ...]] = field(default_factory=dict)
    _steered: float = float("-inf")

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """The scenarios of this moment."""
        question = ask(ticket, trigger, view, plan, settings, every_variant)
        case = question.case
        known = {name: one for name, one in view.estimates.items() if name in case.applications}
        found = scenarios(known, view.applications, self._memory.busiest(), self.tuning)
        sizes, room = warm_room(case, question.kinds, view.profile)
        problem = ScenarioCase(
            case=case.with_current(_hosted(question, plan)),
            demands=tuple(demand for _, demand in found),
            weights=tuple(weight for weight, _ in found),
            memory=sizes,
            warm_budget=room,
        )
        return replace(question, solve=problem, reserved={})

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The families as a plan, the variants set to what demand is now."""
        assert isinstance(answer, ScenarioSolution), "scenarios are answered with families"
        moved = moved_since(question, view)
        if moved is not None:
            return Stale(moved)
        self._case = question.case
        self._ladders.clear()
        demand = {name: one.rate for name, one in question.demand.items()}
        slo = {name: one.slo for name, one in view.applications.items()}
        counts = with_spares(question.case, answer.families, _families(question, current), demand, slo)
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
            return Kept("the plan in force holds the same families", current)
        return plan

    def stand_in(self, question: Question, current: Plan, view: View) -> Plan | None:
        """Every device the family that a greedy plan of counts gives it."""
        if not unserved(question, current, view):
            return None
        verdict = self.judge(question, _greedy_families(question), current, view)
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
        aimed = tuple(
            _aimed(one, aims.get(one.application, {}).get(str((kind_of.get(one.worker, ""), one.warm))))
            for one in plan.assignments
        )
        return tuple(shared(aimed, case, kind_of, self._rates(view)))

    def _rates(self, view: View) -> dict[str, float]:
        return {n: _recourse_rate(one, view.applications[n].slo) for n, one in view.estimates.items()}

    def _aims(self, name: str, classes: Mapping[_Class, int], view: View) -> dict[str, str]:
        """The ceiling of each class of alike devices; those on their way to another family count whole."""
        case = self._case
        assert case is not None
        ladders = {str(one): self._ladder(one[0], name, one[1]) for one in classes}
        rate = _recourse_rate(view.estimates.get(name, Estimate()), view.applications[name].slo)
        return ceilings({str(one): count for one, count in classes.items()}, ladders, rate)

    def _ladder(self, kind: str, name: str, warm: tuple[str, ...]) -> tuple[Rung, ...]:
        """The hull of what is warm (of all, if nothing is), made once for each case."""
        assert self._case is not None
        known = self._ladders.get((kind, name, warm))
        if known is None:
            known = self._ladders[kind, name, warm] = ladder(self._case, kind, name, warm or None)
        return known

    def _described(self, question: Question, answer: ScenarioSolution) -> Plan:
        demands = question.solve.demands if isinstance(question.solve, ScenarioCase) else ()
        pairs = list(zip(answer.values, demands, strict=False))
        return Plan(
            version=0,
            demand={name: one.planned for name, one in question.demand.items()},
            served={name: _least(name, pairs) for name in question.case.applications},
            trigger=str(question.trigger),
            status="scenario" if answer.values else "fallback",
            phi=min((one.least_served for one in answer.values), default=1.0),
            objective=answer.objective,
            bound=answer.bound,
            gap=answer.gap,
            solve=answer.wall,
        )


def _least(name: str, pairs: Iterable[tuple[ScenarioValue, Mapping[str, float]]]) -> float:
    """The fraction of an application's demand that is carried in the scenario where it is least."""
    asked = [(value.served.get(name, 0.0), demand[name]) for value, demand in pairs if demand.get(name, 0.0) > 0]
    return min((min(1.0, served / demand) for served, demand in asked), default=1.0)


def _aimed(one: Assignment, aim: str | None) -> Assignment:
    return one if aim is None else replace(one, ceiling=parted(aim)[1])


def _greedy_families(question: Question) -> ScenarioSolution:
    """The families of the greedy plan of counts, with no promise but that."""
    solution = greedy(question.case)
    families = {
        kind: dict(Counter(name for v, n in row.items() for name in [parted(v)[0]] * n))
        for kind, row in solution.counts.items()
    }
    return ScenarioSolution(Status.OVERLOAD, 0.0, 1.0, families, {}, {}, (), 0)


def _recourse_rate(estimate: Estimate, slo: float) -> float:
    """The rate the variants must carry: the last seconds', and room for its noise."""
    rate = estimate.rates[SHORT] or level(estimate)
    return rate + RECOURSE_SIGMA * math.sqrt(max(rate, LEAST_RATE) / (slo / 2))


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


def _hosted(question: Question, plan: Plan) -> dict[str, dict[str, int]]:
    """The plan's families as counts of variants, each device under its first warm one that the case knows."""
    kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in plan.assignments:
        names = [joined(one.application, name) for name in one.warm]
        known = next((name for name in names if name in question.case.variants), None)
        if one.worker in kind_of and known is not None:
            found[kind_of[one.worker]][known] += 1
    return {kind: dict(row) for kind, row in found.items()}


def _assignments(
    question: Question, counts: Families, answer: ScenarioSolution, current: Plan, view: View
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
        total[key[1]] += ladders[key][0].capacity  # type: ignore[assignment]
    for device in sorted(hosts):
        where, name = hosts[device]
        rungs = ladders[where, name]
        held = current.of(device)
        kept = held.warm if held is not None and held.application == name else ()
        wanted = answer.warm.get(where, {}).get(name) or _without_answer(rungs)
        warm = tuple(parted(one.variant)[1] for one in warm_variants(rungs, wanted, kept))
        # The fastest variant's capacity: the router must not refuse what the device could still answer.
        yield Assignment(device, name, warm, warm[0], rungs[0].capacity / total[name], rungs[0].capacity)


def _without_answer(rungs: tuple[Rung, ...]) -> tuple[str, ...]:
    """What a spare of a family that the plan gave this kind no device of keeps warm: the ends of its ladder."""
    return tuple({rungs[0].variant, rungs[-1].variant})


def _hosting(plan: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.worker, one.application, one.warm) for one in plan.assignments]
