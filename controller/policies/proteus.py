"""Proteus (ASPLOS 2024) as the paper describes it: an exact plan of counts for the recent mean of each second's demand.

Every new solution is applied; there is no hysteresis. Its margin gives way where it cannot be served.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidewise.controller.answer import judge
from tidewise.controller.case_builder import Demanded
from tidewise.controller.policies.counts import CountPolicy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.question import Question, View, ask
from tidewise.controller.triggers import BURST_WINDOW, Trigger
from tidewise.core.application import Application
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import Plan
from tidewise.core.solution import Solution

SECOND = 1.0
CENTRE_OF_MASS = 1.6  # seconds, of the exponentially weighted mean of per-second counts
WEIGHT = 1 / (1 + CENTRE_OF_MASS)


@dataclass(slots=True)
class ProteusPolicy(CountPolicy):
    """``sudden`` says whether bursts are answered at once, as the paper has it, or not."""

    _means: dict[str, float] = field(default_factory=dict)
    _counted: float = float("-inf")

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """Counts for the mean; for the last second where that made the trigger."""
        return ask(ticket, trigger, view, plan, settings, self.restrict, self._demanded)

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The counts, whatever they change."""
        assert isinstance(answer, Solution), "counts are answered with a solution"
        return judge(question, answer, current, view, hysteresis=False)

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """Once a second the means take in the last second; the plan stays."""
        if now >= self._counted + SECOND:
            self._counted = now
            for name, one in view.estimates.items():
                rate = one.rates[BURST_WINDOW]
                before = self._means.get(name, rate)
                self._means[name] = before + WEIGHT * (rate - before)
        return None

    def _demanded(
        self, name: str, application: Application, trigger: Trigger, view: View, settings: PlannerSettings
    ) -> Demanded:
        estimate = view.estimates[name]
        rate = estimate.level if view.expecting else self._means.get(name, estimate.level)
        if name in trigger.applications:
            rate = max(rate, estimate.rates[BURST_WINDOW])
        return Demanded(rate, settings.headroom * rate)
