"""The clairvoyant bound: what a planner could reach who knew each second's demand and swapped for free.

Each second is a linear program over device time: no queue, no deadline missed, whole devices split at will. No policy
can be better than that with these profiles, under the rule that gives capacities.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidewise.controller.allocation.linear import INFINITY, LinearModel
from tidewise.controller.case_builder import build_case
from tidewise.controller.kinds import Kind
from tidewise.core.case import Case
from tidewise.core.trace import Trace
from tidewise.simulator.world import World

SECOND = 1.0


def clairvoyant_bound(world: World) -> float:
    """On-time accuracy per arrival, a fraction of 1; 1 without arrivals."""
    case = _case(world)
    counts = _counts(world.trace)
    reached = sum(_best(case, dict(zip(world.trace.names, row.tolist(), strict=True))) for row in counts)
    total = float(counts.sum())
    return reached / total if total else 1.0


def _counts(trace: Trace) -> np.ndarray:
    """Arrivals by second and application."""
    seconds = int(trace.duration // SECOND) + 1
    counts = np.zeros((seconds, len(trace.names)))
    np.add.at(counts, ((trace.arrival // SECOND).astype(int), trace.application), 1)
    return counts


def _case(world: World) -> Case:
    types = world.cluster.device_types
    kinds = {
        name: Kind(name, name, one.memory, frozenset(), tuple(f"{name}-{n}" for n in range(one.count)))
        for name, one in types.items()
    }
    share = world.cluster.limits.batch_share
    return build_case(world.applications, kinds, world.profile, types, {}, {}, share)


def _best(case: Case, demand: Mapping[str, float]) -> float:
    """Accuracy-weighted queries per second the devices can serve of this demand at best."""
    pairs = [(kind, name, rate) for kind, row in case.capacity.items() for name, rate in row.items()]
    kinds, applications = list(case.device_types), list(case.applications)
    rate = np.array([one for _, _, one in pairs])
    accuracy = np.array([case.variants[name].accuracy for _, name, _ in pairs])
    model = LinearModel()
    used = model.columns(len(pairs), cost=rate * accuracy)
    within = model.rows(len(kinds), -INFINITY, np.array([case.device_types[kind] for kind in kinds], float))
    model.put(within[[kinds.index(kind) for kind, _, _ in pairs]], used, 1.0)
    served = model.rows(len(applications), -INFINITY, np.array([demand.get(name, 0.0) for name in applications]))
    places = [applications.index(case.variants[name].application) for _, name, _ in pairs]
    model.put(served[places], used, rate)
    return float(model.solve().objective)
