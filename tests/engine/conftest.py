from __future__ import annotations

from pathlib import Path

import pytest

from tidewise.worker.engine.base import Engine
from tidewise.worker.engine.onnx import OnnxEngine


@pytest.fixture
def models() -> Path:
    return Path(__file__).parent.parent / "data" / "engine"


@pytest.fixture
def native_engine() -> Engine:
    pytest.importorskip("tidewise.native._engine", reason="the extension is not built")
    from tidewise.worker.engine.native import NativeEngine

    return NativeEngine()


@pytest.fixture(params=["python", "native"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "python":
        return OnnxEngine()
    native: Engine = request.getfixturevalue("native_engine")
    return native
