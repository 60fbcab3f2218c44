"""What a worker process is started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tidewise.core.cluster import DeviceType, Limits, Policies
from tidewise.core.errors import ConfigError
from tidewise.core.profile import Profile
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Policy
from tidewise.worker.hosting import SWAPS
from tidewise.worker.rivals import KNOWN

_Named = TypeVar("_Named")
REPLY = 0.002  # seconds from the end of a batch to the caller: encoding, sending, and the router between


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """``devices`` by name. Addresses are HOST:PORT; port 0 of ``listen`` picks a free one.

    ``advertise`` is where routers reach this process, worked out from ``listen`` if None. ``state`` holds fetched model
    files and measured profiles. ``metrics`` is where Prometheus metrics are served, nowhere if None.
    """

    join: str
    devices: dict[str, DeviceType]
    state: Path
    listen: str = "127.0.0.1:0"
    advertise: str | None = None
    policies: Policies = field(default_factory=Policies)
    limits: Limits = field(default_factory=Limits)
    repository: Path | None = None
    profile: Profile = field(default_factory=Profile)
    metrics: tuple[str, int] | None = None

    @property
    def policy(self) -> Policy:
        """The named rules. Raises ConfigError naming an unknown one."""
        return device_policy(self.policies, self.limits, REPLY)

    @property
    def effective(self) -> dict[str, str]:
        """The settings in force, as texts."""
        return {
            "batching": self.policies.batching,
            "variant_choice": self.policies.variant_choice,
            "max_queue": str(self.limits.max_queue),
            "max_message_bytes": str(self.limits.max_message),
        }


def device_policy(policies: Policies, limits: Limits, reserve: float) -> Policy:
    """How devices decide under these names. Raises ConfigError naming an unknown one."""
    return Policy(
        rule=_named(KNOWN, policies.batching, "batching"),
        choice=_named(CHOICES, policies.variant_choice, "variant_choice"),
        max_queue=limits.max_queue,
        reserve=reserve,
        staged=_named(SWAPS, policies.swaps, "swaps"),
    )


def _named(registry: Mapping[str, _Named], name: str, key: str) -> _Named:
    if name not in registry:
        raise ConfigError(f"[policies] {key} must be one of {', '.join(registry)}, not {name!r}")
    return registry[name]
