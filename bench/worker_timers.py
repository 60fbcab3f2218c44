"""How late a worker's timed batches start: queries that wait for company until their deadlines press."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.profile import BatchLatency, VariantProfile
from tidewise.worker.answer import Answer
from tidewise.worker.batching import RULES
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Policy
from tidewise.worker.engine.base import Session, Tensors
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey
from tidewise.worker.servable import servable
from tidewise.worker.sessions import Source
from tidewise.worker.station import Station
from tidewise.worker.stations import make_stations

BUDGET, LATENCIES = 0.025, {1: 0.01, 2: 0.015}  # seconds; a query waits until two could no longer run in time
VARIANT = Variant("only", 1, "only.onnx", 1.0)
TIMED = Application("timed", 1.0, (VARIANT,), (TensorSpec("x", "FP32", (1,)),), (TensorSpec("y", "FP32", (1,)),))
PROFILE = VariantProfile(
    "timed", "only", "timed", tuple(BatchLatency(size, one, one) for size, one in LATENCIES.items())
)


class Nothing:
    """A session that answers at once."""

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        return {"y": np.asarray(inputs["x"])}

    def close(self) -> None:
        """Nothing is held."""


async def lateness(count: int) -> list[float]:
    """Seconds by which each of so many single queries was started later than its rule wanted."""

    async def loaded(device_type: DeviceType, source: Source) -> Session:
        return Nothing()

    policy = Policy(RULES["deadline"], CHOICES["planned"])
    station = make_stations({"t0": DeviceType("timed")}, policy, loaded)["t0"]
    station.order(Order(1, "timed", (servable(TIMED, VARIANT, PROFILE),)), [Source(TIMED, VARIANT, PROFILE)])
    while station.device.hosting.pending is not None:
        await asyncio.sleep(0.001)
    found = []
    loop, x = asyncio.get_running_loop(), {"x": np.zeros((1, 1), np.float32)}
    for _ in range(count):
        sent = loop.time()
        _, future = station.submit(LaneKey("timed"), sent + BUDGET, 1, x, ["y"])
        answer = await future
        # One that could no longer be met was late by more than the slack between the two.
        late = answer.queued - (BUDGET - LATENCIES[2]) if isinstance(answer, Answer) else LATENCIES[2] - LATENCIES[1]
        found.append(late)
    if not isinstance(station, Station):
        found = station.core.take_effort()[2]  # from when each timer was due, without what handing over takes
    station.close()
    return found
