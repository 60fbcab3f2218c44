"""One query under way, and the record of how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from tidewise.core.application import Variant
from tidewise.core.outcome import Outcome, Reason
from tidewise.core.record import QueryRecord
from tidewise.traces import wire
from tidewise.traces.samples import Samples
from tidewise.traces.verdict import answered, unanswered


@dataclass(slots=True)
class Destination:
    """What is sent to one application: its request's first piece, its samples, and how many went out.

    ``variants`` are by name and by version number.
    """

    name: str
    slo: float
    head: bytes
    samples: Samples
    variants: Mapping[str, Variant]
    sent: int = 0

    @classmethod
    def of(cls, name: str, samples: Samples) -> Destination:
        """The destination for these samples."""
        application = samples.application
        variants = {key: one for one in application.variants for key in (str(one.version), one.name)}
        return cls(name, application.slo, wire.head(name), samples, variants)

    def next_sample(self) -> int:
        """The sample of the next query; counts it as sent."""
        self.sent += 1
        return self.samples.sample(self.sent - 1)


@dataclass(frozen=True, slots=True)
class Query:
    """One query under way; times in seconds since the start of the run, the deadline counts from ``due``."""

    to: Destination
    sample: int
    due: float
    sent: float
    deadline: float

    @property
    def left(self) -> float:
        """Seconds of the deadline that were left when it was sent."""
        return max(self.deadline - (self.sent - self.due), 0.0)

    def request(self, query_id: str) -> bytes:
        """The serialised ModelInferRequest."""
        return b"".join((self.to.head, wire.middle(query_id, self.left), self.to.samples.body(self.sample)))


def answer_record(query: Query, ended: float, data: bytes) -> QueryRecord:
    """The record of a query that got this answer."""
    try:
        answer = wire.read_answer(data, query.to.samples.output)
    except DecodeError:
        return error_record(query, ended, "INTERNAL", Reason.INTERNAL, "the answer is no ModelInferResponse")
    variant = query.to.variants.get(answer.variant)
    return QueryRecord(
        application=query.to.name,
        due=query.due,
        sent=query.sent,
        ended=ended,
        deadline=query.deadline,
        outcome=answered(query.due, ended, query.deadline),
        variant=answer.variant if variant is None else variant.name,
        worker=answer.worker,
        plan_version=answer.plan_version,
        queued=answer.queued,
        computed=answer.computed,
        accuracy=None if variant is None else variant.accuracy,
        correct=None if answer.scores is None else query.to.samples.correct(query.sample, answer.scores),
    )


def error_record(query: Query, ended: float, status: str, reason: str, message: str) -> QueryRecord:
    """The record of a query that ended with a gRPC status; ``reason`` is the ``tidewise-reason``, if one came."""
    outcome, why = unanswered(status, reason)
    return QueryRecord(query.to.name, query.due, query.sent, ended, query.deadline, outcome, why, message=message)


def cancelled_record(query: Query, now: float) -> QueryRecord:
    """The record of a query whose caller gave up."""
    return QueryRecord(
        query.to.name, query.due, query.sent, now, query.deadline, Outcome.DROPPED, Reason.CANCELLED.value
    )
