"""How a query ended, judged by its caller: the only place where replay decides an outcome."""

from __future__ import annotations

from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason

_OF_STATUS = {
    "CANCELLED": Reason.CANCELLED,
    "DEADLINE_EXCEEDED": Reason.DEADLINE,
    "RESOURCE_EXHAUSTED": Reason.QUEUE_FULL,
    "INVALID_ARGUMENT": Reason.BAD_INPUT,
    "NOT_FOUND": Reason.UNKNOWN_APPLICATION,
}


def answered(due: float, ended: float, deadline: float) -> Outcome:
    """Of an answer: on time if it came within ``deadline`` seconds of when it was due, whoever was slow."""
    return Outcome.ON_TIME if ended - due <= deadline else Outcome.LATE


def unanswered(status: str, reason: str) -> tuple[Outcome, str]:
    """Of an error: outcome and reason, from the gRPC status's name and the ``tidewise-reason`` that came with it.

    Servers other than Tidewise give no reason; then the status speaks for itself. UNAVAILABLE without a reason comes
    from no server at all (the connection broke), which is a failure and no refusal.
    """
    try:
        known = Reason(reason)
    except ValueError:
        found = _OF_STATUS.get(status)
        return (OUTCOME_OF_REASON[found], found.value) if found else (Outcome.FAILED, reason or status.lower())
    return OUTCOME_OF_REASON[known], known.value
