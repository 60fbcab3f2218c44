"""Arrivals and outcomes by application, in windows of time, under a bounded set of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidewise.core.outcome import Outcome
from tidewise.core.routes import Tally

UNKNOWN = "_unknown"  # stands for every name that is not an application; no application may be called so


@dataclass(slots=True)
class _Counts:
    arrivals: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)


class TallyBook:
    """Counts until a window is closed. Arrivals and outcomes of one query may fall into different windows."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._names: frozenset[str] = frozenset()
        self._open: dict[str, _Counts] = {}

    def know(self, names: Iterable[str]) -> None:
        """From now on these are the applications; every other name counts as one."""
        self._names = frozenset(names)

    def arrived(self, name: str) -> str:
        """Count an arrival; the label under which its outcome is to be counted."""
        label = name if name in self._names else UNKNOWN
        self._of(label).arrivals += 1
        return label

    def ended(self, label: str, outcome: Outcome, variant: str = "") -> None:
        """Count the end of a query that arrived under this label, and the variant that answered it, if one did."""
        counts = self._of(label)
        counts.outcomes[outcome] += 1
        if variant:
            counts.variants[variant] += 1

    def add(self, label: str, arrivals: int, outcomes: Mapping[Outcome, int], variants: Mapping[str, int]) -> None:
        """Take over what has been counted elsewhere under this label."""
        counts = self._of(label)
        counts.arrivals += arrivals
        counts.outcomes.update(outcomes)
        counts.variants.update(variants)

    def close(self, now: float) -> tuple[Tally, ...]:
        """The window up to now, one tally for each application (also those without a query), and a new window."""
        seconds, self._since = now - self._since, now
        counted, self._open = self._open, {}
        return tuple(_tally(name, seconds, counted.get(name)) for name in sorted(self._names | counted.keys()))

    def _of(self, label: str) -> _Counts:
        counts = self._open.get(label)
        if counts is None:
            counts = self._open[label] = _Counts()
        return counts


def _tally(name: str, seconds: float, counts: _Counts | None) -> Tally:
    if counts is None:
        return Tally(name, seconds, 0)
    return Tally(name, seconds, counts.arrivals, dict(counts.outcomes), dict(counts.variants))
