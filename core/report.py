"""What workers and routers tell the controller, and what it orders workers to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.plan import Assignment
from tidewise.core.profile import Profile
from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import Tally


@dataclass(frozen=True, slots=True)
class Holding:
    """One variant loaded, checked and ready on a device; ``digest`` is the SHA-256 of the model file it came from."""

    application: str
    variant: str
    digest: str


@dataclass(frozen=True, slots=True)
class Unprofiled:
    """A variant that a device was asked to profile and could not, and why."""

    application: str
    variant: str
    reason: str


@dataclass(slots=True)  # never changed, but not frozen: many are made, and freezing takes three times as long
class DeviceReport:
    """One device as its worker process sees it.

    ``memory`` is in bytes, None for no limit. ``warm`` lists what is ready, most accurate first. ``refused_version``
    is the newest plan version it could not follow, 0 if none. Rates are per second over the last second;
    ``served`` counts answers since the start by "application/variant"; ``stretch`` is how many times its profile a
    batch takes lately, 1 where the profile holds. ``unprofiled`` are variants it tried to profile in vain.
    """

    name: str
    device_type: str
    memory: int | None = None
    warm: tuple[Holding, ...] = ()
    applied_version: int = 0
    refused_version: int = 0
    refused_reason: str = ""
    queued: int = 0
    busy: bool = False
    arrival_rate: float = 0.0
    violation_rate: float = 0.0
    served: Mapping[str, int] = field(default_factory=dict)
    draining: bool = False
    stretch: float = 1.0
    unprofiled: tuple[Unprofiled, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """One worker process: all its devices, and profiles of their types where something was measured anew.

    ``process`` is unique for each start; ``address`` (HOST:PORT) is where routers reach its devices.
    """

    process: str
    address: str
    devices: tuple[DeviceReport, ...]
    profiles: tuple[Profile, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterReport:
    """One router: the newest snapshot it applied, and its tallies since the report before."""

    router: str
    address: str
    applied_revision: int = 0
    tallies: tuple[Tally, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """Variants of an application that this device is asked to profile."""

    device: str
    application: str
    variants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """A complete statement of what one worker process is to do; a device without an assignment hosts nothing.

    ``profile`` is what others measured on its device types and it has not reported to know.
    """

    plan_version: int
    applications: tuple[ApplicationSource, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    measures: tuple[MeasureRequest, ...] = ()
    profile: Profile = field(default_factory=Profile)
