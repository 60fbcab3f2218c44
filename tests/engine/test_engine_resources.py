"""What engines promise about memory, processor time and the interpreter lock."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import onnxruntime
import psutil
import pytest

from tidewise.core.errors import EngineError
from tidewise.native import library
from tidewise.worker.engine.base import Engine, Session, SessionOptions

MIB = 1024 * 1024


def rows(count: int) -> dict[str, np.ndarray]:
    return {"x": np.ones((count, 512), np.float32)}


def test_sixty_loads_and_unloads_leave_memory_where_it_was(engine: Engine, models: Path) -> None:
    def cycle() -> None:
        session = engine.load(models / "heavy.onnx", SessionOptions())
        for count in (1, 64, 3):
            session.run(rows(count), ["y"])
        session.close()

    process = psutil.Process()
    for _ in range(10):
        cycle()
    before = process.memory_info().rss
    for _ in range(60):
        cycle()
    assert process.memory_info().rss - before < 40 * MIB  # one model with its activations holds more than 10 MiB


def test_sessions_of_several_threads_do_not_spin_while_idle(engine: Engine, models: Path) -> None:
    sessions = [engine.load(models / "heavy.onnx", SessionOptions(threads=2)) for _ in range(3)]
    for session in sessions:
        session.run(rows(16), ["y"])
    began = time.process_time()
    time.sleep(1.0)
    assert time.process_time() - began < 0.2  # three threads that spin take three seconds


def test_python_goes_on_while_a_batch_runs(engine: Engine, models: Path) -> None:
    session = engine.load(models / "heavy.onnx", SessionOptions())
    running = threading.Event()

    def run_long(target: Session) -> None:
        running.set()
        for _ in range(4):
            target.run(rows(4096), ["y"])
        running.clear()

    thread = threading.Thread(target=run_long, args=(session,))
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += running.is_set()
        time.sleep(0.001)
    assert ticks > 10


def test_outputs_share_the_engine_s_memory_instead_of_being_copied(native_engine: Engine, models: Path) -> None:
    session = native_engine.load(models / "heavy.onnx", SessionOptions())
    answer = session.run(rows(2), ["y"])["y"]
    assert not answer.flags.owndata
    assert type(answer.base).__name__ == "PyCapsule"


def test_the_native_engine_reads_the_version_of_the_installed_library(native_engine: Engine) -> None:
    from tidewise.native import _engine

    assert _engine.version(str(library.onnxruntime_library())) == onnxruntime.__version__


def test_a_library_that_is_not_onnxruntime_is_refused_by_name(native_engine: Engine) -> None:
    from tidewise.native import _engine

    with pytest.raises(_engine.OrtError, match=r"absent\.so"):
        _engine.version("/absent.so")
    with pytest.raises(_engine.OrtError, match="OrtGetApiBase"):
        _engine.version("libm.so.6")


def test_numbers_in_another_machine_s_byte_order_are_refused(native_engine: Engine, models: Path) -> None:
    session = native_engine.load(models / "heavy.onnx", SessionOptions())
    with pytest.raises(EngineError, match="'x' has type >f4"):
        session.run({"x": np.ones((1, 512), ">f4")}, ["y"])


def test_the_library_is_looked_for_in_the_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert library.onnxruntime_library().name.startswith("libonnxruntime")
    monkeypatch.setattr(library, "PATTERNS", ("nothing-of-this-name*",))
    with pytest.raises(EngineError, match="no ONNX Runtime library"):
        library.onnxruntime_library()
