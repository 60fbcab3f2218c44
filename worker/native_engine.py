"""A loaded session as the C++ station runs it: without Python where it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tidewise.core.application import TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.profile import VariantProfile
from tidewise.native import _worker
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.emulated import EmulatedSession, SlowdownSession
from tidewise.worker.engine.native import NativeSession
from tidewise.worker.runner import sentence
from tidewise.worker.tensors import Array, Tensors


def native_engine(session: Session) -> _worker.Engine:
    """What runs batches on this session. An emulated one takes no time: its station waits for it."""
    match session:
        case NativeSession():
            return _worker.ort_engine(session.session)
        case SlowdownSession():
            return _worker.paced_engine(native_engine(session.session), medians(session.entry))
        case EmulatedSession():
            return _worker.zero_engine(_specs(session.inputs), _specs(session.outputs))
        case _:
            return _worker.python_engine(_called(session))


def medians(profile: VariantProfile) -> list[float]:
    """Seconds by rows, from none to the largest profiled batch."""
    return [0.0, *(profile.p50(rows) for rows in range(1, profile.max_batch + 1))]


def _specs(specs: Sequence[TensorSpec]) -> list[tuple[str, np.dtype[np.generic], tuple[int, ...]]]:
    return [(one.name, DATATYPES[one.datatype], tuple(one.shape)) for one in specs]


def _called(session: Session) -> Callable[[Tensors, Sequence[str]], list[Array] | str]:
    """Runs a session that only Python can: arrays in the order asked for, or the sentence of its failure."""

    def run(inputs: Tensors, outputs: Sequence[str]) -> list[Array] | str:
        try:
            found = session.run(inputs, outputs)
        except Exception as error:  # whatever an engine throws ends a query, never the device
            return sentence(error)
        return [found[name] for name in outputs]

    return run
