"""What a device queues and runs: queries, the parts of them that share a batch, and the batch.

None of them is ever changed. Query, Part and Batch are not frozen all the same: they are made for every query, and
making a frozen one takes four times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tidewise.worker.servable import Servable


class LaneKey(NamedTuple):
    """Queries with equal keys may share a batch: same application, same pinned variant, same free axes.

    ``pin`` is the variant the client insists on, "" if any will do. ``shapes`` holds the trailing shape of each input
    that has a free axis, in the application's order.
    """

    application: str
    pin: str = ""
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(slots=True, eq=False)
class Query:
    """One inference asked for: ``rows`` along the batch axis, wanted by ``deadline`` on the device's clock."""

    id: int
    lane: LaneKey
    arrived: float
    deadline: float
    rows: int = 1


@dataclass(slots=True, eq=False)
class Part:
    """Rows ``start`` to ``start + rows`` of one query: nearly always all of them."""

    query: Query
    start: int
    rows: int


@dataclass(slots=True, eq=False)
class Batch:
    """Parts run together on one variant, padded to ``size`` rows; ``reason`` says why it was started."""

    servable: Servable
    parts: tuple[Part, ...]
    rows: int
    size: int
    reason: str
    started: float
    plan_version: int
