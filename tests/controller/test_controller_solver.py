"""The solver in a process of its own."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from wire_stories import (
    FakeRouter,
    FakeWorker,
    calling,
    controller,
    real_profile,
    settings_of,
    tell,
    until,
)

from tidewise.controller.exchange import Request
from tidewise.controller.solving import Failure, SolverProcess
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.solution import Solution
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub


def test_a_solver_that_hangs_crashes_or_lies_cannot_stop_service(tmp_path: Path, repository: Path) -> None:
    hang = [sys.executable, "-c", _CHILD + "time.sleep(99)"]
    crash = [sys.executable, "-c", _CHILD + "sys.stdin.buffer.read(8); os.abort()"]
    lie = [sys.executable, "-c", _CHILD + "\nwhile sys.stdin.buffer.read(8): say('solved it')\n"]

    async def story() -> None:
        for number, command in enumerate((hang, crash, lie)):
            settings = settings_of(tmp_path / f"state{number}", repository, solve_limit=0.5)
            async with (
                controller(settings, SolverProcess(command)) as port,
                FakeRouter(port) as router,
                FakeWorker(port, "big-0", profile=real_profile("pets")),
                calling(port) as channel,
            ):
                await until(lambda router=router: router.routes == {"big-0": "pets"})  # type: ignore[misc]
                status = await ControllerStub(channel).Status(pb.StatusRequest())
                assert status.plan.status == "fallback"

    tell(story)


def test_a_failure_of_the_solver_is_counted_and_logged(
    tmp_path: Path, repository: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            metrics = free.getsockname()
        settings = replace(settings_of(tmp_path / "state", repository, solve_limit=0.5), metrics=metrics)
        hang = SolverProcess([sys.executable, "-c", _CHILD + "time.sleep(99)"])
        async with controller(settings, hang) as port, FakeWorker(port, "big-0", profile=real_profile("pets")):
            await until(lambda: any("did not answer" in getattr(one, "reason", "") for one in caplog.records))
            url = f"http://127.0.0.1:{metrics[1]}/metrics"
            page = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=60).read().decode())
        counted = [line for line in page.splitlines() if line.startswith("tidewise_controller_planning_failures_total")]
        assert len(counted) == 1
        assert float(counted[0].split()[-1]) >= 1

    tell(story)


def test_the_fast_plan_is_published_if_the_best_one_never_comes(tmp_path: Path, repository: Path) -> None:
    dawdle = [sys.executable, "-c", _FAST]

    async def story() -> None:
        async with (
            controller(settings_of(tmp_path / "state", repository, solve_limit=3.0), SolverProcess(dawdle)) as port,
            FakeRouter(port) as router,
            FakeWorker(port, "big-0", profile=real_profile("pets")),
            calling(port) as channel,
        ):
            await until(lambda: router.routes == {"big-0": "pets"})
            status = await ControllerStub(channel).Status(pb.StatusRequest())
            assert status.plan.status != "fallback"
            assert "did not answer within 3 s" in status.last_failure

    tell(story)


_FAST = """
import sys, time
from tidewise.controller.exchange import READY, Reply, read_frame, write_frame
from tidewise.controller.policies import allocate_fast
out = sys.stdout.buffer
write_frame(out, READY)
while request := read_frame(sys.stdin.buffer):
    write_frame(out, Reply(allocate_fast(request.case), final=False))
    time.sleep(99)
"""

_CHILD = """
import os, pickle, struct, sys, time
def say(value):
    body = pickle.dumps(value)
    sys.stdout.buffer.write(struct.pack("<Q", len(body)) + body)
    sys.stdout.buffer.flush()
say("ready")
"""


def test_a_solver_process_that_was_killed_is_started_again() -> None:
    case = Case({"big": 1}, {"a": CaseApplication(5)}, {"a/1": CaseVariant("a", 1.0)}, {"big": {"a/1": 10}})

    async def story() -> None:
        solver = SolverProcess()
        first = (await solver.solve(Request(case), 60)).answer
        assert isinstance(first, Solution)
        assert first.counts == {"big": {"a/1": 1}}
        process = solver._process
        assert process is not None
        process.kill()
        await process.wait()
        again = (await solver.solve(Request(case), 60)).answer
        assert isinstance(again, Solution)
        assert again.counts == first.counts
        refused = await solver.solve(Request(case, method="magic"), 60)
        assert refused.failure is Failure.REFUSED
        assert "unknown" in refused.reason
        await solver.stop()

    tell(story)


def test_a_solve_ends_at_its_limit_whatever_the_solver_does() -> None:
    case = Case({"big": 1}, {}, {}, {})

    async def story() -> None:
        solver = SolverProcess([sys.executable, "-c", _CHILD + "time.sleep(99)"])
        await solver.start()
        began = time.monotonic()
        assert (await solver.solve(Request(case), 0.5)).failure is Failure.HUNG
        assert time.monotonic() - began < 30  # 0.5 s, on a machine with nothing else to do
        await solver.stop()

    tell(story)


def test_a_child_whose_parent_is_killed_ends_without_a_word() -> None:
    starts_and_dies = (
        "import os, subprocess, sys\n"
        "pipe = subprocess.PIPE\n"
        "command = [sys.executable, '-m', 'tidewise.controller.solver_child']\n"
        "subprocess.Popen(command, stdin=pipe, stdout=pipe)\n"
        "os._exit(0)\n"
    )
    # The child holds the standard error of its parent: this returns when both are gone.
    ended = subprocess.run([sys.executable, "-c", starts_and_dies], stderr=subprocess.PIPE, text=True, timeout=60)
    assert ended.stderr == ""
