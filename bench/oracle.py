"""A static placement that knows the whole trace: the best families for all of its true windows, kept throughout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tidewise.controller.policies.tidewise import ScenarioPolicy
from tidewise.controller.question import Question, View
from tidewise.controller.triggers import Trigger
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import Plan
from tidewise.core.scenario import ScenarioCase
from tidewise.core.trace import Trace

WINDOW = 10.0  # seconds
MARGIN = 1.05  # and a deviation on top of each window's rate, as for every planner


@dataclass(slots=True)
class Oracle(ScenarioPolicy):
    """The scenario plan whose scenarios are the trace's own windows, by queries; ceilings still follow."""

    static: bool = True
    trace: Trace = field(default_factory=lambda: Trace.of([], [], 1.0))

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """Every true window."""
        question = ScenarioPolicy.ask(self, ticket, trigger, view, plan, settings)
        assert isinstance(question.solve, ScenarioCase)
        rates = _windows(self.trace)
        slos = np.array([view.applications[name].slo for name in self.trace.names])
        planned = MARGIN * (rates + np.sqrt(rates / (slos / 2)))
        demands = tuple(dict(zip(self.trace.names, row.tolist(), strict=True)) for row in planned)
        return replace(question, solve=replace(question.solve, demands=demands, weights=tuple(rates.sum(1).tolist())))


def _windows(trace: Trace) -> np.ndarray:
    """Rates by window and application."""
    counts = np.zeros((math.floor(trace.duration / WINDOW) + 1, len(trace.names)))
    np.add.at(counts, ((trace.arrival // WINDOW).astype(int), trace.application), 1 / WINDOW)
    return counts[counts.sum(1) > 0]
