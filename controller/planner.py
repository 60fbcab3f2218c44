"""The planner: a machine that decides when to plan, what to ask the solver, and whether its answer is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.problem import Terms
from tidewise.controller.answer import Kept, Stale, without_missing
from tidewise.controller.policies.policy import AllocationPolicy, Answer, Problem
from tidewise.controller.question import Question, View
from tidewise.controller.triggers import Cause, Trigger, burst, hold_off, stretched, violations
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import EMPTY_PLAN, Plan

SETTLE = 0.5  # seconds without a newly attached device before a plan is made for those that came
VIOLATIONS_EVERY = 1 / 3  # of the period: where demand exceeds what the cluster carries, planning again is no help
NO_TERMS = Terms()
URGENT = (Cause.START, Cause.APPLICATION, Cause.DEVICES, Cause.REFUSAL, Cause.PROFILE)


@dataclass(frozen=True, slots=True)
class Solve:
    """Ask the solver; the answer comes back as ``solved`` or ``failed`` with this ticket."""

    ticket: int
    case: Problem
    terms: Terms = NO_TERMS


@dataclass(frozen=True, slots=True)
class Publish:
    """Tell everyone of this plan."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Keep:
    """The plan in force stays; ``failure`` says whether something went wrong."""

    reason: str
    failure: bool = False


Action = Solve | Publish | Keep


@dataclass(slots=True)
class Planner:
    """At most one solve is in flight; triggers that come meanwhile wait for it, and for the hold-off after it.

    ``plan`` is the plan in force (its demand and what it serves are those of the last look), ``floor`` the newest
    version anyone has seen: published versions are above both.
    """

    settings: PlannerSettings
    policy: AllocationPolicy
    plan: Plan = EMPTY_PLAN
    floor: int = 0
    _pending: dict[Cause, Trigger] = field(default_factory=dict)
    _settled_at: float = 0.0
    _asked: Question | None = None
    _ticket: int = 0
    _earliest: float = float("-inf")
    _considered_at: float | None = None
    _considered: Mapping[str, float] = field(default_factory=dict)
    _stretch: Mapping[str, float] = field(default_factory=dict)
    _violations_at: float = float("-inf")
    _failures: int = 0
    _saw_demand: bool = False

    def note(self, trigger: Trigger, now: float, settle: bool = False) -> None:
        """Something happened that a plan must answer; with ``settle`` more of it may follow at once."""
        if settle:
            self._settled_at = now + SETTLE
        self._pending[trigger.cause] = trigger

    def tick(self, view: View, now: float) -> list[Action]:
        """Time passed: steer the plan in force, and make another if there is a reason to."""
        steered = self.policy.steer(self.plan, view, now) if self.plan.version else None
        first: list[Action] = [] if steered is None else [self._adopt(steered)]
        return first + self._planned(view, now)

    def _planned(self, view: View, now: float) -> list[Action]:
        if self._asked is not None or now < max(self._earliest, self._settled_at) or not view.devices:
            return []
        trigger = self._due(view, now)
        return [] if trigger is None else self._ask(trigger, view, now)

    def solved(self, ticket: int, solution: Answer, view: View, now: float) -> list[Action]:
        """The solver answered."""
        question = self._take(ticket, solution.wall, now)
        if question is None:
            return []
        verdict = self.policy.judge(question, solution, self.plan, view)
        if isinstance(verdict, Stale):
            self._again(question)
            return [Keep(verdict.reason)]
        if not isinstance(verdict, Plan | Kept):
            return self._fail(question, verdict.reason, view, now)
        self._failures = 0
        if isinstance(verdict, Kept):
            self.plan = verdict.plan
            return [Keep(verdict.reason)]
        return [self._adopt(verdict)]

    def failed(self, ticket: int, reason: str, view: View, now: float, answer: Answer | None = None) -> list[Action]:
        """The solver hung, crashed, lied or refused; ``answer`` is what it said before, if that was sound."""
        question = self._take(ticket, self.settings.solve_limit, now)
        return [] if question is None else self._fail(question, reason, view, now, answer)

    def withdraw(self, view: View, detail: str, now: float) -> list[Action]:
        """An application was removed or replaced: what the plan in force says of variants that are gone is void."""
        self.note(Trigger(Cause.APPLICATION, detail), now)
        left = without_missing(self.plan, view.applications)
        if left == self.plan.assignments:
            return []
        return [self._adopt(replace(self.plan, assignments=left, trigger=str(Trigger(Cause.APPLICATION, detail))))]

    def _due(self, view: View, now: float) -> Trigger | None:
        for cause in URGENT:
            if cause in self._pending:
                return self._pending[cause]
        self._saw_demand = self._saw_demand or view.expecting
        if self._considered_at is None:
            return Trigger(Cause.START)
        period = now >= self._considered_at + self.settings.period
        if self.policy.static:
            first = not self._saw_demand and any(one.level > 0 for one in view.estimates.values())
            self._saw_demand = self._saw_demand or (first and period)
            return Trigger(Cause.PERIOD, "first demand seen") if first and period else None
        sudden = self._sudden(view, now) if self.policy.sudden else None
        return sudden or (Trigger(Cause.PERIOD) if period else None)

    def _sudden(self, view: View, now: float) -> Trigger | None:
        found = burst(view.estimates, self._considered, self.settings) or stretched(view.devices, self._stretch)
        if found is None and now >= self._violations_at + self.settings.period * VIOLATIONS_EVERY:
            found = violations(view.devices, {one.worker: one.application for one in self.plan.assignments})
            self._violations_at = now if found is not None else self._violations_at
        return found

    def _ask(self, trigger: Trigger, view: View, now: float) -> list[Action]:
        self._ticket += 1
        question = self.policy.ask(self._ticket, trigger, view, self.plan, self.settings)
        # Nobody was told anything yet, or somebody follows a plan that is not ours.
        untold = not self.plan.version or self.plan.version < self.floor
        question = replace(question, asked=now, forced=untold or Cause.REFUSAL in self._pending)
        self._pending.clear()
        self._asked, self._considered_at = question, now
        self._considered = {name: one.planned for name, one in question.demand.items()}
        self._stretch = {name: one.report.stretch for name, one in view.devices.items()}
        self._earliest = now + hold_off(self.settings, 0.0)
        return [Solve(question.ticket, question.solve, _terms(question))]

    def _take(self, ticket: int, seconds: float, now: float) -> Question | None:
        """The question this ticket answers, None if it was answered before."""
        question = self._asked
        if question is None or question.ticket != ticket:
            return None
        self._asked = None
        self._earliest = max(
            self._earliest, question.asked + hold_off(self.settings, min(seconds, now - question.asked))
        )
        return question

    def _fail(
        self, question: Question, reason: str, view: View, now: float, answer: Answer | None = None
    ) -> list[Action]:
        """Keep the last good plan, unless the fast plan is better. Where neither serves, one without a solver does."""
        self._failures += 1
        self._again(question)
        self._earliest = now + min(self.settings.period, hold_off(self.settings, 0.0) * 2**self._failures)
        keep = Keep(reason, failure=True)
        verdict = None if answer is None else self.policy.judge(question, answer, self.plan, view)
        if isinstance(verdict, Kept):
            self.plan = verdict.plan
            return [keep]
        if isinstance(verdict, Plan):
            return [keep, self._adopt(verdict)]
        stand_in = self.policy.stand_in(question, self.plan, view)
        return [keep] if stand_in is None else [keep, self._adopt(stand_in)]

    def _again(self, question: Question) -> None:
        """What was not answered is still to be answered."""
        if question.trigger.cause in URGENT:
            self._pending.setdefault(question.trigger.cause, question.trigger)

    def _adopt(self, plan: Plan) -> Publish:
        self.plan = replace(plan, version=max(self.floor, self.plan.version) + 1)
        self.floor = self.plan.version
        return Publish(self.plan)


def _terms(question: Question) -> Terms:
    """What the settings ask of the solve. The swap cost is that of every device; a load costs its part of it."""
    settings = question.settings
    return Terms(settings.swap_cost / max(1, sum(question.case.device_types.values())), settings.max_min)
