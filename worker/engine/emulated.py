"""Devices that are not there: sessions that take the time a profile says."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tidewise.core.application import TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import EngineError
from tidewise.core.profile import VariantProfile
from tidewise.worker.engine.base import Session, Tensors
from tidewise.worker.tensors import row_count

Sleep = Callable[[float], None]
LEAST_NOISE = 0.7  # of the median: no batch is ever faster than that


class EmulatedSession:
    """No model: a batch takes its profiled median and answers zeros of the right shape.

    A free axis of an output is as long as the first free axis of the inputs, or 1 if they have none.
    """

    def __init__(
        self,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        entry: VariantProfile,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self._by_name = {one.name: one for one in outputs}
        self._entry = entry
        self._sleep = sleep

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, NDArray[np.generic]]:
        """Zeros, after the batch's profiled median. Raises EngineError for an unknown output or too many rows."""
        rows = row_count(inputs)
        length = self._free_length(inputs)
        answer = {name: _zeros(self._output(name), rows, length) for name in outputs}
        self._sleep(profiled_median(self._entry, rows))
        return answer

    def close(self) -> None:
        """Nothing is held."""

    def _output(self, name: str) -> TensorSpec:
        if name not in self._by_name:
            raise EngineError(f"the emulated {self._entry.application!r} has no output {name!r}")
        return self._by_name[name]

    def _free_length(self, inputs: Tensors) -> int:
        lengths = (
            length
            for one in self.inputs
            for want, length in zip(one.shape, inputs[one.name].shape[1:], strict=False)
            if want == -1
        )
        return next(lengths, 1)


def _zeros(output: TensorSpec, rows: int, length: int) -> NDArray[np.generic]:
    shape = [length if axis == -1 else axis for axis in output.shape]
    return np.zeros((rows, *shape), DATATYPES[output.datatype])


class SlowdownSession:
    """A slower device played by this one.

    A batch ends at its start plus the slower device's profiled median, never before its computation is done.
    ``entry`` is the slower device's profile, so the slowdown is in it already.
    """

    def __init__(
        self,
        session: Session,
        entry: VariantProfile,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.session = session
        self.entry = entry
        self._clock = clock
        self._sleep = sleep

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, NDArray[np.generic]]:
        """The real outputs, no sooner than the slower device would have them."""
        due = self._clock() + profiled_median(self.entry, row_count(inputs))
        answer = self.session.run(inputs, outputs)
        self._sleep(max(0.0, due - self._clock()))
        return answer

    def close(self) -> None:
        """Close the session that computes."""
        self.session.close()


def with_noise(seconds: float, noise: float, generator: random.Random) -> float:
    """The seconds times a normal factor of standard deviation ``noise``."""
    return seconds * max(LEAST_NOISE, generator.gauss(1.0, noise)) if noise else seconds


def profiled_median(entry: VariantProfile, rows: int) -> float:
    """Seconds a batch of ``rows`` takes. Raises EngineError beyond the largest profiled batch: nothing is invented."""
    if rows > entry.max_batch:
        raise EngineError(
            f"{entry.variant!r} on {entry.device_type!r} is profiled up to {entry.max_batch} rows, not {rows}"
        )
    return entry.p50(rows)
