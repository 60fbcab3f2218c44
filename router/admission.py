"""Before a query is sent: where it may go, how long it has, and the sentence when the answer is no. All pure."""

from __future__ import annotations

from collections.abc import Iterable

from tidewise.core.outcome import Reason
from tidewise.router.choice import Refusal
from tidewise.router.failure import Failure, failure
from tidewise.router.head import Head
from tidewise.router.table import Entry, RoutingTable, View

SHOWN = 80  # characters of a caller's text that an error message repeats


def find_entry(table: RoutingTable, application: str) -> Entry | Failure:
    """The application's entry, or NOT_FOUND."""
    entry = table.entries.get(application)
    if entry is not None:
        return entry
    known = ", ".join(sorted(table.entries)) or "none"
    return failure(
        Reason.UNKNOWN_APPLICATION, f"there is no application {application[:SHOWN]!r}; known: {known[: 4 * SHOWN]}"
    )


def find_view(entry: Entry, version: str) -> View | Failure:
    """The lanes a query may take, pinned to a variant if ``version`` is its number or name; NOT_FOUND if none is."""
    if not version:
        return entry.everywhere
    name = entry.names.get(version)
    if name is not None:
        return entry.pinned[name]
    known = ", ".join(f"{one.version} ({one.name})" for one in entry.application.variants)
    return failure(
        Reason.UNKNOWN_VARIANT,
        f"application {entry.application.name!r} has no variant {version[:SHOWN]!r}; known: {known}",
    )


def refuse_size(size: int, limit: int) -> Failure | None:
    """RESOURCE_EXHAUSTED for a query of more bytes than the limit."""
    if size <= limit:
        return None
    return failure(Reason.TOO_LARGE, f"the query has {size} bytes; the limit is {limit} bytes")


def budget(slo: float, wire: float | None, own: float | None) -> float:
    """Seconds a query has from its arrival: the least of the application's SLO, gRPC deadline and ``deadline_ms``."""
    return min(slo, *(given for given in (wire, own) if given is not None), slo)


def explain(refusal: Refusal, entry: Entry, head: Head, left: float) -> Failure:
    """A refusal in words; ``left`` is the budget in seconds it was refused for."""
    name = entry.application.name
    if refusal.reason is Reason.PREDICTED_LATE and refusal.predicted is not None:
        return failure(
            refusal.reason,
            f"application {name!r} is too busy: an answer is predicted in {refusal.predicted * 1e3:.1f} ms at the"
            f" earliest, the query has {left * 1e3:.1f} ms left",
        )
    if not head.version:
        return failure(refusal.reason, f"no worker serves application {name!r} now")
    return failure(
        refusal.reason,
        f"no worker has variant {head.version[:SHOWN]!r} of application {name!r} ready now;"
        f" ready: {', '.join(_ready(entry)) or 'none'}",
    )


def _ready(entry: Entry) -> Iterable[str]:
    return (name for name, view in entry.pinned.items() if view.lanes)
