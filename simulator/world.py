"""What is simulated: a cluster, its applications and their profile, a trace, and what reality would charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.application import Application
from tidewise.core.cluster import Cluster
from tidewise.core.profile import Profile
from tidewise.core.trace import Trace


@dataclass(frozen=True, slots=True)
class Charges:
    """What reality charges, in seconds unless said otherwise; the same for every policy.

    ``solve`` is from question to plan, None for what the solve takes on this machine (then runs do not repeat).
    ``network`` is one way between any two processes. ``load`` multiplies the profile's load times. ``noise`` is the
    standard deviation of a batch's time, relative to its profiled median; ``stealing`` the fraction of a device's
    speed that a load takes from its batches. ``reply`` is what devices keep in reserve for an answer's way back,
    ``caller`` what a query and its answer take between the caller and the router, there and back.
    """

    solve: float | None = 0.5
    network: float = 0.000_25
    load: float = 1.0
    noise: float = 0.03
    stealing: float = 0.0
    reply: float = 0.0
    caller: float = 0.0


@dataclass(frozen=True, slots=True)
class World:
    """One simulation's input. ``expected`` is the demand (queries per second) the first plan is made for.

    ``warm_up`` is how many seconds before the trace the cluster starts: the first plan is made and loaded.
    """

    cluster: Cluster
    applications: Mapping[str, Application]
    profile: Profile
    trace: Trace
    expected: Mapping[str, float] = field(default_factory=dict)
    charges: Charges = Charges()
    warm_up: float = 30.0


def device_names(cluster: Cluster) -> dict[str, str]:
    """The device type of each device of the cluster, by device name."""
    return {f"{one.name}-{index}": one.name for one in cluster.device_types.values() for index in range(one.count)}
