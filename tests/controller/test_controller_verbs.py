"""The verbs: tidewise controller as a process, apply, remove and status against it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner, Result
from wire_stories import PATIENCE, FakeWorker, real_profile, write_application

from tidewise.cli.apply import progress, refusals
from tidewise.cli.frames import live_workers
from tidewise.cli.main import cli
from tidewise.cli.ports import free_port
from tidewise.core.application import Application
from tidewise.core.errors import InputError, TidewiseError, UnreachableError
from tidewise.core.files import read_source
from tidewise.proto import control_pb2 as pb


class Process:
    """`tidewise controller` with its own state folder."""

    def __init__(self, folder: Path) -> None:
        write_application(folder / "models", "pets")
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log = folder / "log"
        self.words = [
            "--repository",
            str(folder / "models"),
            "--state",
            str(folder / "state"),
            "--listen",
            self.address,
        ]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "tidewise.cli.main", "controller", *self.words]
            self.child = subprocess.Popen(command, stdout=log, stderr=log)
        wait_for(lambda: call("status", "--controller", self.address).exit_code == 0)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.child.send_signal(number)
        return self.child.wait(PATIENCE)


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    one = Process(tmp_path_factory.mktemp("controller"))
    yield one
    if one.child.poll() is None:
        one.stop()


@pytest.fixture
def worker(process: Process) -> Iterator[FakeWorker]:
    """A scripted worker of two devices, in a thread of its own."""
    one = FakeWorker(process.port, "big-0", "little-0", profile=real_profile("pets", "cars"))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(one.__aenter__(), loop).result()
    yield one
    asyncio.run_coroutine_threadsafe(one.__aexit__(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def test_apply_reports_each_step_and_waits_until_it_is_served(
    process: Process, worker: FakeWorker, tmp_path: Path
) -> None:
    cars = write_application(tmp_path, "cars")
    result = call("apply", str(cars), "--controller", process.address)
    assert result.exit_code == 0, result.output
    assert "added" in result.output and "ready on" in result.output
    assert "cars" in {one.application for one in worker.assigned.values()}
    again = call("apply", str(cars), "--controller", process.address, "--timeout", "60")
    assert again.exit_code == 0 and "replaced" in again.output and "ready on" in again.output, again.output
    assert call("apply", str(cars), "--controller", process.address, "--no-wait").output.endswith("replaced\n")
    assert call("remove", "cars", "--controller", process.address).output == "cars is removed\n"


def test_status_tells_a_person_and_a_program_the_same(process: Process, worker: FakeWorker) -> None:
    wait_for(lambda: all("pets" in one for one in worker.hosted().values()) and len(worker.hosted()) == 2)
    lines: list[str] = []

    def told() -> bool:
        lines[:] = [
            " ".join(line.split()) for line in call("status", "--controller", process.address).output.splitlines()
        ]
        return any(line.startswith("big-0 big pets/") for line in lines)

    wait_for(told)
    assert any(line.startswith("pets ") and "0.0/s" in line for line in lines)
    assert lines[1].startswith("serving, but ") and lines[1].endswith("no router is attached")
    values = json.loads(call("status", "--json", "--controller", process.address).output)
    assert values["plan"]["version"] >= 1 and isinstance(values["plan"]["version"], int)
    assert {one["device"]["name"] for one in values["workers"] if one["connected"]} == {"big-0", "little-0"}


def test_a_state_folder_that_is_gone_is_one_clear_sentence_and_changes_nothing(
    process: Process, worker: FakeWorker, tmp_path: Path
) -> None:
    state, away = Path(process.words[3]), tmp_path / "away"
    state.rename(away)
    for words in (("remove", "pets"), ("apply", str(write_application(tmp_path, "cars")))):
        result = call(*words, "--controller", process.address)
        assert "the state folder cannot be written, so nothing is changed" in str(result.exception)
    away.rename(state)
    assert "pets " in call("status", "--controller", process.address).output
    assert "Traceback" not in process.log.read_text()


def test_sigterm_ends_it_well_and_a_kill_loses_nothing(process: Process, worker: FakeWorker) -> None:
    wait_for(lambda: bool(worker.orders))
    orphans = psutil.Process(process.child.pid).children(recursive=True)
    process.stop(signal.SIGKILL)
    assert orphans and not psutil.wait_procs(orphans, timeout=PATIENCE)[1]
    process.start()
    seen = len(worker.orders)
    wait_for(lambda: len(worker.orders) > seen)
    versions = [one.plan_version for one in worker.orders]
    assert versions == sorted(versions)
    children = psutil.Process(process.child.pid).children(recursive=True)
    assert process.stop() == 0
    assert not psutil.wait_procs(children, timeout=PATIENCE)[1]
    process.start()


def test_an_idle_controller_hardly_uses_the_processor(process: Process, worker: FakeWorker) -> None:
    wait_for(lambda: bool(worker.orders))
    time.sleep(0.5)
    own = psutil.Process(process.child.pid)
    before = sum(own.cpu_times()[:2])
    time.sleep(2)
    assert (sum(own.cpu_times()[:2]) - before) / 2 < 0.10  # 0.02 on a quiet machine


def test_nobody_at_the_address_is_one_clear_sentence() -> None:
    address = f"127.0.0.1:{free_port()}"
    for words in (("status",), ("remove", "pets")):
        result = call(*words, "--controller", address)
        assert isinstance(result.exception, UnreachableError)
        assert f"no controller answers at {address}" in str(result.exception)


def test_wrong_input_is_named(process: Process, tmp_path: Path) -> None:
    for words, said in (
        (("remove", "dogs"), "'dogs' is unknown"),
        (("apply", str(tmp_path / "nothing")), "not a folder"),
        (("apply", str(tmp_path)), "application.toml"),
        (("status",), "HOST:PORT"),
    ):
        address = "here" if words == ("status",) else process.address
        result = call(*words, "--controller", address)
        assert isinstance(result.exception, InputError), words
        assert said in str(result.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "magic"), "clipper-ha"),
        (("--expect", "pets"), "APPLICATION=QPS"),
        (("--listen", "here"), "HOST:PORT"),
        (("--repository", "/nowhere"), "not a folder"),
    ],
)
def test_a_controller_started_wrongly_says_so_and_exits_2(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tidewise.cli.main", "controller", "--state", str(tmp_path / "s"), *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ})
    assert ended.returncode == 2 and said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_waiting_says_what_it_waits_for(tmp_path: Path) -> None:
    application = read_source(write_application(tmp_path, "cars")).parse()

    def says(status: pb.StatusReply) -> str:
        return progress(status, application)[0]

    worker = pb.WorkerStatus(device=pb.DeviceReport(name="d0"), connected=True)
    plan = pb.Plan(version=4, assignments=[pb.Assignment(worker="d0", application="cars", ceiling="small")])
    assert says(pb.StatusReply()) == "no worker is attached"
    assert says(pb.StatusReply(workers=[worker])).startswith("waiting for a plan")
    assert says(pb.StatusReply(workers=[worker], plan=plan)) == "plan 4: loading on d0"
    worker.device.refused_version, worker.device.refused_reason = 4, "corrupt"
    assert says(pb.StatusReply(workers=[worker], plan=plan)) == "d0 refused plan 4: corrupt"
    worker.device.warm.append(pb.Warm(application="cars", variant="small", digest=_digest(application)))
    assert progress(pb.StatusReply(workers=[worker], plan=plan), application)[1]


def test_applying_says_what_could_not_be_profiled() -> None:
    device = pb.DeviceReport(name="d0", unprofiled=[pb.Unprofiled(application="cars", variant="xl", reason="no model")])
    status = pb.StatusReply(workers=[pb.WorkerStatus(device=device, connected=True)])
    assert refusals(status) == ["d0 could not profile cars/xl: no model"]


def test_status_still_says_what_a_worker_refused_when_the_next_plan_does_without_it() -> None:
    device = pb.DeviceReport(name="d0", applied_version=4, refused_version=3, refused_reason="corrupt")
    status = pb.StatusReply(workers=[pb.WorkerStatus(device=device, connected=True)], plan=pb.Plan(version=4))
    (worker,) = live_workers(status, {})
    assert worker.note == "earlier refused plan 3: corrupt"


def test_apply_gives_up_and_says_why(process: Process, tmp_path: Path) -> None:
    cars = write_application(tmp_path, "lonely")
    result = call("apply", str(cars), "--controller", process.address, "--timeout", "1")
    assert isinstance(result.exception, TidewiseError)
    assert "lonely is not ready after 1 s: no worker is attached" in str(result.exception)


def _digest(application: Application) -> str:
    variant = application.variant("small")
    assert variant is not None
    return variant.digest
