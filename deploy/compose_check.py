"""Brings the compose cluster up with a real engine, offers it demand, kills a worker, and says whether it held.

    python deploy/compose_check.py        or: make compose-check

Prints one JSON object; exit code 0 if everything held, 1 if not, 2 if there is no engine to run it with. Everything it
starts is taken down again, its volumes too. Ports are free ones of this machine; BASE names another base image.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROJECT = f"tidewise-check-{os.getpid()}"
PORTS = ("CONTROLLER", "GRPC", "HTTP", "METRICS")
WORKERS = 3
VICTIM = "worker-medium"
READY_SECONDS, BACK_SECONDS, HEALTHY_SECONDS = 300.0, 120.0, 120.0
COUNTED_SECONDS = 1.0  # after which the router has surely read what its native plane counted
ANSWERED = 0.9  # of the queries of each phase, the one in which a worker is killed included


class Failed(Exception):
    """The check cannot go on; the text says why."""


def main() -> int:
    """Run the check; the exit code."""
    missing = missing_engine()
    if missing is not None:
        print(f"compose-check: {missing}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    result: dict[str, Any] = {"ok": False}
    try:
        with tempfile.TemporaryDirectory(prefix="tidewise-check-") as folder:
            check(Cluster(), Path(folder), result)
    except Failed as failure:
        result["failure"] = str(failure)
    print(json.dumps(result, indent=1))
    return 0 if result["ok"] else 1


def missing_engine() -> str | None:
    """One sentence about what is missing to run containers here; None if nothing is."""
    if shutil.which("docker") is None:
        return (
            "there is no docker command here; install Docker Engine with the Compose plugin, or run it where there is"
        )
    engine = subprocess.run(["docker", "version"], capture_output=True, text=True, check=False)
    if engine.returncode != 0:
        reason = engine.stderr.strip().splitlines()[-1:] or ["no reason given"]
        return f"no docker engine answers ({reason[0]}); start one, or set DOCKER_HOST to where one listens"
    plugin = subprocess.run(["docker", "compose", "version"], capture_output=True, text=True, check=False)
    if plugin.returncode != 0:
        return "docker has no Compose plugin (version 2); install docker-compose-plugin"
    return None


class Cluster:
    """The containers of one check, under a project name and on ports of their own."""

    def __init__(self) -> None:
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        own = {f"TIDEWISE_{name}_PORT": str(port) for name, port in self.ports.items()}
        self._environment = {**os.environ, **own, "TIDEWISE_IMAGE": f"{PROJECT}:latest"}

    def compose(self, *words: str, limit: float = 300.0) -> str:
        """Run a compose command; its output. Raises Failed."""
        command = [
            "docker",
            "compose",
            "--ansi",
            "never",
            "-p",
            PROJECT,
            "-f",
            str(ROOT / "docker-compose.yml"),
            *words,
        ]
        return run(command, limit, self._environment)

    def status(self) -> dict[str, Any]:
        """What the controller says now; empty if it does not answer yet."""
        try:
            words = ("status", "--json", "--controller", f"127.0.0.1:{self.ports['CONTROLLER']}")
            values: dict[str, Any] = json.loads(tidewise(*words))
        except Failed:
            return {}
        return values

    def remove(self) -> None:
        """Take everything down, volumes and image too."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")
        subprocess.run(["docker", "image", "rm", f"{PROJECT}:latest"], capture_output=True, check=False)


def check(cluster: Cluster, folder: Path, result: dict[str, Any]) -> None:
    """The whole check, figures going into ``result`` as they are found. Raises Failed."""
    with timed(result, "build_s"):
        cluster.compose("build", "controller", limit=1800)
    try:
        serve(cluster, folder, result)
    except Failed:
        say("the last words of the containers:\n" + cluster.compose("logs", "--no-color", "--tail", "15"))
        raise
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # whoever is impatient now would leave containers behind
        with timed(result, "down_s"):
            cluster.remove()


def serve(cluster: Cluster, folder: Path, result: dict[str, Any]) -> None:
    """From an empty state to the verdict."""
    with timed(result, "ready_from_nothing_s"):
        cluster.compose("up", "--detach", "--no-build")
        until(lambda: is_ready(cluster.status()), READY_SECONDS, "three workers that serve")
    result["cores"] = cores(cluster)
    phases = result["phases"] = {}
    phases["whole"] = offer(cluster, folder, seconds=15)
    killer = threading.Timer(5.0, cluster.compose, ("kill", VICTIM))
    killer.start()
    phases["one worker killed"] = offer(cluster, folder, seconds=20)
    killer.join()
    result["left_after_kill"] = sum(one["connected"] for one in cluster.status()["workers"])
    with timed(result, "back_s"):
        cluster.compose("start", VICTIM)
        until(lambda: is_ready(cluster.status()), BACK_SECONDS, "the killed worker to serve again")
    phases["whole again"] = offer(cluster, folder, seconds=15)
    time.sleep(COUNTED_SECONDS)
    result["router"] = totals(cluster.ports["METRICS"])
    until(lambda: is_healthy(cluster), HEALTHY_SECONDS, "every container to be healthy")
    judge(result)


def judge(result: dict[str, Any]) -> None:
    """Set ``ok``, or raise Failed with the first promise that was broken."""
    for name, phase in result["phases"].items():
        if phase["arrivals"] != sum(phase["outcomes"].values()):
            raise Failed(f"{name}: {phase['arrivals']} arrivals, but {sum(phase['outcomes'].values())} outcomes")
        answered = phase["outcomes"]["on_time"] + phase["outcomes"]["late"]
        if answered < ANSWERED * phase["arrivals"]:
            raise Failed(f"{name}: only {answered} of {phase['arrivals']} queries were answered")
    sent = sum(one["arrivals"] for one in result["phases"].values())
    if set(result["router"].values()) != {sent}:
        raise Failed(f"{sent} queries were sent, but the router counted {result['router']}")
    if result["left_after_kill"] != WORKERS - 1:
        raise Failed(f"after one of {WORKERS} workers was killed, {result['left_after_kill']} were connected")
    result["ok"] = True


def is_ready(status: Mapping[str, Any]) -> bool:
    """Whether all workers are connected and host something, every application is routed, and the router knows."""
    workers = [one for one in status.get("workers", []) if one["connected"]]
    serving = {warm["application"] for one in workers for warm in one["device"]["warm"]}
    busy = sum(bool(one["device"]["warm"]) for one in workers)
    routed = any(one["applied_revision"] >= status["revision"] for one in status.get("routers", []))
    return busy == WORKERS and len(serving) == len(status["applications"]) and routed


def is_healthy(cluster: Cluster) -> bool:
    """Whether the engine says so of every container."""
    states = [json.loads(line) for line in cluster.compose("ps", "--format", "json").splitlines()]
    return len(states) == WORKERS + 2 and all(one["Health"] == "healthy" for one in states)


def offer(cluster: Cluster, folder: Path, seconds: int) -> dict[str, Any]:
    """Replay a short trace; what became of its queries."""
    trace, out = folder / f"{seconds}.csv", tempfile.mkdtemp(dir=folder)
    where = ("--repository", str(ROOT / "models"))
    tidewise(
        "trace", "generate", str(trace), "--seconds", str(seconds), "--peak-qps", "20", "--shape", "constant", *where
    )
    target = f"127.0.0.1:{cluster.ports['GRPC']}"
    values = json.loads(tidewise("replay", str(trace), "--target", target, "--out", out, "--json", *where))
    card = values["scorecard"]
    return {name: card[name] for name in ("arrivals", "outcomes", "latency_p50_ms", "latency_p99_ms")} | {
        "queries_per_variant": card["queries_per_variant"],
        "send_lateness_p99_ms": values["send_lateness"]["p99_ms"],
    }


def cores(cluster: Cluster) -> dict[str, str]:
    """What each worker makes of its limits: share of a core, and threads."""
    code = "from tidewise.worker.threads import *; print(f'{allotted_share():g} of a core, threads {allotted_cores()}')"
    services = [one for one in cluster.compose("ps", "--services").split() if one.startswith("worker")]
    return {one: cluster.compose("exec", "-T", one, "python3", "-c", code).strip() for one in sorted(services)}


def totals(port: int) -> dict[str, int]:
    """The router's own count of arrivals, and of queries ended."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    names = {"arrivals": "tidewise_router_arrivals_total{", "ended": "tidewise_router_queries_total{"}
    return {
        key: round(sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(start)))
        for key, start in names.items()
    }


def tidewise(*words: str) -> str:
    """Run a verb of this checkout; its output. Raises Failed."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return run([sys.executable, "-m", "tidewise.cli.main", *words], 120.0, {**os.environ, "PYTHONPATH": path})


def run(command: list[str], limit: float, environment: Mapping[str, str]) -> str:
    """A command's standard output. Raises Failed with the end of its standard error."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=dict(environment), cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"`{' '.join(command[:8])} ...` did not end within {limit:g} s") from late
    if done.returncode != 0:
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr[-2000:].strip()}")
    return done.stdout


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until the condition holds. Raises Failed."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"waited {seconds:g} s for {what} in vain")
        time.sleep(1.0)


@contextmanager
def timed(result: dict[str, Any], name: str) -> Iterator[None]:
    """Note the seconds the block took."""
    say(f"{name.removesuffix('_s').replace('_', ' ')} ...")
    began = time.monotonic()
    yield
    result[name] = round(time.monotonic() - began, 1)


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on at this moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def _leave(number: int, frame: object) -> None:
    sys.exit(f"compose-check: interrupted by {signal.Signals(number).name}")  # not Failed, which some steps expect


if __name__ == "__main__":
    sys.exit(main())
