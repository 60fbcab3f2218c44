"""What became of every query, by its place in the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidewise.core.application import Application
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.record import QueryRecord
from tidewise.core.trace import Trace
from tidewise.worker.query import Batch


@dataclass(slots=True)
class End:
    """One query's end; ``batch`` is None where there was no answer. Times are seconds of the trace."""

    at: float
    worker: str
    batch: Batch | None = None
    reason: Reason | None = None


class Ledger:
    """Every arrival ends once; ending one twice is a broken promise."""

    def __init__(self, trace: Trace) -> None:
        self.ends: list[End | None] = [None] * len(trace)
        self.open = len(trace)

    def end(self, index: int, end: End) -> None:
        """One query ended."""
        assert self.ends[index] is None, f"query {index} ended twice"
        self.ends[index] = end
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
        end.at += caller
        if end.batch is None:
            yield _unanswered(name, due, deadline, end)
        else:
            yield _answered(name, due, deadline, end, end.batch, accuracy)


def _unanswered(name: str, due: float, deadline: float, end: End) -> QueryRecord:
    reason = end.reason or Reason.INTERNAL
    outcome = OUTCOME_OF_REASON[reason]
    return QueryRecord(name, due, due, end.at, deadline, outcome, reason.value, worker=end.worker)


def _answered(
    name: str,
    due: float,
    deadline: float,
    end: End,
    batch: Batch,
    accuracy: Mapping[tuple[str, str], float | None],
) -> QueryRecord:
    variant = batch.servable.model.variant
    return QueryRecord(
        application=name,
        due=due,
        sent=due,
        ended=end.at,
        deadline=deadline,
        outcome=Outcome.ON_TIME if end.at - due <= deadline else Outcome.LATE,
        variant=variant,
        worker=end.worker,
        plan_version=batch.plan_version,
        queued=batch.started - due,
        computed=end.at - batch.started,
        accuracy=accuracy[name, variant],
    )
