"""What the planner asks: the view of a moment, made into a case."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidewise.controller.case_builder import Counts, Demanded, build_case, joined
from tidewise.controller.kinds import Barred, Kind, kinds_of
from tidewise.controller.placement import Held, held_counts
from tidewise.controller.registry import Device
from tidewise.controller.spare import reserve, without
from tidewise.controller.triggers import BURST_WINDOW, LEAST_PLANNED, Trigger
from tidewise.core.application import Application
from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.case import Case
from tidewise.core.cluster import DeviceType, PlannerSettings
from tidewise.core.demand import Estimate, planned_demand
from tidewise.core.plan import Plan
from tidewise.core.profile import Profile
from tidewise.core.scenario import ScenarioCase

RECENT = 3.0  # seconds, one of the windows
DEVIATIONS = 2.0


@dataclass(frozen=True, slots=True)
class View:
    """Everything the planner may look at. ``devices`` can be planned for; ``barred`` are (device, digest) pairs.

    ``siblings`` is how many variants a device keeps warm beside the planned one, as memory allows; ``expecting``
    whether the estimates are stated expectations rather than measured; ``batch_share`` the share of its SLO a batch may
    take.
    """

    applications: Mapping[str, Application]
    devices: Mapping[str, Device]
    profile: Profile
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    device_types: Mapping[str, DeviceType] = field(default_factory=dict)
    barred: Barred = frozenset()
    siblings: int = 0
    expecting: bool = False
    batch_share: float = QUEUE_SHARE


@dataclass(frozen=True, slots=True)
class Question:
    """One planning in flight. ``case`` has all devices, ``solve`` is what the solver is asked, ``reserved`` what
    was set aside before, ``settings`` what it is asked under. ``forced``: the answer is published even if it changes
    nothing.
    """

    ticket: int
    trigger: Trigger
    case: Case
    solve: Case | ScenarioCase
    reserved: Counts
    kinds: Mapping[str, Kind]
    demand: Mapping[str, Demanded]
    held: Held
    settings: PlannerSettings
    asked: float = 0.0
    forced: bool = False


Demands = Callable[[str, Application, Trigger, View, PlannerSettings], Demanded]


def ask(
    ticket: int,
    trigger: Trigger,
    view: View,
    plan: Plan,
    settings: PlannerSettings,
    restrict: Callable[[Case], Case],
    demanded: Demands | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Question:
    """The question of this moment. ``restrict`` limits the case; ``demanded`` replaces our own reading of demand,
    ``kinds`` our own grouping of devices.
    """
    kinds = kinds_of(view.devices, view.barred) if kinds is None else kinds
    held = held_by(view, plan)
    read = demanded or demand_of
    demand = {name: read(name, one, trigger, view, settings) for name, one in view.applications.items()}
    counts = held_counts(kinds, held)
    case = restrict(
        build_case(view.applications, kinds, view.profile, view.device_types, demand, counts, view.batch_share)
    )
    reserved = reserve(case)
    return Question(ticket, trigger, case, without(case, reserved), reserved, kinds, demand, held, settings)


def held_by(view: View, plan: Plan) -> dict[str, tuple[str, ...]]:
    """The variants each device has warm, of the present model files, and those it was told to load and may be loading.

    What a device refused is neither.
    """
    assigned = {one.worker: one for one in plan.assignments}
    found: dict[str, tuple[str, ...]] = {}
    for name, device in view.devices.items():
        ready = [
            joined(h.application, h.variant)
            for h in device.report.warm
            if _is_current(view, h.application, h.variant, h.digest)
        ]
        told = assigned.get(name)
        if told is not None and device.report.refused_version < plan.version:
            ready += [joined(told.application, one) for one in (told.ceiling, *told.warm)]
        found[name] = tuple(dict.fromkeys(ready))
    return found


def _is_current(view: View, application: str, variant: str, digest: str) -> bool:
    known = view.applications.get(application)
    found = known.variant(variant) if known is not None else None
    return found is not None and found.digest == digest


def demand_of(name: str, application: Application, trigger: Trigger, view: View, settings: PlannerSettings) -> Demanded:
    """The level, unless something newer passed a test for noise: the last second where that is what made the trigger,
    the last three where they exceed the level by more than two standard deviations.
    """
    estimate = view.estimates.get(name, Estimate())
    rate, recent = estimate.level, estimate.rates[RECENT]
    if recent > rate + DEVIATIONS * math.sqrt(estimate.dispersion * max(rate, LEAST_PLANNED) / RECENT):
        rate = recent
    if name in trigger.applications:
        rate = max(rate, estimate.rates[BURST_WINDOW])
    return Demanded(rate, planned_demand(rate, estimate.dispersion, application.slo, settings, application.headroom))
