"""What a policy's name stands for in a comparison: an allocation with the worker and timing it was published with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.cluster import Cluster, PlannerSettings, Policies
from tidewise.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Preset:
    """``informed`` policies place once, for the mean demand of the whole trace, which a real planner cannot know.

    ``batch_share`` is the share of its SLO that a batch may take: half in the papers.
    """

    policies: Policies
    planner: PlannerSettings = field(default_factory=PlannerSettings)
    informed: bool = False
    batch_share: float = 0.5


OURS = Policies()
OUR_TIMING = PlannerSettings()
PAPER = PlannerSettings(period=30.0, headroom=1.05, sigma=0.0)
PLANNED = Policies(variant_choice="planned")
PUBLISHED = replace(PLANNED, batching="published", swaps="blocking")
MENDED = replace(PLANNED, batching="deadline")
AIMD = replace(PLANNED, batching="aimd")


def _ours(**changes: str) -> Preset:
    return Preset(replace(OURS, **changes), OUR_TIMING, batch_share=QUEUE_SHARE)


PRESETS: Mapping[str, Preset] = {
    "tidewise": _ours(),
    "proteus": Preset(replace(PUBLISHED, allocation="proteus"), PAPER),
    "proteus-periodic": Preset(replace(PUBLISHED, allocation="proteus-periodic"), PAPER),
    "proteus-mended": Preset(replace(MENDED, allocation="proteus"), PAPER),
    "infaas": Preset(replace(PUBLISHED, allocation="infaas"), PAPER),
    "sommelier": Preset(replace(PUBLISHED, allocation="sommelier"), replace(PAPER, headroom=1.5), informed=True),
    "clipper-ha": Preset(replace(AIMD, allocation="clipper-ha"), PAPER, informed=True),
    "clipper-ht": Preset(replace(AIMD, allocation="clipper-ht"), PAPER, informed=True),
    "anytime": Preset(Policies(allocation="anytime", variant_choice="anytime"), PAPER, informed=True),
    "anytime-backlog": Preset(Policies(allocation="anytime-backlog", variant_choice="anytime"), PAPER, informed=True),
    "without-selection": Preset(replace(MENDED, allocation="without-selection"), PAPER),
    "without-placement": Preset(replace(MENDED, allocation="sommelier"), PAPER, informed=True),
    "without-assignment": Preset(replace(MENDED, allocation="without-assignment"), PAPER),
    "without-batching": Preset(replace(MENDED, allocation="proteus", batching="single"), PAPER),
    "tidewise-planned": _ours(variant_choice="planned"),
    "tidewise-blocking": _ours(swaps="blocking"),
    "tidewise-single": _ours(batching="single"),
    "tidewise-random": _ours(routing="random"),
    "tidewise-cycle": _ours(routing="cycle"),
    "tidewise-one-scenario": _ours(allocation="one-scenario"),
    "tidewise-unsteered": _ours(allocation="unsteered"),
    "tidewise-counts": _ours(allocation="ilp"),
}


def preset(name: str) -> Preset:
    """The preset of this name. Raises ConfigError."""
    if name not in PRESETS:
        raise ConfigError(f"there is no policy {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]


def with_our_worker(one: Preset) -> Preset:
    """The same plan on our worker: run when idle, early drop, staged swaps, padding; our timing where it is slower."""
    worker = replace(one.policies, batching=OURS.batching, swaps=OURS.swaps)
    timing = replace(one.planner, period=min(one.planner.period, OUR_TIMING.period))
    return replace(one, policies=worker, planner=timing, batch_share=QUEUE_SHARE)


def under(cluster: Cluster, one: Preset) -> Cluster:
    """The cluster under this policy."""
    limits = replace(cluster.limits, batch_share=one.batch_share)
    return replace(cluster, policies=one.policies, planner=one.planner, limits=limits)
