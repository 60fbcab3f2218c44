"""The sentences that tell a caller why a query ended without an answer."""

from __future__ import annotations

from tidewise.core.outcome import Reason
from tidewise.worker.device import Device
from tidewise.worker.query import Query


def ended_text(device: Device, query: Query, reason: Reason, now: float) -> str:
    """Why this query ended on this device."""
    budget = (query.deadline - query.arrived) * 1e3
    waited = (now - query.arrived) * 1e3
    match reason:
        case Reason.DEADLINE:
            return f"the deadline of {budget:.1f} ms passed in the queue of worker {device.name!r}"
        case Reason.HOPELESS:
            return (
                f"the deadline of {budget:.1f} ms could no longer be met after {waited:.1f} ms in the queue of worker"
                f" {device.name!r}"
            )
        case Reason.QUEUE_FULL:
            return f"the queue of worker {device.name!r} holds its limit of {device.policy.max_queue} queries"
        case Reason.NO_WORKER:
            return not_here(device, query.lane.application, query.lane.pin)
        case _:
            return f"worker {device.name!r} ended the query: {reason.value}"


def not_here(device: Device, application: str, pin: str) -> str:
    """Why a device cannot take an application's queries, or those pinned to a variant, now."""
    serving = device.hosting.serving
    ready = ", ".join(one.model.variant for one in serving.warm) or "none"
    if serving.application != application:
        return f"worker {device.name!r} does not serve application {application!r} now"
    return f"worker {device.name!r} has variant {pin!r} of {application!r} not ready now; ready: {ready}"
