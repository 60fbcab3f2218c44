"""All devices of one worker process, and what they have in common: the catalogue of applications and the way down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidewise.core.application import Application
from tidewise.worker.checks import Signature
from tidewise.worker.stations import AnyStation


@dataclass(frozen=True, slots=True)
class Served:
    """An application of the catalogue with its signature made ready."""

    application: Application
    signature: Signature


@dataclass(slots=True)
class Host:
    """``stations`` by device name; ``effective`` are the settings in force, for callers who ask.

    ``ordered`` is whether a plan ever reached this process. ``on_catalogue`` is told of every new catalogue.
    """

    stations: Mapping[str, AnyStation]
    effective: Mapping[str, str] = field(default_factory=dict)
    catalogue: dict[str, Served] = field(default_factory=dict)
    ordered: bool = False
    draining: bool = False
    on_catalogue: Callable[[Mapping[str, Served]], None] = lambda catalogue: None

    def know(self, applications: Mapping[str, Application]) -> None:
        """Replace the catalogue. Applications that are gone stay while a device still serves them."""
        kept = {name: one for name, one in self.catalogue.items() if name not in applications and self.served(name)}
        self.catalogue = kept | {name: Served(one, Signature.of(one)) for name, one in applications.items()}
        self.on_catalogue(self.catalogue)

    def served(self, application: str, variant: str = "") -> bool:
        """Whether some device has the application, or this variant of it, in force."""
        return any(
            one.model.application == application and variant in ("", one.model.variant)
            for station in self.stations.values()
            for one in station.device.hosting.serving.warm
        )

    @property
    def ready(self) -> bool:
        """Whether queries can be answered: something is in force, and the process is not on its way down."""
        return not self.draining and any(one.device.hosting.serving.warm for one in self.stations.values())

    @property
    def settled(self) -> bool:
        """Whether no device is still loading what it was last told to."""
        return all(one.device.hosting.pending is None for one in self.stations.values())

    @property
    def idle(self) -> bool:
        """Whether no device holds any query."""
        return all(station.device.idle for station in self.stations.values())

    @property
    def arrivals(self) -> int:
        """Queries that have come so far."""
        return sum(sum(station.device.counters.arrivals.values()) for station in self.stations.values())

    def drain(self) -> None:
        """Be ready for nothing more; what comes nevertheless is served while the process lasts."""
        self.draining = True
        for station in self.stations.values():
            station.drain()
            station.changed()

    def close(self) -> None:
        """Stop every device."""
        for station in self.stations.values():
            station.close()
