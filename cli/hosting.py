"""What each worker serves with, as its controller's status tells it."""

from __future__ import annotations

from tidewise.proto import control_pb2 as pb


def hosting(status: pb.StatusReply) -> dict[str, tuple[str, str]]:
    """(application, variant) by worker: its ceiling, or the best that is warm while that is not ready, or ("", "")."""
    ceilings = {one.worker: (one.application, one.ceiling) for one in status.plan.assignments}
    return {one.device.name: _hosted(one.device, ceilings.get(one.device.name)) for one in status.workers}


def _hosted(device: pb.DeviceReport, ceiling: tuple[str, str] | None) -> tuple[str, str]:
    warm = [(one.application, one.variant) for one in device.warm]
    if ceiling is not None and ceiling in warm:
        return ceiling
    return warm[0] if warm else ("", "")
