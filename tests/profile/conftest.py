from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tidewise.core.cluster import Cluster, DeviceType
from tidewise.worker.engine.base import SessionOptions
from tidewise.worker.engine.onnx import OnnxEngine

MODELS = Path(__file__).parent.parent / "data" / "engine"
APPLICATION = """
name = "pictures"
slo_ms = 100.0
[[inputs]]
name = "image"
datatype = "UINT8"
shape = [1, 4, 4]
[[outputs]]
name = "logits"
datatype = "FP32"
shape = [3]
[test_data]
file = "test.npz"
labels = "labels"
output = "logits"
[[variants]]
name = "small"
version = 1
[[variants]]
name = "large"
version = 2
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two variants of one application; the large one is always right by definition, the small one often."""
    folder = tmp_path / "models" / "pictures"
    folder.mkdir(parents=True)
    (folder / "application.toml").write_text(APPLICATION)
    for name in ("small", "large"):
        (folder / name).mkdir()
        shutil.copy(MODELS / f"{name}.onnx", folder / name / "model.onnx")
    images = np.random.default_rng(5).integers(0, 256, (300, 1, 4, 4), np.uint8)
    logits = OnnxEngine().load(MODELS / "large.onnx", SessionOptions()).run({"image": images}, ["logits"])["logits"]
    np.savez_compressed(folder / "test.npz", image=images, labels=logits.argmax(axis=1))
    return folder.parent


@pytest.fixture
def cluster() -> Cluster:
    """One real device type and one that plays a slower one."""
    types = (
        DeviceType("big", batch_sizes=(1, 2, 8)),
        DeviceType("slow", provider="slowdown", slowdown=4.0, batch_sizes=(1, 2, 8)),
    )
    return Cluster({one.name: one for one in types})
