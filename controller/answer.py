"""What the planner makes of a solver's answer: nothing unless it holds, and a plan only if it is worth the change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tidewise.controller.case_builder import Counts, joined, parted
from tidewise.controller.hysteresis import MARGIN_JUDGED, reason_to_keep
from tidewise.controller.placement import assignments, place
from tidewise.controller.question import Question, View
from tidewise.controller.spare import filled
from tidewise.controller.warm import WarmSiblings
from tidewise.controller.worth import worth
from tidewise.core.application import Application
from tidewise.core.case import Case
from tidewise.core.errors import PlanError
from tidewise.core.plan import Assignment, Plan, consistent
from tidewise.core.solution import Solution, faults

SHARE_MOVED = 0.15  # of an application's queries; moving less is not worth a plan: routers follow backlogs anyway
CAPACITY_MOVED = 0.1  # of a device's capacity; routers judge by it how long a query would wait


@dataclass(frozen=True, slots=True)
class Kept:
    """The plan in force stays, because it is good enough; ``plan`` is it, measured by the demand of now."""

    reason: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Stale:
    """The cluster changed while the plan was made."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """The answer breaks its promises; nothing of it is used."""

    reason: str


def judge(
    question: Question, solution: Solution, current: Plan, view: View, hysteresis: bool = True
) -> Plan | Kept | Stale | Wrong:
    """The plan to publish (its version is not set), or why the plan in force stays."""
    moved = moved_since(question, view)
    if moved is not None:
        return Stale(moved)
    assert isinstance(question.solve, Case), "counts answer a plain case"
    fault = next(faults(question.solve, solution), None)
    if fault is not None:
        return Wrong(f"the solver's answer was refused: {fault}")
    plan, why = _chosen(question, solution, current, view, hysteresis)
    try:
        consistent(plan, view.applications, view.devices)
    except PlanError as error:
        return Wrong(str(error))
    if _same(plan, current) and not question.forced:
        return Kept(why or "the plan in force is the best there is", _measured(current, plan))
    return plan


def _chosen(
    question: Question, solution: Solution, current: Plan, view: View, hysteresis: bool
) -> tuple[Plan, str | None]:
    """The new counts, or the present ones with the reason to keep them; both leave no device empty."""
    demand = {name: one.planned for name, one in question.demand.items()} | dict(solution.planned)
    slo = {name: one.slo for name, one in view.applications.items()}
    counts = filled(question.case, _sum(solution.counts, question.reserved), demand, slo)
    mine = hosted_counts(question, current)
    why = None
    if hysteresis:
        loads = _loads(question, counts)
        why = reason_to_keep(question.case, mine, counts, _halfway(question), loads, question.settings)
    if why is not None:
        counts = filled(question.case, mine, demand, slo)
    return _plan(question, solution, counts, demand, view, kept=why is not None), why


def hosted_counts(question: Question, plan: Plan) -> dict[str, dict[str, int]]:
    """What the plan in force hosts, in counts: of devices that are still there, and variants they can still run."""
    kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in plan.assignments:
        kind, variant = kind_of.get(one.worker), joined(one.application, one.ceiling)
        if kind is not None and variant in question.case.capacity.get(kind, {}):
            found[kind][variant] += 1
    return {kind: dict(row) for kind, row in found.items()}


def unserved(question: Question, plan: Plan, view: View) -> bool:
    """Whether the plan in force leaves an application without a device although some device could serve it."""
    hosted = {one.application for one in plan.assignments if one.worker in view.devices}
    return bool(question.case.applications.keys() - hosted)


def without_missing(plan: Plan, applications: Mapping[str, Application]) -> tuple[Assignment, ...]:
    """The plan's assignments that still name a variant there is; shares of what is left sum to 1 again."""
    left = []
    for one in plan.assignments:
        known = applications.get(one.application)
        if known is not None and known.variant(one.ceiling) is not None:
            warm = tuple(name for name in one.warm if known.variant(name) is not None)
            left.append(replace(one, warm=warm))
    total: dict[str, float] = defaultdict(float)
    for one in left:
        total[one.application] += one.share
    return tuple(replace(one, share=one.share / total[one.application]) for one in left)


def moved_since(question: Question, view: View) -> str | None:
    """What changed in the cluster since the question was asked, None if nothing that matters."""
    return next(_changes(question, view), None)


def _changes(question: Question, view: View) -> Iterator[str]:
    gone = {device for kind in question.kinds.values() for device in kind.devices} - view.devices.keys()
    if gone:
        yield f"worker {min(gone)!r} left while the plan was made"
    for name in question.case.applications.keys() - view.applications.keys():
        yield f"application {name!r} was removed while the plan was made"
    for name in question.case.variants:
        application, variant = parted(name)
        known = view.applications.get(application)
        if known is None or known.variant(variant) is None:
            yield f"application {application!r} changed while the plan was made"


def _halfway(question: Question) -> dict[str, float]:
    return {name: one.at(MARGIN_JUDGED) for name, one in question.demand.items()}


def _judged(question: Question, demand: Mapping[str, float]) -> dict[str, float]:
    """What a plan that is kept owes: the full margin, which it may lack, is asked of new plans only."""
    return {name: min(rate, demand.get(name, rate)) for name, rate in _halfway(question).items()}


def _sum(one: Counts, other: Counts) -> dict[str, dict[str, int]]:
    kinds = one.keys() | other.keys()
    return {kind: dict(Counter(one.get(kind, {})) + Counter(other.get(kind, {}))) for kind in kinds}


def _loads(question: Question, counts: Counts) -> int:
    loads = 0
    for name, kind in question.kinds.items():
        placed = place(counts.get(name, {}), kind.devices, question.held)
        loads += sum(variant not in question.held.get(device, ()) for device, variant in placed.items())
    return loads


def _plan(
    question: Question, solution: Solution, counts: Counts, demand: Mapping[str, float], view: View, kept: bool
) -> Plan:
    value = worth(question.case, counts, demand)
    owed = worth(question.case, counts, _judged(question, demand)) if kept else value
    warm = WarmSiblings(view.applications, view.profile, view.siblings)
    at_as_many_loads = solution.bound + solution.swap_cost * solution.loads  # bounds accuracy, the swap cost aside
    bound = max(at_as_many_loads, value.objective)
    return Plan(
        version=0,
        assignments=assignments(question.case, question.kinds, counts, demand, question.held, warm),
        demand={name: demand.get(name, 0.0) for name in view.applications},
        served={name: _served(name, question, owed.served) for name in view.applications},
        trigger=str(question.trigger),
        status=f"{solution.status} (kept)" if kept else _status(solution),
        phi=owed.phi,
        objective=value.objective,
        bound=bound,
        gap=(bound - value.objective) / bound if bound > 0 else 0.0,
        solve=solution.wall,
    )


def _status(solution: Solution) -> str:
    return "fallback" if solution.method == "greedy" else str(solution.status)


def _served(name: str, question: Question, served: Mapping[str, float]) -> float:
    """1 for an application without demand that is hosted, 0 for one no device can answer."""
    return served.get(name, 1.0) if name in question.case.applications else 0.0


def _measured(current: Plan, now: Plan) -> Plan:
    return replace(
        current,
        demand=now.demand,
        served=now.served,
        phi=now.phi,
        objective=now.objective,
        bound=now.bound,
        gap=now.gap,
    )


def _same(plan: Plan, current: Plan) -> bool:
    """Whether two plans host the same, trust devices with the same, and move hardly any application's queries."""
    if len(plan.assignments) != len(current.assignments):
        return False
    moved: dict[str, float] = defaultdict(float)
    for one, other in zip(plan.assignments, current.assignments, strict=True):
        if replace(one, share=0.0, capacity=0.0) != replace(other, share=0.0, capacity=0.0):
            return False
        if abs(one.capacity - other.capacity) > CAPACITY_MOVED * other.capacity:
            return False
        moved[one.application] += abs(one.share - other.share) / 2
    return all(part <= SHARE_MOVED for part in moved.values())
