"""The ways in which bench/worker.py runs the same queries: bare, through a worker's device, and over gRPC."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import onnxruntime
from worker_client import call

from tidewise.core.application import Application
from tidewise.worker.query import LaneKey
from tidewise.worker.station import Station
from tidewise.worker.stations import AnyStation
from tidewise.worker.tensors import assemble

PATIENCE = 600.0  # seconds; no query here is ever late


class Round(NamedTuple):
    """One round of one way: queries per second, and processor seconds of a query in this process."""

    qps: float
    cpu: float


class Stopwatch:
    """Wall-clock and processor time since it was made."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def round(self, queries: int, seconds: float | None = None) -> Round:
        """``seconds`` as the client measured them, this watch's own if None."""
        wall = time.perf_counter() - self.wall if seconds is None else seconds
        return Round(queries / wall, (time.process_time() - self.cpu) / queries)


@dataclass(frozen=True, slots=True)
class Bench:
    """One variant made ready; ``window`` queries are always under way. ``doors`` are addresses by name of front."""

    application: Application
    station: AnyStation
    bare: onnxruntime.InferenceSession
    doors: Mapping[str, str]
    queries: list[dict[str, object]]
    requests: list[bytes]
    window: int
    load: Path | None = None

    @property
    def batches(self) -> Counter[int]:
        """How many batches of each size the device has run."""
        counters = self.station.device.counters.variants.values()
        return sum((Counter(one.sizes) for one in counters), Counter())

    async def engine_round(self, count: int) -> Round:
        """In process: each query is queued, batched, run and cut out again."""
        count = count // self.window * self.window
        if isinstance(self.station, Station):
            return await self._python_round(count)
        from tidewise.native import _worker

        names = [one.name for one in self.application.outputs]
        watch = Stopwatch()
        seconds = _worker.drive(self.station.core, self.application.name, self.queries, names, count, self.window)
        return watch.round(count, seconds)

    async def _python_round(self, count: int) -> Round:
        names = [one.name for one in self.application.outputs]
        lane, loop = LaneKey(self.application.name), asyncio.get_running_loop()

        async def ask_on() -> None:
            for place in range(count // self.window):
                query = self.queries[place % len(self.queries)]
                _, future = self.station.submit(lane, loop.time() + PATIENCE, 1, query, names)
                await future

        watch = Stopwatch()
        await asyncio.gather(*(ask_on() for _ in range(self.window)))
        return watch.round(count)

    def bare_round(self, batches: Mapping[int, int]) -> Round:
        """Nothing but onnxruntime, on so many batches of each size, made before the clock starts."""
        names = [one.name for one in self.application.outputs]
        ready = {size: assemble([self.queries[place % len(self.queries)] for place in range(size)]) for size in batches}
        watch = Stopwatch()
        for size, count in batches.items():
            for _ in range(count):
                self.bare.run(names, ready[size])
        return watch.round(sum(size * count for size, count in batches.items()))

    async def served_round(self, door: str, count: int, clients: ProcessPoolExecutor) -> Round:
        """Over gRPC, from another process."""
        share = max(1, count // self.window)
        watch = Stopwatch()
        if self.load is not None:
            return watch.round(self.window * share, await self._loaded(door, self.window * share))
        loop = asyncio.get_running_loop()
        seconds = await loop.run_in_executor(clients, call, self.doors[door], self.requests, self.window, share)
        return watch.round(self.window * share, seconds)

    async def _loaded(self, door: str, count: int) -> float:
        assert self.load is not None
        file = Path("/dev/shm" if Path("/dev/shm").is_dir() else "/tmp") / f"tidewise-bench-{id(self)}"
        file.write_bytes(self.requests[0])
        words: Sequence[str] = (str(self.load), self.doors[door], str(file), "closed", str(self.window), str(count))
        try:
            process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
            said, _ = await process.communicate()
        finally:
            file.unlink()
        found = json.loads(said)
        assert found["errors"] == 0, found
        return float(found["queries"] / found["rps"])
