"""Facts: what an event changed of what the registry knows."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.report import Unprofiled


@dataclass(frozen=True, slots=True)
class Refusal:
    """A device could not follow this plan version."""

    device: str
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What an event changed. ``readiness`` is anything a route depends on; ``introduced`` a new stream, or one that
    said what profiles it knows. ``unprofiled`` are those a device said for the first time.
    """

    gained: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    readiness: bool = False
    profiles: bool = False
    introduced: bool = False
    applications: bool = False
    refusals: tuple[Refusal, ...] = ()
    unprofiled: tuple[tuple[str, Unprofiled], ...] = ()
    superseded: tuple[str, ...] = ()

    @property
    def devices(self) -> bool:
        """Whether the set of devices changed."""
        return bool(self.gained or self.lost)


NOTHING = Facts()
