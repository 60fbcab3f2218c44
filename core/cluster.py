"""The cluster as its file describes it: device types, ports, policies, planner settings, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.capacity import QUEUE_SHARE

EMULATED = "emulated"
SLOWDOWN = "slowdown"
CPU = "cpu"
DEFAULT_BATCH_SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class DeviceType:
    """A kind of hardware with a profile of its own.

    ``provider`` is cpu, slowdown (cpu, but a batch ends at start + ``slowdown`` times its uncontended median, never
    before the computation is done), emulated (no model: sleeps by ``profile`` and answers zeros), or the name of an
    onnxruntime execution provider. ``memory`` is in bytes, None for no limit. ``batch_sizes`` are those profiled.
    Emulated devices load a variant in ``load_factor`` times its profiled load time, and a batch takes its median times
    a normal factor of standard deviation ``noise``.
    """

    name: str
    count: int = 1
    threads: int = 1
    provider: str = CPU
    slowdown: float = 1.0
    memory: int | None = None
    batch_sizes: tuple[int, ...] = DEFAULT_BATCH_SIZES
    profile: str | None = None
    noise: float = 0.0
    load_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the router listens (HTTP, gRPC, metrics) and where the controller does; 0 picks a free port."""

    http: int = 8000
    grpc: int = 8001
    metrics: int = 8002
    controller: int = 8004


@dataclass(frozen=True, slots=True)
class Policies:
    """Names in the policy registries of controller/, router/ and worker/.

    ``swaps`` are staged (the old variant serves until the new one is ready) or blocking (as in published systems).
    """

    allocation: str = "tidewise"
    routing: str = "least-backlog"
    batching: str = "eager"
    variant_choice: str = "anytime"
    swaps: str = "staged"


@dataclass(frozen=True, slots=True)
class PlannerSettings:
    """When to plan, and for how much.

    Plans are made every ``period`` seconds, and at once when some application's one-second rate exceeds
    ``burst_ratio`` times the planned rate plus ``burst_sigma`` standard deviations, but not within ``hold_off``
    seconds of the last plan. Demand is planned as headroom * d + sigma * sqrt(dispersion * d / (SLO / 2)).
    ``solve_limit`` is the wall-clock seconds after which a solve is killed.

    ``swap_cost`` is the accuracy given up, inside the solve, to avoid loading every device once; ``hysteresis`` the
    accuracy that loading every device anew must gain before the plan in force gives way. Both in proportion for
    fewer loads. ``max_min`` lifts the worst application's accuracy before the mean.
    """

    period: float = 10.0
    headroom: float = 1.05
    sigma: float = 1.0
    burst_ratio: float = 1.3
    burst_sigma: float = 3.0
    hold_off: float = 1.0
    solver: str = "auto"
    gap: float = 1e-4
    solve_limit: float = 5.0
    swap_cost: float = 0.0
    hysteresis: float = 0.02
    max_min: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds: bytes of one message, queries in one worker's queue, and the share of its SLO that a batch may take."""

    max_message: int = 64 * 1024 * 1024
    max_queue: int = 512
    batch_share: float = QUEUE_SHARE


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster file, read."""

    device_types: Mapping[str, DeviceType] = field(default_factory=dict)
    ports: Ports = Ports()
    policies: Policies = Policies()
    planner: PlannerSettings = PlannerSettings()
    limits: Limits = Limits()


def default_cluster() -> Cluster:
    """What `tidewise up` starts without a file: four devices of two types that leave a 2-core machine room."""
    types = (
        DeviceType("big", count=2, provider=SLOWDOWN, slowdown=16.0),
        DeviceType("small", count=2, provider=SLOWDOWN, slowdown=32.0),
    )
    return Cluster({one.name: one for one in types})
