"""The frames between a router and its C++ data plane: native/router/channel.hpp and orders.cpp read and write the same.

A frame is its length (of what follows), a kind and a payload, all little-endian; a text is its length and UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from tidewise.core.application import Application
from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.histogram import Histogram
from tidewise.core.loss import Loss
from tidewise.core.metrics_catalogue import NO_REASON, SECONDS
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.routes import Route, RoutingSnapshot
from tidewise.router.statistics import Figures
from tidewise.router.table import worth_of
from tidewise.router.tally import LabelCounts

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
    bounds = struct.pack(f"<I{len(SECONDS)}d", len(SECONDS), *SECONDS)
    head = struct.pack("<QQ", snapshot.revision, snapshot.max_message) + text(snapshot.routing) + bounds
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
    worth = worth_of(application)
    variants = [
        text(one.name) + struct.pack("<qd", one.version, worth.get(one.name, 0.0)) for one in application.variants
    ]
    places = {one.name: place for place, one in enumerate(application.variants)}
    parts = [
        text(application.name),
        struct.pack("<dd", application.slo, application.slo * QUEUE_SHARE),
        HEAD.pack(len(variants)),
        *variants,
    ]
    parts += [HEAD.pack(len(routes)), *(_route(route, places) for route in routes)]
    return b"".join(parts)


def _route(route: Route, places: dict[str, int]) -> bytes:
    found = [places[name] for name in route.variants]
    numbers = struct.pack(f"<I{len(found)}Iddd", len(found), *found, route.share, route.capacity, route.fastest)
    return text(route.worker) + text(route.address) + numbers


@dataclass(frozen=True, slots=True)
class Counted:
    """What the data plane has counted since the last time.

    ``losses`` are some of the queries that were not answered, ``untold`` counts the others by label and reason.
    """

    labels: Sequence[tuple[LabelCounts, Mapping[str, Figures]]]
    losses: Sequence[Loss]
    untold: Sequence[tuple[str, Reason, int]]


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

    def counts(self) -> Counted:
        """The payload of COUNTS."""
        labels = [self._label() for _ in range(self.integer())]
        losses = [self._loss() for _ in range(self.integer())]
        untold = [(self.text(), Reason(self.text()), self.integer("Q")) for _ in range(self.integer())]
        return Counted(labels, losses, untold)

    def _label(self) -> tuple[LabelCounts, dict[str, Figures]]:
        label, arrivals, retries = self.text(), self.integer("Q"), self.integer("Q")
        answered = {Outcome.ON_TIME: self.integer("Q"), Outcome.LATE: self.integer("Q")}
        ended = {(outcome, NO_REASON): count for outcome, count in answered.items() if count}
        for _ in range(self.integer()):
            reason = Reason(self.text())
            ended[OUTCOME_OF_REASON[reason], reason] = self.integer("Q")
        figures = {self.text(): self._figures() for _ in range(self.integer())}
        counts = {name: one.total.count for name, one in figures.items()}
        return LabelCounts(label, arrivals, retries, ended, counts), figures

    def _figures(self) -> Figures:
        total, forward, queued, computed = (self._histogram() for _ in range(4))
        worth, last = self.take("dd")
        found = Figures(total, forward, queued, computed, worth, last=last)
        for _ in range(self.integer()):
            size, queries, seconds = self.take("IQd")
            found.batches[int(size)] = int(queries), seconds
            found.executions += queries / size
        return found

    def _histogram(self) -> Histogram:
        counts = [self.integer("Q") for _ in range(self.integer())]
        return Histogram(counts=counts, total=self.take("d")[0])

    def _loss(self) -> Loss:
        label, application, reason = self.text(), self.text(), Reason(self.text())
        return Loss(label, application, OUTCOME_OF_REASON[reason], reason, *(self.text() for _ in range(5)))
