"""Our own policy: the scenario plan. Families are placed for several demands; ceilings follow demand without a solver.

Which family a device holds warm is slow to change, since loading costs seconds. Which of its warm variants serves the
next batch is free, and decided four times a second here (the ceiling) and for every batch by the device itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.hull import Rung
from tidewise.controller.answer import Kept, Stale, Wrong, moved_since, unserved
from tidewise.controller.case_builder import joined, parted
from tidewise.controller.families import Families, ladder, place_families, warm_room, warm_variants, with_spares
from tidewise.controller.greedy import greedy
from tidewise.controller.handover import Place, held_back
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.policies.restrict import above_floor
from tidewise.controller.policies.steering import EVERY, Steering, serves_now
from tidewise.controller.question import Question, View, ask
from tidewise.controller.scenarios import DemandMemory, Tuning, scenarios
from tidewise.controller.triggers import Trigger
from tidewise.core.cluster import PlannerSettings
from tidewise.core.errors import PlanError
from tidewise.core.plan import Assignment, Plan, consistent
from tidewise.core.scenario import ScenarioCase, ScenarioSolution
from tidewise.core.solution import Status


@dataclass(frozen=True, slots=True)
class _Handing:
    """An answer of which some devices may not have been given their part yet."""

    question: Question
    answer: ScenarioSolution
    targets: dict[str, Place]


@dataclass(slots=True)
class ScenarioPolicy:
    """``tuning`` says how much reserve the scenarios hold; ``steering`` whether ceilings follow demand."""

    tuning: Tuning = field(default_factory=Tuning)
    steering: bool = True
    static: bool = False
    sudden: bool = False
    method: str | None = None
    _memory: DemandMemory = field(default_factory=DemandMemory)
    _recourse: Steering | None = None
    _steered: float = float("-inf")
    _handing: _Handing | None = None

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """The scenarios of this moment."""
        question = ask(ticket, trigger, view, plan, settings, above_floor)
        case = question.case
        known = {name: one for name, one in view.estimates.items() if name in case.applications}
        found = scenarios(known, view.applications, self._memory.busiest(), self.tuning, settings)
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
        kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
        self._recourse = Steering(question.case, kind_of)
        demand = {name: one.rate for name, one in question.demand.items() if name in view.applications}
        slo = {name: one.slo for name, one in view.applications.items()}
        counts = with_spares(question.case, answer.families, _families(question, current), demand, slo)
        self._handing = _Handing(question, answer, _targets(question, counts, self._intended(current), view))
        plan = replace(self._described(question, answer), assignments=self._handed_over(current, view))
        served = _carried(question, plan.assignments)
        plan = replace(plan, served=served, phi=min(served.values(), default=1.0))
        if self.steering:
            plan = replace(plan, assignments=self._recourse.steered(plan.assignments, view, planned=True))
        try:
            consistent(plan, view.applications, view.devices)
        except PlanError as error:
            self._handing = None
            return Wrong(str(error))
        if _hosting(plan) == _hosting(current) and not question.forced:
            kept = replace(plan, version=current.version, assignments=current.assignments, trigger=current.trigger)
            return Kept("the plan in force holds the same families", kept)
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
        if self._recourse is None or now < self._steered + EVERY:
            return None
        self._steered = now
        handed = self._handed_over(plan, view)
        moved = _hosting(replace(plan, assignments=handed)) != _hosting(plan)
        changed = handed if moved else plan.assignments
        if self.steering:
            changed = self._recourse.steered(changed, view, planned=moved)
        trigger = "devices handed over" if moved else "ceilings"
        return None if changed == plan.assignments else replace(plan, assignments=changed, trigger=trigger)

    def _handed_over(self, plan: Plan, view: View) -> tuple[Assignment, ...]:
        """The assignments with every device where it is to go, but for those that must wait for others."""
        handing = self._handing
        if handing is None or moved_since(handing.question, view) is not None:
            self._handing = None
            return plan.assignments
        held = _held_back(handing, plan, view)
        hosts = handing.targets | {device: (handing.targets[device][0], serves_now(view, device)) for device in held}
        if not held:
            self._handing = None
        return tuple(_assignments(handing.question, hosts, handing.answer, plan))

    def _intended(self, plan: Plan) -> dict[str, str]:
        """Which application each device is meant for, those that still wait included."""
        meant = {one.worker: one.application for one in plan.assignments}
        waiting = self._handing.targets if self._handing is not None else {}
        return meant | {device: name for device, (_, name) in waiting.items() if device in meant}

    def _described(self, question: Question, answer: ScenarioSolution) -> Plan:
        return Plan(
            version=0,
            demand={name: one.planned for name, one in question.demand.items()},
            trigger=str(question.trigger),
            status="scenario" if answer.values else "fallback",
            objective=answer.objective,
            bound=answer.bound,
            gap=answer.gap,
            solve=answer.wall,
        )


def _carried(question: Question, assignments: Iterable[Assignment]) -> dict[str, float]:
    """The fraction of each application's present demand that its devices carry with their fastest warm variants.

    Scenarios that may never come are no reason to call a cluster too small.
    """
    room: Counter[str] = Counter()
    for one in assignments:
        room[one.application] += one.capacity  # type: ignore[assignment]
    rates = {name: one.rate for name, one in question.demand.items()}
    return {
        name: min(1.0, room[name] / rates[name]) if rates[name] > 0 else float(room[name] > 0)
        for name in question.case.applications
    }


def _greedy_families(question: Question) -> ScenarioSolution:
    """The families of the greedy plan of counts, with no promise but that."""
    solution = greedy(question.case)
    families = {
        kind: dict(Counter(name for v, n in row.items() for name in [parted(v)[0]] * n))
        for kind, row in solution.counts.items()
    }
    return ScenarioSolution(Status.OVERLOAD, 0.0, 1.0, families, {}, {}, (), 0)


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


def _targets(question: Question, counts: Families, planned: Mapping[str, str], view: View) -> dict[str, Place]:
    """The kind of each device, and the application it is to hold."""
    serving = {device: serves_now(view, device) for device in view.devices}
    targets: dict[str, Place] = {}
    for kind in question.kinds.values():
        placed = place_families(counts.get(kind.name, {}), kind.devices, planned, serving)
        targets |= {device: (kind.name, name) for device, name in placed.items()}
    return targets


def _held_back(handing: _Handing, plan: Plan, view: View) -> frozenset[str]:
    question = handing.question
    kinds, names = {kind for kind, _ in handing.targets.values()}, question.case.applications
    ladders = {(kind, name): ladder(question.case, kind, name) for kind in kinds for name in names}
    return held_back(
        handing.targets,
        planned={one.worker: one.application for one in plan.assignments},
        serves={device: serves_now(view, device) for device in view.devices},
        capacity={place: rungs[0].capacity for place, rungs in ladders.items() if rungs},
        rates={name: one.rate for name, one in question.demand.items()},
    )


def _assignments(
    question: Question, hosts: Mapping[str, Place], answer: ScenarioSolution, current: Plan
) -> Iterator[Assignment]:
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
