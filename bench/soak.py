"""Ten minutes of a real small cluster under queries that are cancelled, hurried or wrong, kills and new plans.

    python bench/soak.py [--seconds 600] [--rate 60] [--seed 0] [--json]

Half a minute at a time: two thirds without kills, then a third in which a worker is killed; the application that most
callers ask changes each time, so that plans do. Promises, and exit code 1 if one is broken:

- every query ends, and with an answer or a reason;
- every answer is what a bare session of the variant it names says;
- each end that callers saw the router counted, and the router counted no other, but for queries given up by their
  callers, which may end at the router as cancelled, in another way, or never have reached it;
- where no worker is killed, workers counted the answers that the router did, but for those it no longer waited for;
- the memory of controller, router, data plane and workers is flat: in the last third of the run as in the middle one.

No times are asserted, so it may run on a busy machine, and in pieces: three runs of 200 s with seeds of their own, say.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from soak_counts import Counts, answered_by_workers, disagreements, router_counts
from soak_load import UNANSWERED, Load, Subject

from tidewise.cli.local import LocalCluster, running, wait_until_ready
from tidewise.cli.options import STARTER_MODELS
from tidewise.core.cluster import CPU, Cluster, DeviceType, PlannerSettings, Ports
from tidewise.worker.profiling.effort import QUICK
from tidewise.worker.profiling.store import load_or_measure

APPLICATIONS = ("digits", "garments")
CLUSTER = Cluster(
    device_types={"cpu": DeviceType("cpu", count=3, provider=CPU, batch_sizes=(1, 2, 4, 8))},
    ports=Ports(http=0, grpc=0, metrics=0, controller=0),
    planner=PlannerSettings(period=2.0),
)
TURN, CALM_PART, READY_SECONDS, SETTLE_SECONDS = 30.0, 2 / 3, 60.0, 30.0
GROWTH, SLACK_MB = 1.05, {"worker": 30.0, "": 6.0}  # what is still flat


class Soak:
    """One run: the cluster, its callers, and what was found broken."""

    def __init__(self, local: LocalCluster, rate: float, seed: int) -> None:
        self.local, self.rate = local, rate
        self.rng = random.Random(seed)
        self.load = Load(local.router, {name: Subject.read(STARTER_MODELS / name) for name in APPLICATIONS}, seed)
        self.broken: list[str] = []
        self.kills, self.first_plan, self.last_plan = 0, 0, 0
        self.memory: dict[str, list[float]] = {}

    async def run(self, seconds: float) -> None:
        tending = asyncio.create_task(self._tend())
        try:
            for turn in range(max(1, round(seconds / TURN))):
                favourite = APPLICATIONS[turn % len(APPLICATIONS)]
                await self._ready()
                await self._phase(TURN * CALM_PART, favourite, calm=True)
                killing = asyncio.create_task(self._kill(self.rng.uniform(1, 4)))
                await self._phase(TURN * (1 - CALM_PART), favourite, calm=False)
                await killing
                self._weigh()
        finally:
            tending.cancel()

    async def _phase(self, seconds: float, favourite: str, calm: bool) -> None:
        """Ask for a while, wait until the router has counted all of it, and compare."""
        asked = Counter(self.load.ended)
        router, workers = await self._router(), await self._workers() if calm else Counter()
        await self.load.run(seconds, self.rate, favourite)
        seen = self.load.ended - asked
        counted = (await self._router()).since(router)
        self.broken += disagreements(seen, counted, (await self._workers()) - workers if calm else None)

    async def _router(self) -> Counts:
        """The router's counts, once as many queries have ended as came."""
        deadline = time.monotonic() + SETTLE_SECONDS
        await asyncio.sleep(0.6)  # a data plane in a process of its own is read every quarter of a second
        while True:
            found = await asyncio.to_thread(router_counts, self.local.metrics["router"])
            if found.arrivals.total() == found.ended.total():
                return found
            if time.monotonic() > deadline:
                self.broken.append(f"{found.arrivals.total() - found.ended.total():g} queries do not end at the router")
                return found
            await asyncio.sleep(0.3)

    async def _workers(self) -> Counter[str]:
        places = [address for name, address in self.local.metrics.items() if name.startswith("worker")]
        found = await asyncio.gather(*(asyncio.to_thread(answered_by_workers, each) for each in places))
        return sum(found, Counter())

    async def _ready(self) -> None:
        status = await asyncio.to_thread(wait_until_ready, self.local, READY_SECONDS)
        self.first_plan = self.first_plan or status.plan.version
        self.last_plan = status.plan.version

    async def _kill(self, delay: float) -> None:
        await asyncio.sleep(delay)
        victims = [pid for name, pid in self.local.children.pids().items() if name == "worker-cpu-0"]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
            self.kills += 1

    async def _tend(self) -> None:
        while True:
            self.local.children.tend()
            await asyncio.sleep(0.2)

    def _weigh(self) -> None:
        for name, pid in self.local.children.pids().items():
            if name == "worker-cpu-0":
                continue  # it is young
            process = psutil.Process(pid)
            self.memory.setdefault(name, []).append(process.memory_info().rss / 1e6)
            if name == "router":
                planes = [one for one in process.children() if "tidewise-router" in one.name()]
                self.memory.setdefault("plane", []).extend(one.memory_info().rss / 1e6 for one in planes)

    def judged(self) -> dict[str, object]:
        """The run as one object."""
        broken = [*self.broken, *sorted(set(self.load.faults))]
        silent = sum(count for (_, ending), count in self.load.ended.items() if ending == UNANSWERED)
        if silent:
            broken.append(f"{silent} queries ended without an answer or a reason")
        broken += [fault for name, sizes in self.memory.items() if (fault := grown(name, sizes))]
        return {
            "ok": not broken,
            "broken": broken,
            "queries": self.load.ended.total(),
            "endings": {f"{name}/{ending}": count for (name, ending), count in sorted(self.load.ended.items())},
            "wrong_answers": len(self.load.faults),
            "kills": self.kills,
            "plans": self.last_plan - self.first_plan,
            "memory_mb": {name: [round(one, 1) for one in sizes] for name, sizes in self.memory.items()},
        }


def grown(name: str, sizes: list[float]) -> str:
    """A sentence if a process has grown between the middle and the last third of its run."""
    third = len(sizes) // 3
    if third < 2:
        return ""
    middle, last = statistics.median(sizes[third : 2 * third]), statistics.median(sizes[2 * third :])
    slack = SLACK_MB["worker" if name.startswith("worker") else ""]
    return f"{name} grew from {middle:.1f} to {last:.1f} MB" if last > middle * GROWTH + slack else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=60.0, help="queries a second")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        load_or_measure(STARTER_MODELS, CLUSTER, folder / "profile.json", QUICK)
        with running(CLUSTER, STARTER_MODELS, folder / "state", folder / "profile.json", _say) as local:
            wait_until_ready(local)
            soak = Soak(local, options.rate, options.seed)
            asyncio.run(soak.run(options.seconds))
            found = soak.judged()
    print(json.dumps(found) if options.json else "\n".join(f"{key}: {value}" for key, value in found.items()))
    return 0 if found["ok"] else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
