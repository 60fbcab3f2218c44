"""Proteus without assignment: the plan's shares are thrown away, and every device of an application gets as much."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.policies.proteus import ProteusPolicy
from tidewise.controller.question import Question, View
from tidewise.core.plan import Plan


@dataclass(slots=True)
class UniformPolicy(ProteusPolicy):
    """The exact plan with uniform shares."""

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The counts, shared evenly."""
        verdict = ProteusPolicy.judge(self, question, answer, current, view)
        if not isinstance(verdict, Plan):
            return verdict
        number = Counter(one.application for one in verdict.assignments)
        return replace(
            verdict, assignments=tuple(replace(one, share=1 / number[one.application]) for one in verdict.assignments)
        )
