"""What a worker serves with: its ceiling once that is warm, the best that is warm before."""

from __future__ import annotations

import pytest

from tidewise.cli.frames import live_workers
from tidewise.cli.hosting import hosting
from tidewise.cli.observing import worker_samples
from tidewise.proto import control_pb2 as pb


def status(*warm: str, ceiling: str = "") -> pb.StatusReply:
    device = pb.DeviceReport(name="w0", warm=[pb.Warm(application="garments", variant=one) for one in warm])
    assigned = [pb.Assignment(worker="w0", application="garments", ceiling=ceiling)] if ceiling else []
    return pb.StatusReply(workers=[pb.WorkerStatus(device=device)], plan=pb.Plan(assignments=assigned))


@pytest.mark.parametrize(
    ("warm", "ceiling", "serves"),
    [
        (("l", "s"), "s", ("garments", "s")),  # the plan holds it below the best it has warm
        (("l", "s"), "nano", ("garments", "l")),  # the new ceiling still loads
        (("l",), "", ("garments", "l")),
        ((), "l", ("", "")),
    ],
)
def test_a_worker_serves_with_its_ceiling_once_it_is_warm(
    warm: tuple[str, ...], ceiling: str, serves: tuple[str, str]
) -> None:
    told = status(*warm, ceiling=ceiling)
    assert hosting(told) == {"w0": serves}
    (sample,), (shown,) = worker_samples(told, 1.0), live_workers(told, {})
    assert (sample.application, sample.variant) == (shown.application, shown.variant) == serves
