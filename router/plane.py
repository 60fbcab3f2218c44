"""What the rest of a router needs of a data plane, whichever it is: Forwarder (Python) or NativePlane (C++)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from tidewise.core.loss import Loss
from tidewise.core.outcome import Reason
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.failure import Failure
from tidewise.router.statistics import Statistics
from tidewise.router.table import RoutingTable
from tidewise.router.tally import TallyBook

PLANES = ("native", "python")


class Plane(Protocol):
    """Routes queries by the newest snapshot and counts how they end."""

    table: RoutingTable
    tally: TallyBook
    statistics: Statistics
    on_change: Callable[[], None]  # called when the table has changed
    on_loss: Callable[[Loss], None]  # called with a query that is not answered
    on_untold: Callable[[str, Reason, int], None]  # called with how many more were not, by label

    def install(self, snapshot: RoutingSnapshot) -> None:
        """Route by this snapshot. Raises PlanError or ConfigError, and changes nothing, if it cannot be."""

    async def forward(
        self, body: bytes, remaining: float | None, metadata: Iterable[tuple[str, str | bytes]]
    ) -> bytes | Failure:
        """The answer to one query, or why there is none; ``remaining`` is what its gRPC deadline leaves, in seconds."""
        ...

    async def refresh(self) -> None:
        """Bring tally and statistics up to date."""

    async def close(self) -> None:
        """Close every connection at once."""
