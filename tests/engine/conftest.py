from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tidewise.worker.engine.base import Engine
from tidewise.worker.engine.onnx import OnnxEngine

NATIVE_BUILT = importlib.util.find_spec("tidewise.native._engine") is not None
needs_native = pytest.mark.skipif(not NATIVE_BUILT, reason="the extension is not built")


@pytest.fixture
def models() -> Path:
    return Path(__file__).parent.parent / "data" / "engine"


@pytest.fixture(params=["python", pytest.param("native", marks=needs_native)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "python":
        return OnnxEngine()
    from tidewise.worker.engine.native import NativeEngine

    return NativeEngine()
