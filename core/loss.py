"""A query that was not answered, as every process logs it."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.outcome import Outcome, Reason

REQUEST_ID = "x-request-id"  # metadata: the caller's name for its request, passed on to the worker
TRACE_PARENT, TRACE_STATE = "traceparent", "tracestate"  # metadata: W3C trace context, passed on unread
PASSED = frozenset({REQUEST_ID, TRACE_PARENT, TRACE_STATE})


@dataclass(frozen=True, slots=True)
class Loss:
    """Which query, how it ended, and why.

    ``label`` is the bounded name it is counted under, ``application`` the name its caller used. ``request_id`` is the
    caller's, or made up. ``query_id`` is the message's own id, which need not be unique. ``worker`` is "" if none had
    the query.
    """

    label: str
    application: str
    outcome: Outcome
    reason: Reason
    sentence: str
    request_id: str
    query_id: str = ""
    worker: str = ""
    traceparent: str = ""
