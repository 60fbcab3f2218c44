"""The planning case of a moment: applications, profiles, devices and demand in the planner's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidewise.controller.kinds import Kind
from tidewise.core.application import Application, Variant
from tidewise.core.capacity import QUEUE_SHARE, capacity
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.cluster import DeviceType
from tidewise.core.profile import Profile, VariantProfile

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Demanded:
    """Queries per second of one application: as estimated, and with the margin planned for."""

    rate: float = 0.0
    planned: float = 0.0

    def at(self, margin: float) -> float:
        """The demand with this fraction of the margin (0 none, 1 all)."""
        return self.rate + margin * (self.planned - self.rate)


def joined(application: str, variant: str) -> str:
    """The name of a variant in a case: unique over all applications."""
    return f"{application}/{variant}"


def parted(name: str) -> tuple[str, str]:
    """(application, variant) of a name made by ``joined``."""
    application, _, variant = name.partition("/")
    return application, variant


def build_case(
    applications: Mapping[str, Application],
    kinds: Mapping[str, Kind],
    profile: Profile,
    device_types: Mapping[str, DeviceType],
    demand: Mapping[str, Demanded],
    current: Counts,
    share: float = QUEUE_SHARE,
) -> Case:
    """The case. Accuracies are normalised to each application's best variant, and so are accuracy floors.

    Applications no device can answer in time are left out: they would drag everyone's served fraction to 0.
    """
    rates = {kind.name: _capacities(kind, applications, profile, device_types, share) for kind in kinds.values()}
    able = {parted(name)[0] for row in rates.values() for name in row}
    asked = {name: one for name, one in applications.items() if name in able}
    variants = {joined(a.name, v.name): _variant(a, v) for a in asked.values() for v in a.variants if v.accuracy}
    return Case(
        device_types={kind.name: len(kind.devices) for kind in kinds.values()},
        applications={name: _application(one, demand.get(name, Demanded())) for name, one in asked.items()},
        variants=variants,
        capacity=rates,
        current={
            kind: {name: n for name, n in row.items() if name in variants}
            for kind, row in current.items()
            if kind in kinds
        },
    )


def usable_profile(profile: Profile, application: Application, variant: Variant, kind: str) -> VariantProfile | None:
    """What was measured of the variant on a device type; of an older model file by this name if of no newer one."""
    return profile.get(application.name, variant.name, kind)


def measured(profile: Profile, application: Application, variant: Variant, device_type: str) -> bool:
    """Whether the profile holds this very model file (or one whose digest was not recorded)."""
    entry = profile.get(application.name, variant.name, device_type)
    return entry is not None and entry.digest in ("", variant.digest)


def _capacities(
    kind: Kind,
    applications: Mapping[str, Application],
    profile: Profile,
    device_types: Mapping[str, DeviceType],
    share: float,
) -> dict[str, float]:
    known = device_types.get(kind.device_type)
    found = {}
    for application in applications.values():
        for variant in application.variants:
            entry = usable_profile(profile, application, variant, kind.device_type)
            if entry is None or not variant.accuracy or variant.digest in kind.barred:
                continue
            sizes = variant.batch_sizes or _sizes(known)
            rate = capacity(entry.stretched(kind.stretch), application.slo, kind.memory, sizes, share).rate
            if rate > 0:
                found[joined(application.name, variant.name)] = rate
    return found


def _sizes(device_type: DeviceType | None) -> tuple[int, ...]:
    """Every batch size up to the largest the device type runs; nothing (no limit) for a type not in the file."""
    return tuple(range(1, device_type.batch_sizes[-1] + 1)) if device_type is not None else ()


def _application(application: Application, demand: Demanded) -> CaseApplication:
    return CaseApplication(
        demand=demand.rate,
        weight=application.weight,
        min_accuracy=min(1.0, application.min_accuracy / application.best_accuracy()),
        min_replicas=application.min_replicas,
        headroom=max(1.0, demand.planned / demand.rate) if demand.rate > 0 else 1.0,
    )


def _variant(application: Application, variant: Variant) -> CaseVariant:
    return CaseVariant(application.name, (variant.accuracy or 0.0) / application.best_accuracy())
