"""Real devices, real threads and the real clock, with sessions that sleep instead of computing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import EngineError
from tidewise.core.profile import BatchLatency, VariantProfile
from tidewise.worker.answer import Answer, Refused
from tidewise.worker.batching import RULES
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Policy
from tidewise.worker.engine.base import Tensors
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey
from tidewise.worker.servable import servable
from tidewise.worker.sessions import Source
from tidewise.worker.station import Station
from tidewise.worker.stations import make_stations

POISON = -1.0
ECHO = Application(
    name="echo",
    slo=10.0,
    variants=(Variant("large", 2, "large.onnx", 0.9, digest="l"), Variant("small", 1, "small.onnx", 0.8, digest="s")),
    inputs=(TensorSpec("x", "FP32", (-1,)),),
    outputs=(TensorSpec("double", "FP32", (-1,)), TensorSpec("sum", "FP32", (1,))),
)
LANE = LaneKey("echo", "", ((2,),))


@dataclass(eq=False)
class SleepingSession:
    """Doubles and sums each row after ``seconds``; a row that holds POISON fails the whole batch."""

    seconds: float
    batches: list[int] = field(default_factory=list)
    closed: bool = False

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        x = inputs["x"].astype(np.float32)
        self.batches.append(len(x))
        assert not self.closed
        time.sleep(self.seconds)
        if (x == POISON).any():
            raise EngineError("the model choked on a row")
        answers = {"double": 2 * x, "sum": x.sum(axis=1, keepdims=True)}
        return {name: answers[name] for name in outputs}

    def close(self) -> None:
        self.closed = True


class Bench:
    """A station that hosts ECHO's variants, loaded at once."""

    def __init__(
        self, seconds: float = 0.005, sizes: tuple[int, ...] = (1, 2, 4, 8), max_queue: int = 512, rule: str = "eager"
    ) -> None:
        self.sessions: dict[str, SleepingSession] = {}
        self.seconds = seconds
        self.sizes = sizes
        policy = Policy(RULES[rule], CHOICES["planned"], max_queue)
        self.station = make_stations({"d0": DeviceType("real")}, policy, self._load)["d0"]
        self.sent = 0

    async def _load(self, device_type: DeviceType, source: Source) -> SleepingSession:
        session = self.sessions[source.variant.name] = SleepingSession(self.seconds)
        return session

    @property
    def batches(self) -> list[int]:
        return self.sessions["large"].batches

    async def host(self, *names: str, version: int = 1) -> Bench:
        sources = [self._source(name) for name in names or ("large",)]
        warm = tuple(servable(ECHO, one.variant, one.profile) for one in sources)
        self.station.order(Order(version, "echo", warm), sources)
        while not self._in_force(version, len(warm)):
            await asyncio.sleep(0.001)
        return self

    def _in_force(self, version: int, warm: int) -> bool:
        serving = self.station.device.hosting.serving
        return serving.version == version and len(serving.warm) == warm

    def _source(self, name: str) -> Source:
        found = ECHO.variant(name)
        assert found is not None
        variant = replace(found, batch_sizes=self.sizes)
        batches = tuple(BatchLatency(size, self.seconds, self.seconds) for size in self.sizes)
        return Source(ECHO, variant, VariantProfile("echo", name, "real", batches))

    def linger(self, seconds: float) -> None:
        """Keep replaced variants for so long."""
        if isinstance(self.station, Station):
            self.station.device.repertoire.linger = seconds
        else:
            self.station.core.set_linger(seconds)

    def send(
        self,
        x: np.ndarray,
        within: float = 10.0,
        outputs: tuple[str, ...] = ("double", "sum"),
        lane: LaneKey | None = None,
    ) -> tuple[int, asyncio.Future[Answer | Refused]]:
        """A query with these rows; its id and its end."""
        self.sent += 1
        key = lane or LaneKey("echo", "", (x.shape[1:],))
        deadline = asyncio.get_running_loop().time() + within
        return self.station.submit(key, deadline, len(x), {"x": x}, outputs)

    async def ask(self, x: np.ndarray, within: float = 10.0) -> Answer | Refused:
        return await self.send(x, within)[1]


def rows(*values: float) -> np.ndarray:
    """Rows of two columns."""
    return np.array([[one, one + 0.5] for one in values], np.float32)


def threads() -> int:
    return sum(thread.name.startswith("device-") for thread in threading.enumerate())
