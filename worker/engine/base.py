"""What a worker asks of an engine. Implementations: native.py (C++), onnx.py (Python), emulated.py (no model)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Tensors = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a variant is loaded: threads inside one operator, and the onnxruntime execution provider's name."""

    threads: int = 1
    provider: str = "CPUExecutionProvider"


class Session(Protocol):
    """One loaded variant. ``run`` may be called from any thread, one call at a time."""

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, NDArray[np.generic]]:
        """The named outputs of one batch (rows first). Blocks with the interpreter lock released.

        Raises EngineError with the engine's own reason.
        """
        ...

    def close(self) -> None:
        """Give the memory back; running afterwards is an error."""
        ...


class Engine(Protocol):
    """Loads variants."""

    name: str

    def load(self, model: Path, options: SessionOptions) -> Session:
        """A session for the model file. Raises EngineError naming the file if it cannot be loaded."""
        ...
