"""Which measurements a cluster needs, and which of them are already there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import CPU, EMULATED, SLOWDOWN, DeviceType
from tidewise.core.errors import ProfileError
from tidewise.core.profile import Profile, VariantProfile
from tidewise.worker.engine.choose import engine_name, session_options
from tidewise.worker.engine.loading import batch_sizes
from tidewise.worker.profiling.effort import EFFORTS, Effort
from tidewise.worker.profiling.subject import Subject


@dataclass(frozen=True, slots=True)
class Task:
    """One variant to be measured once, on ``base``, for all the device types that play on it."""

    subject: Subject
    variant: Variant
    base: DeviceType
    targets: tuple[DeviceType, ...]

    @property
    def label(self) -> str:
        """What is being measured, for a person."""
        return f"{self.subject.application.name} {self.variant.name} on {', '.join(one.name for one in self.targets)}"


def missing_tasks(
    subjects: Iterable[Subject], device_types: Iterable[DeviceType], known: Profile, effort: Effort
) -> list[Task]:
    """What must be measured: every variant on every real device type, less what ``known`` holds already.

    Slowed types share the measurement of the processor they play on.
    """
    real = [one for one in device_types if one.provider != EMULATED]
    return [
        Task(subject, variant, base, targets)
        for subject in subjects
        for base, group in _by_base(real).items()
        for variant in subject.application.variants
        if (targets := _unmeasured(subject.application, variant, group, known, effort))
    ]


def _by_base(device_types: Iterable[DeviceType]) -> Mapping[DeviceType, list[DeviceType]]:
    """Device types by the one that is really measured: same provider, threads and batch sizes."""
    groups: dict[DeviceType, list[DeviceType]] = {}
    for one in device_types:
        provider = CPU if one.provider == SLOWDOWN else one.provider
        base = DeviceType("base", threads=one.threads, provider=provider, batch_sizes=one.batch_sizes)
        groups.setdefault(base, []).append(one)
    return groups


def _unmeasured(
    application: Application, variant: Variant, group: Iterable[DeviceType], known: Profile, effort: Effort
) -> tuple[DeviceType, ...]:
    def measured(device_type: DeviceType) -> bool:
        entry = known.get(application.name, variant.name, device_type.name)
        return entry is not None and still_holds(entry, variant, device_type, effort)

    return tuple(one for one in group if not measured(one))


def still_holds(entry: VariantProfile, variant: Variant, device_type: DeviceType, effort: Effort) -> bool:
    """Whether an entry was measured with this model file, these settings and sizes, and at least this effort."""
    sizes = tuple(one.size for one in entry.batches)
    efforts = EFFORTS[EFFORTS.index(effort) :]
    settings = [conditions(device_type, one) for one in efforts]
    same_file = entry.digest == variant.digest and sizes == batch_sizes(device_type, variant)
    return same_file and any(note in settings for note in entry.notes)


def conditions(device_type: DeviceType, effort: Effort) -> str:
    """The note that says how an entry was measured."""
    options = session_options(device_type)
    slowed = f", slowed {device_type.slowdown:g} times" if device_type.provider == SLOWDOWN else ""
    engine = engine_name(options.provider)
    return f"{effort.name}: {engine} engine, {options.provider}, threads {options.threads}{slowed}"


def emulated_entries(
    subjects: Iterable[Subject], device_types: Iterable[DeviceType], files: Mapping[str, Profile]
) -> Iterator[VariantProfile]:
    """The entries of emulated device types, which nothing can measure; ``files`` are their profiles by path.

    Raises ProfileError naming an entry that is missing: nothing is invented.
    """
    types = [(one, one.profile) for one in device_types if one.provider == EMULATED]
    for subject in subjects:
        for device_type, path in types:
            for variant in subject.application.variants:
                found = files[path or ""].get(subject.application.name, variant.name, device_type.name)
                if found is None:
                    raise ProfileError(
                        f"{path} has no entry for variant {variant.name!r} of {subject.application.name!r} on device"
                        f" type {device_type.name!r}; an emulated device needs one for every variant"
                    )
                yield replace(found, digest=variant.digest)
