"""A whole cluster as `tidewise up` starts it, on emulated devices: its metrics, its logs, and `tidewise status`."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from observed import Process, Scrape, tidewise, wait_until
from worker_cluster import BEST, digits, images, patient, profile_of, request

from tidewise.cli.options import STARTER_MODELS
from tidewise.cli.state_folder import STATE_FILE
from tidewise.core.files import read_source
from tidewise.core.profile import Profile, format_profile
from tidewise.proto.inference_pb2_grpc import GRPCInferenceServiceStub

CLUSTER = """
[ports]
http = 0
grpc = 0
metrics = 0
controller = 0

[device_types.pretend]
provider = "emulated"
profile = "profile.json"
count = 2
"""
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@dataclass
class Up:
    """A cluster that `tidewise up` says is ready."""

    ready: str
    state: dict[str, Any]
    logs: Path

    def log(self, name: str) -> Process:
        """A process's log, to be searched."""
        return Process(None, self.logs / f"{name}.log")  # type: ignore[arg-type]

    def lose(self, **metadata: str) -> None:
        """Send a query that its worker finds wrong."""
        pairs = tuple((key.replace("_", "-"), value) for key, value in metadata.items())
        with grpc.insecure_channel(self.state["router"]) as channel:
            call = GRPCInferenceServiceStub(channel).ModelInfer.future(
                request(images(1), raw_input_contents=[b"1"]), metadata=pairs
            )
            assert call.exception().code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("up")
    models = [patient(folder / "models", STARTER_MODELS / name) for name in ("digits", "garments")]
    applications = [read_source(one).parse() for one in models]
    entries = [one for each in applications for one in profile_of(each, "pretend").entries.values()]
    (folder / "profile.json").write_text(format_profile(Profile().with_entries(entries)))
    (folder / "cluster.toml").write_text(CLUSTER)
    state = folder / "state"
    words = ("up", "--cluster", str(folder / "cluster.toml"), "--state", str(state))
    words += ("--repository", str(folder / "models"))
    with (folder / "out").open("w") as out:
        process = subprocess.Popen([sys.executable, "-m", "tidewise.cli.main", *words], stdout=out, stderr=out)
    try:
        wait_until(lambda: "ready: " in (folder / "out").read_text(), "ready", 100)
        ready = next(line for line in (folder / "out").read_text().splitlines() if line.startswith("ready: "))
        yield Up(ready, json.loads((state / STATE_FILE).read_text()), state / "logs")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def test_up_lists_the_metrics_of_every_process(up: Up) -> None:
    assert set(up.state["metrics"]) == set(up.state["children"]) == {"controller", "router", "worker-pretend"}
    assert len(set(up.state["metrics"].values())) == 3
    assert f"metrics: {up.state['metrics']['router']}" in up.ready
    for name, address in up.state["metrics"].items():
        assert f"tidewise_{name.partition('-')[0]}_plan_version" in Scrape(address).text


def test_router_and_workers_count_the_same_answers(up: Up) -> None:
    with grpc.insecure_channel(up.state["router"]) as channel:
        stub = GRPCInferenceServiceStub(channel)
        for _ in range(10):
            stub.ModelInfer(request(images(1)), timeout=60)
    routed = up.state["metrics"]["router"]  # which reads the counts of a data plane in C++ a few times a second
    wait_until(lambda: Scrape(routed).sum("tidewise_router_answers_total", application="digits") == 10, "ten answers")
    router, worker = (Scrape(up.state["metrics"][name]) for name in ("router", "worker-pretend"))
    answered = router.sum("tidewise_router_answers_total", application="digits")
    assert answered == worker.sum("tidewise_worker_answers_total", application="digits") == 10
    best = {"application": "digits", "variant": BEST.name}
    normalised = (BEST.accuracy or 0) / digits().best_accuracy()
    on_time = router.sum("tidewise_router_queries_total", outcome="on_time", application="digits")
    if router.sum("tidewise_router_answers_total", **best) == 10:
        assert router.sum("tidewise_router_on_time_accuracy_total") == pytest.approx(on_time * normalised)
    inside = router.sum("tidewise_router_stage_seconds_sum", application="digits", stage="queue")
    assert inside == pytest.approx(
        sum(worker.sum("tidewise_worker_stage_seconds_sum", stage=one) for one in ("queue", "batch")), abs=1e-4
    )


def test_one_name_follows_a_query_through_every_log(up: Up) -> None:
    up.lose(x_request_id="order-66", traceparent=TRACE)
    for name in ("router", "worker-pretend"):
        line = up.log(name).line(request_id="order-66")
        assert (line["reason"], line["traceparent"], line["application"]) == ("bad_input", TRACE, "digits")
        assert line["worker"].startswith("pretend-")


def test_a_name_made_up_by_the_router_is_the_workers_too(up: Up) -> None:
    up.lose()

    def made_up() -> list[str]:
        told = up.log("router").lines(reason="bad_input")
        return [line["request_id"] for line in told if line["request_id"] != "order-66"]

    wait_until(made_up, "the router's line")
    assert up.log("worker-pretend").line(request_id=made_up()[-1])["reason"] == "bad_input"


def test_watching_without_a_terminal_prints_plain_lines(up: Up, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        words = [sys.executable, "-m", "tidewise.cli.main", "status", "--controller", up.state["controller"], "--watch"]
        watching = subprocess.Popen(words, stdout=file)
    wait_until(lambda: out.read_text().count("\n") >= 1, "a line")
    watching.send_signal(signal.SIGINT)
    assert watching.wait(60) == 0
    assert all("| plan " in line and "digits" in line for line in out.read_text().splitlines())
    assert "\x1b" not in out.read_text()


def test_watching_on_a_terminal_is_one_screen_until_it_is_interrupted(up: Up) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tidewise.cli.main", "status", "--controller", up.state["controller"], "--watch"]
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    watching = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=terminal)
    os.close(theirs)
    words = [f"Tidewise at {up.state['controller']}", "digits", "garments", "pretend-0"]
    seen = read_until(ours, ["\x1b[", *words])
    watching.send_signal(signal.SIGINT)
    rest = read_until(ours)
    assert watching.wait(60) == 0
    assert "Traceback" not in seen + rest


def test_watching_as_json_is_one_object_a_line(up: Up, tmp_path: Path) -> None:
    words = ("status", "--controller", up.state["controller"], "--watch", "--json")
    out = tmp_path / "out"
    with out.open("wb") as file:
        watching = subprocess.Popen([sys.executable, "-m", "tidewise.cli.main", *words], stdout=file)
        wait_until(lambda: out.read_text().count("\n") >= 2, "two objects")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
    assert all(len(json.loads(line)["workers"]) == 2 for line in out.read_text().splitlines())


def read_until(terminal: int, words: Sequence[str] = ()) -> str:
    """What the other side writes until all of these words are among it, or, without any, until it closes."""
    end, found = time.monotonic() + 60, ""
    os.set_blocking(terminal, False)
    while not words or not all(word in found for word in words):
        try:
            found += os.read(terminal, 65536).decode(errors="replace")
        except BlockingIOError:
            assert time.monotonic() < end, found
            time.sleep(0.02)
        except OSError:  # closed
            assert not words, found
            break
    return found


def test_a_scrape_of_a_process_that_ends_does_not_hold_it_up(tmp_path: Path) -> None:
    words = (
        "router",
        "--join",
        "127.0.0.1:1",
        "--listen",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--drain-delay",
        "0",
    )
    with tidewise(tmp_path / "log", *words, "--metrics", "127.0.0.1:0") as process:
        up = process.line(event="router is listening")
        Scrape(f"127.0.0.1:{up['metrics_port']}")
        process.popen.terminate()
        assert process.popen.wait(60) == 0
