"""Whether what a cluster file names is registered, and acts; every registry lives with the part that decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tidewise.controller.allocation.strategy import METHODS
from tidewise.controller.policies import POLICIES as ALLOCATIONS
from tidewise.controller.policies.presets import PRESETS
from tidewise.controller.policies.tidewise import ScenarioPolicy
from tidewise.core.cluster import Cluster
from tidewise.core.errors import ConfigError
from tidewise.router.choice import CHOICES as ROUTINGS
from tidewise.worker.choice import CHOICES as VARIANT_CHOICES
from tidewise.worker.hosting import SWAPS
from tidewise.worker.rivals import KNOWN as BATCHINGS

REGISTRIES = {
    "allocation": ALLOCATIONS,
    "routing": ROUTINGS,
    "batching": BATCHINGS,
    "variant_choice": VARIANT_CHOICES,
    "swaps": SWAPS,
}


def policy_faults(cluster: Cluster) -> Iterator[str]:
    """One sentence for each policy that nobody registered."""
    for key, known in REGISTRIES.items():
        name = getattr(cluster.policies, key)
        if name not in known:
            yield f"{key} {name!r} is unknown; known: {', '.join(sorted(known))}"


def planner_faults(cluster: Cluster) -> Iterator[str]:
    """One sentence for each planner setting that nobody would act on."""
    planner, name = cluster.planner, cluster.policies.allocation
    if planner.solver not in METHODS:
        yield f"solver {planner.solver!r} is unknown; known: {', '.join(METHODS)}"
    if name not in ALLOCATIONS or not isinstance(ALLOCATIONS[name](), ScenarioPolicy):
        return
    if planner.max_min:
        yield (
            f"max_min acts on allocation policies that plan counts, and allocation is {name!r}; leave it out, or set"
            ' allocation = "ilp"'
        )


def under(cluster: Cluster, allocation: str | None) -> Cluster:
    """The cluster under this allocation policy, or its own if None. Raises ConfigError if one of its is unknown.

    Rivals that know no siblings are not given any; batching and swaps stay those of the cluster.
    """
    if allocation is not None:
        known = PRESETS.get(allocation)
        choice = cluster.policies.variant_choice if known is None else known.policies.variant_choice
        changed = replace(cluster.policies, allocation=allocation, variant_choice=choice)
        cluster = replace(cluster, policies=changed)
    for fault in (*policy_faults(cluster), *planner_faults(cluster)):
        raise ConfigError(fault)
    return cluster
