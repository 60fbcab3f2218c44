"""Handing devices over: an application keeps the devices that serve it until those that will are ready.

Every device makes before it breaks, but two of them together need not: where an application moves from a device that
loads its next family in half a second to one that needs five, nobody would serve it in between.
"""

from __future__ import annotations

from collections.abc import Mapping

Place = tuple[str, str]  # a kind and an application


def held_back(
    targets: Mapping[str, Place],
    planned: Mapping[str, str],
    serves: Mapping[str, str],
    capacity: Mapping[Place, float],
    rates: Mapping[str, float],
) -> frozenset[str]:
    """The devices that must not leave their application yet, of those not on their way already.

    ``targets`` is where each device is to go, ``planned`` what it was told, ``serves`` what it serves now, ``capacity``
    what a device of a kind carries of an application with its fastest variant. As many stay as the rate asks for, but
    no more than will carry it in the end, and none that can no longer answer. Devices that would wait for one another
    in a circle do not.
    """
    held: dict[str, list[str]] = {}
    coming: dict[str, list[str]] = {}
    for name in {serves.get(device, "") for device in targets} - {""}:
        coming[name] = [d for d, (_, to) in targets.items() if to == name and serves.get(d) != name]
        staying = sum(capacity.get(targets[d], 0.0) for d in targets if serves.get(d) == name == targets[d][1])
        promised = staying + sum(capacity.get(targets[d], 0.0) for d in coming[name])
        held[name] = []
        for device in sorted(d for d in targets if serves.get(d) == planned.get(d) == name != targets[d][1]):
            carries = capacity.get((targets[device][0], name), 0.0)  # 0 for a kind that has become too slow for it
            if carries > 0 and staying < min(rates.get(name, 0.0), promised):
                held[name].append(device)
                staying += carries
    return _with_hope(held, coming)


def _with_hope(held: Mapping[str, list[str]], coming: Mapping[str, list[str]]) -> frozenset[str]:
    """The held devices of applications to which somebody comes at once, or after others did."""
    holder = {device: name for name, devices in held.items() for device in devices}
    hopeful: set[str] = set()
    while True:
        more = {n for n in held if any(d not in holder or holder[d] in hopeful for d in coming[n])} - hopeful
        if not more:
            return frozenset(device for device, name in holder.items() if name in hopeful)
        hopeful |= more
