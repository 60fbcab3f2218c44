"""What an allocation policy must be able to do: ask, judge the answer, and steer the plan in force meanwhile."""

from __future__ import annotations

from typing import Protocol

from tidewise.controller.answer import Kept, Stale, Wrong
from tidewise.controller.question import Question, View
from tidewise.controller.triggers import Trigger
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import Plan
from tidewise.core.scenario import ScenarioCase, ScenarioSolution
from tidewise.core.solution import Solution

Problem = Case | ScenarioCase  # what a solver is asked
Answer = Solution | ScenarioSolution
Verdict = Plan | Kept | Stale | Wrong


class AllocationPolicy(Protocol):
    """One policy of one planner; it may remember what it saw.

    A ``static`` policy does not follow demand: it plans when devices or applications change, and once more when it
    has first seen demand. One that is not ``sudden`` takes no notice of bursts and violations. ``method`` is a solver
    of controller/allocation, None for the cluster file's.
    """

    static: bool
    sudden: bool
    method: str | None

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """What to ask the solver now."""

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The plan to publish (its version is not set), or why the plan in force stays."""

    def stand_in(self, question: Question, current: Plan, view: View) -> Plan | None:
        """A plan that needs no solver, where none answers and the plan in force leaves an application unserved."""

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """The plan in force, changed without a solver; None if it stays as it is."""
