"""Warm sets: which variants a device keeps loaded beside the planned one, as its memory allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidewise.controller.kinds import Kind
from tidewise.core.application import Application, Variant
from tidewise.core.profile import Profile

SIBLINGS = 2  # beside the planned variant: the cheapest, then a middle one; three warm suffice, two do not
WarmSet = Callable[[str, str, Kind], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WarmSiblings:
    """Picks siblings below the ceiling: the cheapest first, then one whose accuracy is in the middle.

    ``siblings`` 0 gives plans of one variant a device. A variant whose memory is not known, or that was barred from
    the kind, is never a sibling.
    """

    applications: Mapping[str, Application]
    profile: Profile
    siblings: int = SIBLINGS

    def __call__(self, application: str, ceiling: str, kind: Kind) -> tuple[str, ...]:
        """The names to keep warm, most accurate first; always with the ceiling."""
        family = self.applications[application]
        top = family.variant(ceiling)
        if top is None or self.siblings < 1:
            return (ceiling,)
        chosen = [top]
        for one in self._candidates(family, top, kind)[: self.siblings]:
            if self._memory(family, [*chosen, one], kind) <= (kind.memory or float("inf")):
                chosen.append(one)
        chosen.sort(key=lambda one: (-(one.accuracy or 0.0), one.version))
        return tuple(one.name for one in chosen)

    def _candidates(self, family: Application, top: Variant, kind: Kind) -> list[Variant]:
        """Less accurate and faster than the ceiling; the fastest, then by distance from the middle accuracy."""
        latency = {v.name: self._latency(family, v, kind) for v in family.variants}
        below = [
            one
            for one in family.variants
            if one.accuracy
            and family.min_accuracy <= one.accuracy < (top.accuracy or 0.0)
            and latency[one.name] < latency[top.name]
            and one.digest not in kind.barred
        ]
        if not below:
            return []
        fastest = min(below, key=lambda one: (latency[one.name], one.version))
        middle = ((fastest.accuracy or 0.0) + (top.accuracy or 0.0)) / 2
        rest = sorted((v for v in below if v is not fastest), key=lambda v: abs((v.accuracy or 0.0) - middle))
        return [fastest, *rest]

    def _latency(self, family: Application, variant: Variant, kind: Kind) -> float:
        entry = self.profile.get(family.name, variant.name, kind.device_type)
        return entry.p95(entry.max_batch) / entry.max_batch if entry is not None else float("inf")

    def _memory(self, family: Application, variants: list[Variant], kind: Kind) -> int:
        entries = (self.profile.get(family.name, one.name, kind.device_type) for one in variants)
        return sum(one.memory for one in entries if one is not None)
