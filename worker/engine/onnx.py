"""The engine in pure Python: onnxruntime's own binding, for every provider that onnxruntime offers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from tidewise.core.errors import EngineError
from tidewise.worker.engine.base import SessionOptions, Tensors
from tidewise.worker.engine.heap import return_free_memory

LOG_FATAL_ONLY = 4  # errors are raised, and logged as our own


class OnnxSession:
    """One model loaded by the onnxruntime binding. One run at a time; others wait."""

    def __init__(self, model: Path, options: SessionOptions) -> None:
        self._lock = threading.Lock()
        self._session: Any = _open(model, options)

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, NDArray[np.generic]]:
        """The named outputs of one batch. Raises EngineError with onnxruntime's reason."""
        feed = {name: np.require(value, requirements=["C", "A"]) for name, value in inputs.items()}
        with self._lock:
            if self._session is None:
                raise EngineError("the model was closed and cannot run")
            try:
                values = self._session.run(list(outputs), feed)
            except Exception as error:  # onnxruntime raises a dozen classes that share no base of their own
                raise EngineError(f"the model could not run: {error}") from error  # callers read this: no paths
        return dict(zip(outputs, values, strict=True))

    def close(self) -> None:
        """Give the memory back once a run in progress is done."""
        with self._lock:
            self._session = None
            return_free_memory()


class OnnxEngine:
    """Loads models with the onnxruntime binding."""

    name = "python"

    def load(self, model: Path, options: SessionOptions) -> OnnxSession:
        """A session for the model file. Raises EngineError naming the file or the missing provider."""
        return OnnxSession(model, options)


def _open(model: Path, options: SessionOptions) -> Any:
    offered = onnxruntime.get_available_providers()
    if options.provider not in offered:
        raise EngineError(f"provider {options.provider!r} is not in this onnxruntime; it offers {', '.join(offered)}")
    try:
        session = onnxruntime.InferenceSession(model, _session_options(options), providers=[options.provider])
    except Exception as error:  # see OnnxSession.run
        raise EngineError(f"{model} could not be loaded: {error}") from error
    if options.provider not in session.get_providers():  # a provider that fails to start is skipped silently
        raise EngineError(f"{model} could not be loaded: provider {options.provider!r} did not start")
    return session


def _session_options(options: SessionOptions) -> Any:
    """Explicit threads that never spin while idle, and no memory pattern, since batch sizes change from run to run."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    settings.enable_mem_pattern = False
    settings.log_severity_level = LOG_FATAL_ONLY
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    settings.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return settings
