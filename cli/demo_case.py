"""The demo's planning case, from which its demand is scaled, and the trace it replays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidewise.controller.case_builder import build_case
from tidewise.controller.kinds import Kind
from tidewise.core.application import Application
from tidewise.core.case import Case
from tidewise.core.cluster import Cluster
from tidewise.core.profile import Profile
from tidewise.core.trace import Trace
from tidewise.traces.arrivals import generate
from tidewise.traces.rates import split, tide


def demo_case(applications: Mapping[str, Application], cluster: Cluster, profile: Profile) -> Case:
    """What the cluster's devices can do, with no demand yet."""
    kinds = {
        one.name: Kind(one.name, one.name, one.memory, frozenset(), tuple(f"{one.name}-{i}" for i in range(one.count)))
        for one in cluster.device_types.values()
        if one.count
    }
    return build_case(applications, kinds, profile, cluster.device_types, {}, {})


def demo_trace(
    applications: Mapping[str, Application],
    mix: Mapping[str, float],
    seconds: int,
    peak: float,
    rng: np.random.Generator,
) -> Trace:
    """Two swells and a spike of ``peak`` queries per second, split by ``mix``, arrivals Poisson within each second."""
    rates = split(tide(seconds, peak, rng), mix)
    return generate(rates, {name: one.slo for name, one in applications.items()}, 1.0, rng)
