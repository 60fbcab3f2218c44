"""The frames between a router and its C++ data plane: native/router/channel.hpp and orders.cpp read and write the same.

A frame is its length (of what follows), a kind and a payload, all little-endian; a text is its length and UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from tidewise.core.application import Application
from tidewise.core.outcome import Outcome
from tidewise.core.routes import Route, RoutingSnapshot

HEAD = struct.Struct("<I")


class Kind(IntEnum):
    """What a frame is; those below 64 are orders to the data plane."""

    TABLE = 1
    PYTHON = 2
    READ = 3
    DRAIN = 4
    RESOLVED = 5
    APPLIED = 64
    COUNTS = 65
    OUT = 66
    RESOLVE = 67


@dataclass(frozen=True, slots=True)
class VariantCounts:
    """What one variant answered since the last time; ``batches`` are (batch size, queries, seconds computed)."""

    name: str
    total: float
    queued: float
    computed: float
    last: float
    batches: tuple[tuple[int, int, float], ...]

    @property
    def answered(self) -> int:
        """Queries."""
        return sum(queries for _, queries, _ in self.batches)


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Arrivals and outcomes under one label since the last time."""

    label: str
    arrivals: int
    outcomes: dict[Outcome, int]
    variants: tuple[VariantCounts, ...]


def frame(kind: Kind, payload: bytes = b"") -> bytes:
    """A whole frame."""
    return HEAD.pack(len(payload) + 1) + bytes([kind]) + payload


def text(value: str) -> bytes:
    """A text in a payload."""
    data = value.encode()
    return HEAD.pack(len(data)) + data


def table_frame(snapshot: RoutingSnapshot) -> bytes:
    """The order to route by this snapshot."""
    applications = [
        _application(one, [route for route in snapshot.routes if route.application == name])
        for name, one in snapshot.applications.items()
    ]
    head = struct.pack("<QQ", snapshot.revision, snapshot.max_message) + text(snapshot.routing)
    return frame(Kind.TABLE, head + HEAD.pack(len(applications)) + b"".join(applications))


def python_frame(address: str) -> bytes:
    """Where the Python side serves."""
    return frame(Kind.PYTHON, text(address))


def drain_frame(grace: float) -> bytes:
    """The order to take no more calls and to end within this many seconds."""
    return frame(Kind.DRAIN, struct.pack("<d", grace))


def resolved_frame(address: str, numeric: str) -> bytes:
    """The address with its host as a number; empty if it has none."""
    return frame(Kind.RESOLVED, text(address) + text(numeric))


def _application(application: Application, routes: list[Route]) -> bytes:
    variants = [text(one.name) + struct.pack("<q", one.version) for one in application.variants]
    places = {one.name: place for place, one in enumerate(application.variants)}
    parts = [text(application.name), struct.pack("<d", application.slo), HEAD.pack(len(variants)), *variants]
    parts += [HEAD.pack(len(routes)), *(_route(route, places) for route in routes)]
    return b"".join(parts)


def _route(route: Route, places: dict[str, int]) -> bytes:
    found = [places[name] for name in route.variants]
    numbers = struct.pack(f"<I{len(found)}Iddd", len(found), *found, route.share, route.capacity, route.fastest)
    return text(route.worker) + text(route.address) + numbers


class Payload:
    """Reads what the data plane has written."""

    def __init__(self, data: bytes) -> None:
        self._data, self._position = data, 0

    def take(self, form: str) -> tuple[int | float, ...]:
        """The next numbers, by a format of ``struct`` without its byte order."""
        packing = struct.Struct(f"<{form}")
        found = packing.unpack_from(self._data, self._position)
        self._position += packing.size
        return found

    def integer(self, form: str = "I") -> int:
        """The next number."""
        return int(self.take(form)[0])

    def text(self) -> str:
        """The next text."""
        size = self.integer()
        found = self._data[self._position : self._position + size].decode()
        self._position += size
        return found

    def texts(self) -> Iterator[str]:
        """A counted list of texts."""
        return (self.text() for _ in range(self.integer()))

    def counts(self) -> list[LabelCounts]:
        """The payload of COUNTS."""
        return [self._label() for _ in range(self.integer())]

    def _label(self) -> LabelCounts:
        label, arrivals = self.text(), self.integer("Q")
        found = {outcome: self.integer("Q") for outcome in Outcome}
        outcomes = {outcome: count for outcome, count in found.items() if count}
        return LabelCounts(label, arrivals, outcomes, tuple(self._variant() for _ in range(self.integer())))

    def _variant(self) -> VariantCounts:
        name = self.text()
        total, queued, computed, last = self.take("dddd")
        batches = tuple(self._batch() for _ in range(self.integer()))
        return VariantCounts(name, total, queued, computed, last, batches)

    def _batch(self) -> tuple[int, int, float]:
        size, queries, computed = self.take("IQd")
        return int(size), int(queries), float(computed)
