"""Plans: which worker hosts what, and which share of an application's queries it gets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tidewise.core.application import Application
from tidewise.core.errors import PlanError

SHARE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one worker is to do.

    ``warm`` variants stay loaded, most accurate first; ``ceiling`` is the most accurate one it may use; ``share`` is
    its fraction of the application's queries. ``capacity`` is the queries per second trusted to it at the ceiling.
    """

    worker: str
    application: str
    warm: tuple[str, ...]
    ceiling: str
    share: float
    capacity: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A complete, versioned answer for the whole cluster; workers without an assignment host nothing.

    ``trigger`` says why it was made; ``demand`` (queries per second by application) what for. ``served`` is the
    fraction of each application's planned demand it carries; ``status``, ``objective``, ``bound`` and ``gap`` are the
    solver's. ``solve`` is wall-clock seconds.
    """

    version: int
    assignments: tuple[Assignment, ...] = ()
    demand: Mapping[str, float] = field(default_factory=dict)
    served: Mapping[str, float] = field(default_factory=dict)
    trigger: str = ""
    status: str = ""
    phi: float = 1.0
    objective: float = 0.0
    bound: float = 0.0
    gap: float = 0.0
    solve: float = 0.0

    def of(self, worker: str) -> Assignment | None:
        """The assignment of one worker, if it has one."""
        return next((one for one in self.assignments if one.worker == worker), None)


EMPTY_PLAN = Plan(version=0)


def consistent(plan: Plan, applications: Mapping[str, Application], workers: Collection[str]) -> None:
    """Check a plan before it is published.

    Raises PlanError naming the first contradiction: a missing worker or one named twice, an unknown application or
    variant, a ceiling that is not warm, a share outside [0, 1], or shares of an application that do not sum to 1.
    """
    seen: set[str] = set()
    for one in plan.assignments:
        if one.worker in seen:
            raise PlanError(f"plan {plan.version} assigns worker {one.worker!r} twice")
        seen.add(one.worker)
        if one.worker not in workers:
            raise PlanError(f"plan {plan.version} names worker {one.worker!r}, which is not in the cluster")
        _check_assignment(plan, one, applications)
    for name in sorted({one.application for one in plan.assignments}):
        total = sum(one.share for one in plan.assignments if one.application == name)
        if abs(total - 1) > SHARE_TOLERANCE:
            raise PlanError(f"plan {plan.version}: the shares of {name!r} sum to {total:.6f}, not 1")


def _check_assignment(plan: Plan, one: Assignment, applications: Mapping[str, Application]) -> None:
    application = applications.get(one.application)
    if application is None:
        raise PlanError(f"plan {plan.version} names application {one.application!r}, which does not exist")
    for name in one.warm:
        if application.variant(name) is None:
            raise PlanError(f"plan {plan.version}: {one.application!r} has no variant {name!r}")
    if one.ceiling not in one.warm:
        raise PlanError(
            f"plan {plan.version}: the ceiling {one.ceiling!r} of {one.worker!r} is not among its warm variants"
        )
    if not 0 <= one.share <= 1 + SHARE_TOLERANCE:
        raise PlanError(f"plan {plan.version}: worker {one.worker!r} has share {one.share}, not within 0 and 1")
