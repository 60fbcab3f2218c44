"""How a query can end, and why: every arrival ends in exactly one outcome."""

from __future__ import annotations

from enum import StrEnum

REASON_KEY = "tidewise-reason"  # trailing metadata of every answer that is not OK


class Outcome(StrEnum):
    """The end of one query."""

    ON_TIME = "on_time"  # answered within its deadline
    LATE = "late"  # answered, but after its deadline
    DROPPED = "dropped"  # accepted, then given up because its deadline could not be met
    REFUSED = "refused"  # not accepted: queue full, predicted late, or nothing can serve
    FAILED = "failed"  # wrong input, or something broke


class Reason(StrEnum):
    """Why a query was not answered; travels as ``tidewise-reason`` and labels metrics."""

    DEADLINE = "deadline"  # passed while waiting
    HOPELESS = "hopeless"  # could no longer be met, so it was dropped before it passed
    PREDICTED_LATE = "predicted_late"  # refused by the router: the queues are too long for its deadline
    QUEUE_FULL = "queue_full"
    NO_WORKER = "no_worker"  # nothing can serve the application now
    UNKNOWN_APPLICATION = "unknown_application"
    UNKNOWN_VARIANT = "unknown_variant"
    BAD_INPUT = "bad_input"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"
    WORKER_LOST = "worker_lost"
    ENGINE = "engine"  # the model could not be run
    DRAINING = "draining"
    INTERNAL = "internal"


OUTCOME_OF_REASON: dict[Reason, Outcome] = {
    Reason.DEADLINE: Outcome.DROPPED,
    Reason.HOPELESS: Outcome.DROPPED,
    Reason.PREDICTED_LATE: Outcome.REFUSED,
    Reason.QUEUE_FULL: Outcome.REFUSED,
    Reason.NO_WORKER: Outcome.REFUSED,
    Reason.DRAINING: Outcome.REFUSED,
    Reason.UNKNOWN_APPLICATION: Outcome.FAILED,
    Reason.UNKNOWN_VARIANT: Outcome.FAILED,
    Reason.BAD_INPUT: Outcome.FAILED,
    Reason.TOO_LARGE: Outcome.FAILED,
    Reason.CANCELLED: Outcome.DROPPED,
    Reason.WORKER_LOST: Outcome.FAILED,
    Reason.ENGINE: Outcome.FAILED,
    Reason.INTERNAL: Outcome.FAILED,
}
