"""A worker's device in C++; worker/native_station.py is what a worker uses."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from tidewise.native import _engine

Model = tuple[str, ...]
Shape = tuple[int, ...]
Spec = tuple[str, np.dtype[np.generic], Shape]
Array = NDArray[np.generic]

class Servable:
    def __init__(
        self,
        model: Model,
        version: int,
        sizes: Sequence[int],
        padded: Sequence[int],
        latency: Sequence[float],
        brisk: Sequence[int],
    ) -> None: ...

def knows(rule: str, choice: str) -> bool: ...

class Order:
    def __init__(self, version: int, application: str, warm: Sequence[Servable], ceiling: int) -> None: ...

class Machine:
    def __init__(
        self, rule: str, choice: str, max_queue: int, reserve: float, linger: float, bounds: Sequence[float]
    ) -> None: ...
    def arrived(
        self,
        id: int,
        application: str,
        pin: str,
        shapes: Sequence[Shape],
        since: float,
        deadline: float,
        rows: int,
        now: float,
    ) -> list[tuple[Any, ...]]: ...
    def batch_done(self, now: float, failures: Mapping[int, str]) -> list[tuple[Any, ...]]: ...
    def timer(self, now: float) -> list[tuple[Any, ...]]: ...
    def cancelled(self, id: int, now: float, reason: str) -> list[tuple[Any, ...]]: ...
    def hosted(
        self, switches: Sequence[Order], leaving: Sequence[Model], serving: str, now: float
    ) -> list[tuple[Any, ...]]: ...
    def drain(self, now: float) -> list[tuple[Any, ...]]: ...
    def set_linger(self, seconds: float) -> None: ...
    def counters(self) -> dict[str, Any]: ...
    @property
    def wake(self) -> float: ...
    @property
    def margin(self) -> float: ...
    @property
    def gone(self) -> int: ...
    @property
    def busy(self) -> bool: ...
    @property
    def queued(self) -> int: ...

class Engine: ...

def ort_engine(session: _engine.Session) -> Engine: ...
def paced_engine(engine: Engine, medians: Sequence[float]) -> Engine: ...
def zero_engine(inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Engine: ...
def python_engine(run: Callable[[Mapping[str, Array], Sequence[str]], Sequence[Array] | str]) -> Engine: ...

class Clockwork: ...

class Outbox:
    @property
    def fd(self) -> int: ...
    def drain(self) -> tuple[list[tuple[Any, ...]], list[tuple[Model, int]]]: ...

class Reading(TypedDict):
    queued: int
    busy: bool
    waiting: dict[str, int]
    arrivals: int
    margin: float
    due: float

class Station:
    def __init__(
        self,
        name: str,
        rule: str,
        choice: str,
        max_queue: int,
        reserve: float,
        linger: float,
        bounds: Sequence[float],
        clockwork: Clockwork,
        outbox: Outbox,
        emulated: bool,
        noise: float,
    ) -> None: ...
    def submit(
        self,
        outbox: Outbox,
        id: int,
        application: str,
        pin: str,
        shapes: Sequence[Shape],
        deadline: float,
        rows: int,
        inputs: Mapping[str, Array],
        outputs: Sequence[str],
    ) -> None: ...
    def cancel(self, id: int, reason: str) -> None: ...
    def hosted(
        self, switches: Sequence[Order], leaving: Sequence[Model], serving: str, ready: Sequence[str]
    ) -> int: ...
    def install(self, model: Model, engine: Engine, medians: Sequence[float]) -> None: ...
    def forget(self, model: Model) -> None: ...
    def drain(self) -> None: ...
    def close(self) -> None: ...
    def read(self) -> Reading: ...
    def counters(self) -> dict[str, Any]: ...
    def set_linger(self, seconds: float) -> None: ...
    def take_effort(self) -> tuple[float, int, list[float]]: ...

class Front:
    def __init__(
        self,
        listener: int,
        python: str,
        devices: Mapping[str, tuple[Station, str]],
        max_message: int,
        bounds: Sequence[float],
    ) -> None: ...
    def know(self, applications: Sequence[tuple[Any, ...]]) -> None: ...
    def drain(self) -> None: ...
    def close(self) -> None: ...
    def read(self) -> dict[str, Any]: ...
    def take_losses(self) -> tuple[list[tuple[Any, ...]], dict[tuple[str, str], int]]: ...
    @property
    def connections(self) -> int: ...

def drive(
    station: Station,
    application: str,
    queries: Sequence[Mapping[str, Array]],
    outputs: Sequence[str],
    count: int,
    window: int,
) -> float: ...
