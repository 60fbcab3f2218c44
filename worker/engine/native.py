"""The engine in C++: ONNX Runtime on the CPU through its C interface, with the interpreter lock released."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import EngineError
from tidewise.native import _engine
from tidewise.native.library import onnxruntime_library
from tidewise.worker.engine.base import SessionOptions, Tensors

CPU_PROVIDER = "CPUExecutionProvider"


class NativeSession:
    """One model loaded by the extension. One run at a time; others wait."""

    def __init__(self, session: _engine.Session) -> None:
        self.session = session

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, NDArray[np.generic]]:
        """The named outputs of one batch, in memory of their own. Raises EngineError with ONNX Runtime's reason."""
        try:
            return self.session.run(dict(inputs), outputs)
        except _engine.OrtError as error:
            raise EngineError(f"the model could not run: {error}") from error  # callers read this: no paths

    def close(self) -> None:
        """Give the memory back once a run in progress is done."""
        self.session.close()


class NativeEngine:
    """Loads models with the C++ extension. Only the CPU provider; others are the Python engine's."""

    name = "native"

    def __init__(self) -> None:
        self._library = str(onnxruntime_library())
        try:
            self.version = _engine.version(self._library)
        except _engine.OrtError as error:
            raise EngineError(f"the native engine cannot use {self._library}: {error}") from error

    def load(self, model: Path, options: SessionOptions) -> NativeSession:
        """A session for the model file. Raises EngineError naming the file or the provider."""
        if options.provider != CPU_PROVIDER:
            raise EngineError(f"the native engine offers {CPU_PROVIDER} only, not {options.provider!r}")
        try:
            return NativeSession(_engine.Session(self._library, str(model), options.threads))
        except _engine.OrtError as error:
            raise EngineError(f"{model} could not be loaded: {error}") from error
