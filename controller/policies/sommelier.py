"""Sommelier: which application a device serves is settled by its first plan; after that only its variant is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidewise.controller.case_builder import parted
from tidewise.controller.kinds import Kind, kinds_of
from tidewise.controller.policies.proteus import ProteusPolicy
from tidewise.controller.question import Question, View, ask
from tidewise.controller.triggers import Trigger
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.plan import Plan

BETWEEN = "@"  # in the name of a kind whose devices all serve one application


@dataclass(slots=True)
class SommelierPolicy(ProteusPolicy):
    """The exact plan over kinds split by the application their devices serve: Proteus without placement."""

    def ask(self, ticket: int, trigger: Trigger, view: View, plan: Plan, settings: PlannerSettings) -> Question:
        """The first question is any; the later ones leave every device its application."""
        kinds = kinds_of(view.devices, view.barred)
        settled = bool(plan.assignments)  # a plan of nothing, made before anything was measured, settles nothing
        if settled:
            kinds = _split(kinds, {one.worker: one.application for one in plan.assignments})
        question = ask(ticket, trigger, view, plan, settings, _own_variants, self._demanded, kinds)
        return replace(question, reserved={}, solve=question.case) if settled else question


def _split(kinds: dict[str, Kind], serves: dict[str, str]) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for kind in kinds.values():
        for application in sorted({serves.get(device, "") for device in kind.devices}):
            name = f"{kind.name}{BETWEEN}{application}"
            mine = tuple(device for device in kind.devices if serves.get(device, "") == application)
            found[name] = replace(kind, name=name, devices=mine)
    return found


def _own_variants(case: Case) -> Case:
    """Every split kind runs the variants of its application only."""
    capacity = {
        kind: {
            name: rate
            for name, rate in row.items()
            if BETWEEN not in kind or parted(name)[0] == kind.partition(BETWEEN)[2]
        }
        for kind, row in case.capacity.items()
    }
    return replace(case, capacity=capacity)
