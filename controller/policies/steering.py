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
    _ladders: dict[tuple[str, str], tuple[Rung, ...]] = field(default_factory=dict)  # by class and application
    _labels: dict[_Class, str] = field(default_factory=dict)
    _classes: dict[str, _Class] = field(default_factory=dict)  # by label

    def steered(self, assignments: tuple[Assignment, ...], view: View, planned: bool = False) -> tuple[Assignment, ...]:
        """The assignments with the ceilings that demand asks for now.

        A device counts for what it serves; ``planned`` counts it for what it is about to serve.
        """
        kind_of = {name: kind for name, kind in self.kind_of.items() if name in view.devices}
        labels = [self._label(kind_of.get(one.worker, ""), one.warm) for one in assignments]
        holding: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for one, label in zip(assignments, labels, strict=True):
            if one.worker in kind_of:
                serves = one.application if planned else serves_now(view, one.worker)
                mine = serves == one.application
                holding[serves][label if mine else self._label(kind_of[one.worker], ())] += 1
        known = self.case.applications.keys() & view.applications.keys()  # what was removed some may serve still
        aims = {name: self._aims(name, classes, view) for name, classes in holding.items() if name in known}
        aimed = tuple(
            _aimed(one, aims.get(one.application, {}).get(label))
            for one, label in zip(assignments, labels, strict=True)
        )
        rates = {name: _rate(one, view.applications[name].slo) for name, one in view.estimates.items()}
        return tuple(shared(aimed, self.case, kind_of, rates))

    def _aims(self, name: str, classes: Mapping[str, int], view: View) -> dict[str, str]:
        """The ceiling of each class of alike devices; those on their way to another family count whole."""
        ladders = {label: self._ladder(label, name) for label in classes}
        return ceilings(classes, ladders, _rate(view.estimates.get(name, Estimate()), view.applications[name].slo))

    def _label(self, kind: str, warm: tuple[str, ...]) -> str:
        """The class of devices of a kind that keep this warm, as a text."""
        known = self._labels.get((kind, warm))
        if known is None:
            known = self._labels[kind, warm] = str((kind, warm))
            self._classes[known] = kind, warm
        return known

    def _ladder(self, label: str, name: str) -> tuple[Rung, ...]:
        """The hull of what the class keeps warm, of all if that is nothing; made once."""
        known = self._ladders.get((label, name))
        if known is None:
            kind, warm = self._classes[label]
            known = self._ladders[label, name] = ladder(self.case, kind, name, warm or None)
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
