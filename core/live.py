"""One moment of a running cluster, as a live view shows it. Rates are queries per second, durations seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LiveApplication:
    """One application now; what was not measured is None.

    ``history`` holds its demand over the last seconds, oldest first. ``accuracy`` is the effective accuracy of recent
    answers, ``normalised`` the same against its best variant. ``violations`` is the recent violation ratio, ``served``
    the fraction of its planned demand that the plan in force serves.
    """

    name: str
    slo: float
    demand: float
    history: tuple[float, ...] = ()
    planned: float | None = None
    accuracy: float | None = None
    normalised: float | None = None
    violations: float | None = None
    latency_p50: float | None = None
    latency_p99: float | None = None
    served: float = 1.0


@dataclass(frozen=True, slots=True)
class LiveWorker:
    """One device now: what it hosts and is doing; ``depth`` counts from 0, its application's best variant, up.

    ``share`` is the fraction of its application's queries planned for it. ``following`` is
    whether it has the plan in force; ``note`` is what is out of the ordinary with it, "" if nothing.
    """

    name: str
    device_type: str
    application: str = ""
    variant: str = ""
    depth: int = 0
    queued: int = 0
    busy: bool = False
    connected: bool = True
    share: float | None = None
    following: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class LiveRouter:
    """One router now; ``current`` says whether it has the newest routing table."""

    address: str
    current: bool = True


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """Everything the view shows at one moment.

    ``total`` is the length of the trace in seconds and None where none is replayed. ``outcomes``, ``violations`` and
    ``normalised`` (effective accuracy) are over all queries so far. ``phi`` is the fraction of planned demand served.
    ``plan_detail`` says how the plan was found. Where a trace is replayed, ``routers`` are not looked at.
    """

    title: str
    elapsed: float
    total: float | None = None
    plan_version: int = 0
    plan_trigger: str = ""
    plan_age: float | None = None
    plan_detail: str = ""
    phi: float = 1.0
    applications: tuple[LiveApplication, ...] = ()
    workers: tuple[LiveWorker, ...] = ()
    routers: tuple[LiveRouter, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)
    normalised: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def ended(self) -> int:
        """How many queries have ended."""
        return sum(self.outcomes.values())
