"""Ceilings between plans: which variants demand asks for now, given what devices hold warm. No solver."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.ceiling import ceilings
from tidewise.controller.allocation.hull import Rung
from tidewise.controller.case_builder import parted
from tidewise.controller.families import ladder
from tidewise.controller.policies.reserve import shared
from tidewise.controller.question import View
from tidewise.controller.scenarios import SHORT, level
from tidewise.core.case import Case
from tidewise.core.demand import Estimate
from tidewise.core.plan import Assignment

EVERY = 0.25  # seconds
LEAST_RATE = 0.2
SIGMA = 1.0  # deviations above the last seconds' rate that ceilings leave room for

_Class = tuple[str, tuple[str, ...]]  # a kind, and what its devices keep warm


@dataclass(slots=True)
class Steering:
    """One case's capacities, and the kind of each device in it."""

    case: Case
    kind_of: Mapping[str, str]
    _ladders: dict[tuple[str, str, tuple[str, ...]], tuple[Rung, ...]] = field(default_factory=dict)
    _labels: dict[_Class, str] = field(default_factory=dict)

    def steered(self, assignments: tuple[Assignment, ...], view: View, planned: bool = False) -> tuple[Assignment, ...]:
        """The assignments with the ceilings that demand asks for now.

        A device counts for what it serves; ``planned`` counts it for what it is about to serve.
        """
        kind_of = {name: kind for name, kind in self.kind_of.items() if name in view.devices}
        holding: dict[str, dict[_Class, int]] = defaultdict(lambda: defaultdict(int))
        for one in assignments:
            kind = kind_of.get(one.worker)
            if kind is not None:
                serves = one.application if planned else serves_now(view, one.worker)
                holding[serves][kind, one.warm if serves == one.application else ()] += 1
        known = self.case.applications
        aims = {name: self._aims(name, classes, view) for name, classes in holding.items() if name in known}
        aimed = tuple(
            _aimed(one, aims.get(one.application, {}).get(self._label((kind_of.get(one.worker, ""), one.warm))))
            for one in assignments
        )
        rates = {name: _rate(one, view.applications[name].slo) for name, one in view.estimates.items()}
        return tuple(shared(aimed, self.case, kind_of, rates))

    def _aims(self, name: str, classes: Mapping[_Class, int], view: View) -> dict[str, str]:
        """The ceiling of each class of alike devices; those on their way to another family count whole."""
        ladders = {self._label(one): self._ladder(one[0], name, one[1]) for one in classes}
        rate = _rate(view.estimates.get(name, Estimate()), view.applications[name].slo)
        return ceilings({self._label(one): count for one, count in classes.items()}, ladders, rate)

    def _label(self, one: _Class) -> str:
        """The class as a text; made once."""
        known = self._labels.get(one)
        if known is None:
            known = self._labels[one] = str(one)
        return known

    def _ladder(self, kind: str, name: str, warm: tuple[str, ...]) -> tuple[Rung, ...]:
        """The hull of what is warm, of all if nothing is; made once."""
        known = self._ladders.get((kind, name, warm))
        if known is None:
            known = self._ladders[kind, name, warm] = ladder(self.case, kind, name, warm or None)
        return known


def serves_now(view: View, worker: str) -> str:
    """The application a device serves now, "" if none."""
    device = view.devices.get(worker)
    return device.report.warm[0].application if device is not None and device.report.warm else ""


def _aimed(one: Assignment, aim: str | None) -> Assignment:
    ceiling = one.ceiling if aim is None else parted(aim)[1]
    return one if ceiling == one.ceiling else replace(one, ceiling=ceiling)


def _rate(estimate: Estimate, slo: float) -> float:
    """The rate the variants must carry: the last seconds', and room for its noise."""
    rate = estimate.rates[SHORT] or level(estimate)
    return rate + SIGMA * math.sqrt(max(rate, LEAST_RATE) / (slo / 2))
