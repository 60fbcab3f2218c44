"""The three ways bench/worker.py runs the same queries: bare, through a worker's device, and over gRPC."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import onnxruntime
from worker_client import call

from tidewise.core.application import Application
from tidewise.worker.engine.base import Session, Tensors
from tidewise.worker.query import LaneKey
from tidewise.worker.station import Station
from tidewise.worker.tensors import Array, assemble, row_count

PATIENCE = 600.0  # seconds; no query here is ever late


class Round(NamedTuple):
    """One round of one way: queries per second, and processor seconds of a query in this process."""

    qps: float
    cpu: float


class Stopwatch:
    """Wall-clock and processor time since it was made."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def round(self, queries: int) -> Round:
        return Round(queries / (time.perf_counter() - self.wall), (time.process_time() - self.cpu) / queries)


class Counting:
    """A session that remembers how many rows each batch had."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sizes: list[int] = []

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, Array]:
        self.sizes.append(row_count(inputs))
        return self.session.run(inputs, outputs)

    def close(self) -> None:
        self.session.close()


@dataclass(frozen=True, slots=True)
class Bench:
    """One variant made ready three ways; ``window`` queries are always under way, two full batches."""

    application: Application
    station: Station
    counting: Counting
    bare: onnxruntime.InferenceSession
    address: str
    queries: list[dict[str, Array]]
    requests: list[bytes]
    window: int

    async def engine_round(self, count: int) -> Round:
        """In process: each query is queued, batched, run and cut out again."""
        names = [one.name for one in self.application.outputs]
        lane, loop = LaneKey(self.application.name), asyncio.get_running_loop()

        async def ask_on() -> None:
            for place in range(count // self.window):
                query = self.queries[place % len(self.queries)]
                _, future = self.station.submit(lane, loop.time() + PATIENCE, 1, query, names)
                await future

        watch = Stopwatch()
        await asyncio.gather(*(ask_on() for _ in range(self.window)))
        return watch.round(count // self.window * self.window)

    def bare_round(self, sizes: Sequence[int]) -> Round:
        """Nothing but onnxruntime, on batches of these sizes made before the clock starts."""
        names = [one.name for one in self.application.outputs]
        ready = {size: assemble([self.queries[place % len(self.queries)] for place in range(size)]) for size in sizes}
        watch = Stopwatch()
        for size in sizes:
            self.bare.run(names, ready[size])
        return watch.round(sum(sizes))

    async def served_rate(self, count: int, clients: ProcessPoolExecutor) -> float:
        """Over gRPC, from another process."""
        loop = asyncio.get_running_loop()
        share = count // self.window
        seconds = await loop.run_in_executor(clients, call, self.address, self.requests, self.window, share)
        return self.window * share / seconds
