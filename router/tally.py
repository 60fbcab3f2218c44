"""Arrivals and outcomes by application, in windows of time, under a bounded set of names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidewise.core.metrics_catalogue import NO_REASON, UNKNOWN
from tidewise.core.outcome import Outcome
from tidewise.core.routes import Tally


@dataclass(slots=True)
class Totals:
    """Counts since the router started, under the same bounded names; ``ended`` by name, outcome and reason."""

    arrivals: Counter[str] = field(default_factory=Counter)
    ended: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)

    def keep(self, names: frozenset[str]) -> None:
        """Forget every other name, so that applications that come and go leave nothing behind."""
        known = names | {UNKNOWN}
        self.arrivals = Counter({name: count for name, count in self.arrivals.items() if name in known})
        self.retries = Counter({name: count for name, count in self.retries.items() if name in known})
        self.ended = Counter({key: count for key, count in self.ended.items() if key[0] in known})


@dataclass(slots=True)
class _Counts:
    arrivals: int = 0
    outcomes: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    variants: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """What was counted under one label elsewhere; ``ended`` by outcome and reason, ``answered`` by variant."""

    label: str
    arrivals: int
    retries: int
    ended: Mapping[tuple[Outcome, str], int]
    answered: Mapping[str, int]


class TallyBook:
    """Counts until a window is closed. Arrivals and outcomes of one query may fall into different windows.

    Every name that is not an application counts as UNKNOWN, which no application may be called.
    """

    def __init__(self, now: float) -> None:
        self.totals = Totals()
        self._since = now
        self._names: frozenset[str] = frozenset()
        self._open: dict[str, _Counts] = {}

    def know(self, names: Iterable[str]) -> None:
        """From now on these are the applications; every other name counts as one."""
        self._names = frozenset(names)
        self.totals.keep(self._names)

    def arrived(self, name: str) -> str:
        """Count an arrival; the label under which its outcome is to be counted."""
        label = name if name in self._names else UNKNOWN
        self._of(label).arrivals += 1
        self.totals.arrivals[label] += 1
        return label

    def ended(self, label: str, outcome: Outcome, variant: str = "", reason: str = NO_REASON) -> None:
        """Count the end of a query that arrived under this label; the variant if it was answered, the reason if not."""
        counts = self._of(label)
        counts.outcomes[outcome] += 1
        self.totals.ended[label, outcome, reason] += 1
        if variant:
            counts.variants[variant] += 1

    def add(self, counts: LabelCounts) -> None:
        """Take over what has been counted elsewhere."""
        label, found = counts.label, self._of(counts.label)
        found.arrivals += counts.arrivals
        self.totals.arrivals[label] += counts.arrivals
        self.totals.retries[label] += counts.retries
        for (outcome, reason), count in counts.ended.items():
            found.outcomes[outcome] += count
            self.totals.ended[label, outcome, reason] += count
        for variant, count in counts.answered.items():
            found.variants[variant] += count

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
