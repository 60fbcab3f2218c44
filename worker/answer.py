"""How a query ends for its caller: an answer or a refusal, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import grpc

from tidewise.core.outcome import Reason
from tidewise.worker.tensors import Array

CODES: dict[Reason, grpc.StatusCode] = {
    Reason.DEADLINE: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.HOPELESS: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.PREDICTED_LATE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.QUEUE_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.NO_WORKER: grpc.StatusCode.UNAVAILABLE,
    Reason.WORKER_LOST: grpc.StatusCode.UNAVAILABLE,
    Reason.DRAINING: grpc.StatusCode.UNAVAILABLE,
    Reason.UNKNOWN_APPLICATION: grpc.StatusCode.NOT_FOUND,
    Reason.UNKNOWN_VARIANT: grpc.StatusCode.NOT_FOUND,
    Reason.BAD_INPUT: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.CANCELLED: grpc.StatusCode.CANCELLED,
    Reason.ENGINE: grpc.StatusCode.INTERNAL,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A query's outputs, and how they came about.

    ``queued`` and ``computed`` are seconds; for ``waited`` of the former the device was idle.
    """

    outputs: Mapping[str, Array]
    variant: str
    version: int
    plan_version: int
    queued: float
    computed: float
    batch: int
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer: why, and in a sentence for the caller."""

    reason: Reason
    text: str
