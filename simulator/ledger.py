"""What became of every query, by its place in the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidewise.core.application import Application
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.record import QueryRecord
from tidewise.core.trace import Trace
from tidewise.worker.query import Batch

End = tuple[float, str, Batch | None, Reason | None]
"""One query's end: when, in seconds of the trace, where, in which batch (None: no answer), and why there is none."""


class Ledger:
    """Every arrival ends once; ending one twice is a broken promise."""

    def __init__(self, trace: Trace) -> None:
        self.ends: list[End | None] = [None] * len(trace)
        self.open = len(trace)

    def end(self, index: int, at: float, worker: str, batch: Batch | None, reason: Reason | None) -> None:
        """One query ended."""
        assert self.ends[index] is None, f"query {index} ended twice"
        self.ends[index] = at, worker, batch, reason
        self.open -= 1


def records(
    ledger: Ledger, trace: Trace, applications: Mapping[str, Application], caller: float = 0.0
) -> Iterator[QueryRecord]:
    """A record of every query, in the order of the trace; ``caller`` seconds pass between callers and the router."""
    accuracy = {(a.name, v.name): v.accuracy for a in applications.values() for v in a.variants}
    columns = zip(ledger.ends, trace.arrival.tolist(), trace.application.tolist(), trace.deadline.tolist(), strict=True)
    for end, due, code, deadline in columns:
        assert end is not None, "the simulation has not ended"
        name = trace.names[code]
        at, worker, batch, reason = end
        if batch is None:
            yield _unanswered(name, due, deadline, at + caller, worker, reason or Reason.INTERNAL)
        else:
            yield _answered(name, due, deadline, at + caller, worker, batch, accuracy)


def _unanswered(name: str, due: float, deadline: float, at: float, worker: str, reason: Reason) -> QueryRecord:
    outcome = OUTCOME_OF_REASON[reason]
    return QueryRecord(name, due, due, at, deadline, outcome, reason.value, worker=worker)


def _answered(
    name: str,
    due: float,
    deadline: float,
    at: float,
    worker: str,
    batch: Batch,
    accuracy: Mapping[tuple[str, str], float | None],
) -> QueryRecord:
    variant = batch.servable.model.variant
    return QueryRecord(
        application=name,
        due=due,
        sent=due,
        ended=at,
        deadline=deadline,
        outcome=Outcome.ON_TIME if at - due <= deadline else Outcome.LATE,
        variant=variant,
        worker=worker,
        plan_version=batch.plan_version,
        queued=batch.started - due,
        computed=at - batch.started,
        accuracy=accuracy[name, variant],
    )
