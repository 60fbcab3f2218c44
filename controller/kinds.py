"""Kinds: devices that are interchangeable for the planner, so that plans can be made in counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tidewise.controller.registry import Device

Barred = Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Kind:
    """Devices of one type, with the same memory (bytes, None for no limit), the same model files barred from them, and
    the same ``stretch``: how many times its profile a batch takes on them.

    Most types make one kind, named as the type; further ones are named "type~2", "type~3".
    """

    name: str
    device_type: str
    memory: int | None
    barred: frozenset[str]
    devices: tuple[str, ...]
    stretch: float = 1.0


def kinds_of(devices: Mapping[str, Device], barred: Barred) -> dict[str, Kind]:
    """All devices, grouped; ``barred`` holds (device, digest) pairs. The largest group of a type bears its name."""
    digests: dict[str, set[str]] = defaultdict(set)
    for device, digest in barred:
        digests[device].add(digest)
    groups: dict[tuple[str, int | None, frozenset[str], float], list[str]] = defaultdict(list)
    for name, one in devices.items():
        report = one.report
        groups[report.device_type, report.memory, frozenset(digests[name]), report.stretch].append(name)
    found: dict[str, Kind] = {}
    for key in sorted(groups, key=lambda key: (key[0], -len(groups[key]), key[3], key[1] or 0, sorted(key[2]))):
        device_type, memory, digests_barred, stretch = key
        name = _name(device_type, found)
        found[name] = Kind(name, device_type, memory, digests_barred, tuple(sorted(groups[key])), stretch)
    return found


def _name(device_type: str, taken: Collection[str]) -> str:
    number = 1
    while (name := device_type if number == 1 else f"{device_type}~{number}") in taken:
        number += 1
    return name
