"""Policies that ask for counts: how many devices of each type host which variant, for one demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidewise.controller.answer import judge, unserved
from tidewise.controller.greedy import greedy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.policies.restrict import every_variant
from tidewise.controller.question import Demands, Question, View, ask, demand_of
from tidewise.controller.triggers import Trigger
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import Plan
from tidewise.core.solution import Solution


@dataclass(slots=True)
class CountPolicy:
    """``restrict`` limits the variants, ``demanded`` reads the demand; ``hysteresis`` keeps a plan that still does."""

    restrict: Callable[[Case], Case] = every_variant
    method: str | None = None
    static: bool = False
    sudden: bool = True
    demanded: Demands = demand_of
    hysteresis: bool = True

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """Counts for the demand of this moment."""
        return ask(ticket, trigger, view, plan, settings, self.restrict, self.demanded)

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The counts as a plan."""
        assert isinstance(answer, Solution), "counts are answered with a solution"
        return judge(question, answer, current, view, self.hysteresis)

    def stand_in(self, question: Question, current: Plan, view: View) -> Plan | None:
        """Greedy counts, where an application would go unserved."""
        if not unserved(question, current, view) or not isinstance(question.solve, Case):
            return None
        verdict = judge(question, greedy(question.solve), current, view)
        return verdict if isinstance(verdict, Plan) else None

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """Counts stay until they are planned anew."""
        return None
