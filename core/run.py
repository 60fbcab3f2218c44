"""A run: everything kept of one replay of a trace against a cluster; reports are drawn from it alone.

All times are seconds since the start of the run, the moment the trace's second 0 was due.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.plan import Plan
from tidewise.core.record import QueryRecord


@dataclass(frozen=True, slots=True)
class RunApplication:
    """What a run knows of an application: its SLO and the accuracy of each variant, most accurate first."""

    name: str
    slo: float
    variants: Mapping[str, float] = field(default_factory=dict)

    @property
    def best_accuracy(self) -> float:
        """Accuracy of the most accurate variant; 1 if none was measured, so that ratios stay defined."""
        return max(self.variants.values(), default=1.0)


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A plan and when it was published; negative for plans made before the run began."""

    at: float
    plan: Plan


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """What one worker reported at one moment.

    ``application`` and ``variant`` (the most accurate it may use) are empty while it hosts nothing.
    """

    at: float
    worker: str
    device_type: str
    application: str = ""
    variant: str = ""
    plan_version: int = 0
    queued: int = 0
    busy: bool = False
    connected: bool = True


@dataclass(frozen=True, slots=True)
class MachineSample:
    """Share of all the machine's CPU cores that was busy in the period ending ``at``, 0 to 1."""

    at: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Run:
    """One replay of a trace.

    ``arrivals`` is what the trace asked for within ``seconds``; ``records`` what became of it, one a query. The two
    should agree, and a report says so where they do not. ``policy`` is the allocation policy's name, ``trace`` says
    in a few words what was replayed, ``target`` where it went, ``device_types`` counts the devices of each type,
    ``cores`` those of the machine.
    """

    name: str
    seconds: float
    arrivals: int
    applications: Mapping[str, RunApplication]
    records: tuple[QueryRecord, ...] = ()
    plans: tuple[PlanChange, ...] = ()
    workers: tuple[WorkerSample, ...] = ()
    machine: tuple[MachineSample, ...] = ()
    policy: str = ""
    trace: str = ""
    target: str = ""
    device_types: Mapping[str, int] = field(default_factory=dict)
    cores: int = 0
    started: str = ""
    version: str = ""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> dict[str, float]:
        """Each application's best accuracy, as core.scorecard takes it."""
        return {name: one.best_accuracy for name, one in self.applications.items()}
