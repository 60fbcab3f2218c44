"""The Anytime planner: no plan of the cluster beyond a first placement; every variant is warm, devices choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidewise.controller.case_builder import joined
from tidewise.controller.policies.counts import CountPolicy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.question import Question, View
from tidewise.core.plan import Assignment, Plan


@dataclass(slots=True)
class AnytimePolicy(CountPolicy):
    """The exact plan's placement, with every variant that the device can run in time kept warm."""

    static: bool = True
    sudden: bool = False

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The placement, all variants warm."""
        verdict = CountPolicy.judge(self, question, answer, current, view)
        if not isinstance(verdict, Plan):
            return verdict
        return replace(verdict, assignments=tuple(_all_warm(question, verdict, view)))


def _all_warm(question: Question, plan: Plan, view: View) -> Iterator[Assignment]:
    kind_of = {device: kind.name for kind in question.kinds.values() for device in kind.devices}
    for one in plan.assignments:
        row = question.case.capacity[kind_of[one.worker]]
        family = view.applications[one.application].variants
        able = [v for v in family if row.get(joined(one.application, v.name), 0.0) > 0]
        names = tuple(v.name for v in sorted(able, key=lambda v: (-(v.accuracy or 0.0), v.version)))
        fastest = max(row[joined(one.application, name)] for name in names)
        yield replace(one, warm=names, ceiling=names[0], capacity=fastest)
