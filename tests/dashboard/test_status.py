"""What a controller knows, as a frame and on a screen: first whether all is well."""

import io

import pytest
from rich.console import Console

from tidewise.cli.frames import replay_frame, status_frame
from tidewise.core.outcome import Outcome
from tidewise.core.plan import Assignment, Plan
from tidewise.core.record import QueryRecord
from tidewise.core.run import RunApplication
from tidewise.dashboard.tally import LiveTally
from tidewise.dashboard.terminal import screen
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import plan_message

GARMENTS = {"garments": RunApplication("garments", 0.2, {"xl": 0.9, "s": 0.81})}


def drawn(frame):
    console = Console(file=io.StringIO(), width=120, no_color=True)
    console.print(screen(frame))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


TOML = """
name = "garments"
slo_ms = 200.0
[[inputs]]
name = "image"
datatype = "UINT8"
shape = [1, 28, 28]
[[outputs]]
name = "logits"
datatype = "FP32"
shape = [10]
[[variants]]
name = "xl"
version = 2
[[variants]]
name = "s"
version = 1
"""


@pytest.fixture
def reply():
    plan = Plan(
        3, (Assignment("big-0", "garments", ("xl", "s"), "s", 1.0, 50.0),), {"garments": 40.0}, trigger="period"
    )
    spec = pb.ApplicationSpec(toml=TOML, digests={"xl": "1", "s": "2"})
    warm = [pb.Warm(application="garments", variant=name) for name in ("xl", "s")]
    device = pb.DeviceReport(name="big-0", device_type="big", warm=warm, queued=4, busy=True, applied_version=3)
    application = pb.ApplicationStatus(spec=spec, demand_qps=38.0, best_accuracy=0.9, planned_accuracy=0.81)
    return pb.StatusReply(
        plan=plan_message(plan),
        workers=[pb.WorkerStatus(device=device, connected=True)],
        applications=[application],
        uptime_s=12.0,
        last_failure="solver gone",
    )


def test_the_controllers_status_is_a_frame(reply):
    frame = status_frame("Tidewise", reply)
    assert (frame.plan_version, frame.elapsed) == (3, 12.0)
    assert frame.applications[0].normalised == pytest.approx(0.9)
    assert frame.workers[0].variant == "s" and frame.workers[0].queued == 4
    assert "solver gone" in drawn(frame)


def test_a_replays_frame_has_the_callers_figures(reply):
    tally = LiveTally(GARMENTS)
    tally.add(QueryRecord("garments", 1.0, 1.0, 1.05, 0.2, Outcome.ON_TIME, variant="xl", accuracy=0.9))
    frame = replay_frame(status_frame("demo", reply), tally, 3.0, 90.0)
    assert frame.total == 90.0 and frame.ended == 1
    assert frame.applications[0].planned == 40.0 and frame.applications[0].history == (0.0, 1.0)


def test_a_status_says_first_whether_all_is_well(reply):
    reply.last_failure = ""
    reply.routers.add(router="r", address="127.0.0.1:8001")
    text = drawn(status_frame("Tidewise", reply))
    assert text.splitlines()[1] == "serving, every worker follows the plan"
    assert "routers  127.0.0.1:8001" in text


def test_a_status_says_first_what_is_not_well(reply):
    for name in ("big-1", "big-2"):
        reply.workers.add().CopyFrom(reply.workers[0])
        reply.workers[-1].device.name = name
        reply.plan.assignments.add(worker=name, application="garments", warm=["s"], ceiling="s", share=0.2)
    reply.workers[0].connected = False
    reply.workers[1].device.applied_version = 2
    reply.workers[2].device.refused_version, reply.workers[2].device.refused_reason = 3, "corrupt"
    reply.workers[2].device.applied_version = 2
    lines = drawn(status_frame("Tidewise", reply)).splitlines()
    wrong = "1 of 3 workers gone, 2 of 3 workers not on the plan yet, no router is attached, see the trouble below"
    assert lines[1] == f"serving, but {wrong}"
    assert any("loading garments/s for plan 3" in line for line in lines)
    assert any("refused plan 3: corrupt" in line for line in lines)
    assert lines[-1] == "trouble: solver gone"
