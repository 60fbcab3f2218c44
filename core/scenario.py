"""A planning case with several demands it must be good for, and its answer in families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.case import CaseVariant

Families = Mapping[str, Mapping[str, int]]
"""How many devices of each kind hold each application's family, by kind and application."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One demand (queries per second by application) with the weight it has in the choice."""

    weight: float
    demand: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ScenarioCase:
    """Which family each device should hold warm, so that all scenarios are served well by some choice of variants.

    ``current`` is what devices hold now. ``fairness`` is what the worst-served fraction is worth beside the mean
    accuracy, ``swap_cost`` the objective given up for each device that must load another family. ``floor`` bounds the
    mean accuracy of an application's served queries.
    """

    device_types: Mapping[str, int]
    variants: Mapping[str, CaseVariant]
    capacity: Mapping[str, Mapping[str, float]]
    scenarios: tuple[Scenario, ...]
    current: Families = field(default_factory=dict)
    weight: Mapping[str, float] = field(default_factory=dict)
    floor: Mapping[str, float] = field(default_factory=dict)
    fairness: float = 0.1
    swap_cost: float = 0.002


@dataclass(frozen=True, slots=True)
class FamilyPlan:
    """The answer. ``busy`` is the device time each variant gets in the mean over the scenarios, by kind and variant.

    ``served`` is the fraction of each application's demand that is carried in the mean; ``accuracy`` the objective's
    accuracy part. ``bound`` is certified. ``wall`` and ``cpu`` are seconds.
    """

    counts: Families
    busy: Mapping[str, Mapping[str, float]]
    served: Mapping[str, float]
    objective: float
    bound: float
    method: str = "scenario"
    wall: float = 0.0
    cpu: float = 0.0
