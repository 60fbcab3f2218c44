"""What is kept of every query of a run: one row each, in exactly one outcome."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.outcome import Outcome


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """One query as its caller saw it; times are seconds since the start of the run.

    ``due`` is when the trace wanted it sent, ``sent`` when it was, ``ended`` when its answer or error arrived. The
    deadline counts from ``due``, so a late sender cannot flatter the system. ``accuracy`` is that of the variant that
    answered. ``correct`` is None where the answer was not compared with a label.
    """

    application: str
    due: float
    sent: float
    ended: float
    deadline: float
    outcome: Outcome
    reason: str = ""
    variant: str = ""
    worker: str = ""
    plan_version: int = 0
    queued: float = 0.0
    computed: float = 0.0
    accuracy: float | None = None
    correct: bool | None = None
    message: str = ""
