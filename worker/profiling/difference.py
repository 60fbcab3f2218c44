"""Two profiles compared: what became slower, what faster, what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidewise.core.profile import Key, Profile, VariantProfile


@dataclass(frozen=True, slots=True)
class Change:
    """One batch size of one entry in both profiles; medians in seconds."""

    key: Key
    size: int
    old: float
    new: float

    @property
    def ratio(self) -> float:
        """New over old: above 1 is slower."""
        return self.new / self.old

    def regressed(self, tolerance: float) -> bool:
        """Whether it became slower by more than this fraction."""
        return self.ratio > 1 + tolerance


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes of what both profiles measured, and the entries or sizes that only one of them has, as (key, size)."""

    changes: tuple[Change, ...]
    removed: tuple[tuple[Key, int], ...]
    added: tuple[tuple[Key, int], ...]

    def regressions(self, tolerance: float) -> list[Change]:
        """What became slower by more than the tolerance, the worst first."""
        return sorted((one for one in self.changes if one.regressed(tolerance)), key=lambda one: -one.ratio)


def difference(old: Profile, new: Profile) -> Difference:
    """Every measured batch size of either profile, in exactly one of the three groups."""
    before, after = _medians(old), _medians(new)
    return Difference(
        changes=tuple(Change(*at, before[at], after[at]) for at in sorted(before.keys() & after.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        added=tuple(sorted(after.keys() - before.keys())),
    )


def _medians(profile: Profile) -> dict[tuple[Key, int], float]:
    return {at: seconds for entry in profile.entries.values() for at, seconds in _of(entry)}


def _of(entry: VariantProfile) -> Iterator[tuple[tuple[Key, int], float]]:
    for one in entry.batches:
        yield (entry.key, one.size), one.p50
