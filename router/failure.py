"""Why a query was not answered, as a value: gRPC status, sentence, reason and trailing metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import grpc

from tidewise.core.outcome import OUTCOME_OF_REASON, REASON_KEY, Outcome, Reason
from tidewise.proto.status import CODES

Metadata = tuple[tuple[str, str | bytes], ...]

# Another worker may still answer: the first one is gone, going, or not what the table took it for.
ELSEWHERE = frozenset({Reason.WORKER_LOST, Reason.DRAINING, Reason.NO_WORKER})
_REASONS = frozenset(Reason)


@dataclass(frozen=True, slots=True)
class Failure:
    """A query's end without an answer.

    ``trailing`` is the worker's own trailing metadata, ``heard`` whether this is the worker's word at all.
    """

    reason: Reason
    message: str
    code: grpc.StatusCode
    trailing: Metadata = ()
    heard: bool = False

    @property
    def outcome(self) -> Outcome:
        """The outcome it counts as."""
        return OUTCOME_OF_REASON[self.reason]

    @property
    def metadata(self) -> Metadata:
        """The trailing metadata for the caller."""
        if any(key == REASON_KEY for key, _ in self.trailing):
            return self.trailing
        return (*self.trailing, (REASON_KEY, self.reason.value))


def failure(reason: Reason, message: str) -> Failure:
    """A failure of the router's own."""
    return Failure(reason, message, CODES[reason])


def broken(error: BaseException, late: bool) -> Failure:
    """What a query ended by an exception counts as; ``late`` is whether its deadline had passed."""
    if not isinstance(error, asyncio.CancelledError):
        return failure(Reason.INTERNAL, f"{type(error).__name__}: {error}")
    if late:
        return failure(Reason.DEADLINE, "the deadline passed before an answer came")
    return failure(Reason.CANCELLED, "the caller gave the query up")


def failure_of(error: grpc.aio.AioRpcError, worker: str, limit: int) -> Failure:
    """What a worker's error means; ``limit`` is the largest answer accepted, in bytes.

    A status that carries a reason is the worker's own and passes as it is. One without comes from the connection.
    """
    code, details = error.code(), error.details() or ""
    trailing = passed_on(error.trailing_metadata() or ())
    reason = dict(trailing).get(REASON_KEY)
    if reason is not None:
        known = Reason(reason) if reason in _REASONS else Reason.INTERNAL
        return Failure(known, details, code, trailing, heard=True)
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return failure(Reason.WORKER_LOST, f"worker {worker!r} was lost while it held the query ({details})")
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return failure(Reason.DEADLINE, f"the deadline passed while worker {worker!r} held the query")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in details:
        return failure(Reason.TOO_LARGE, f"the answer of worker {worker!r} exceeds the limit of {limit} bytes")
    return Failure(Reason.INTERNAL, details, code, trailing, heard=True)


def passed_on(metadata: Iterable[Any]) -> Metadata:
    """What a worker's trailing metadata holds beside gRPC's own."""
    return tuple((str(key), value) for key, value in metadata if not key.startswith("grpc-"))
