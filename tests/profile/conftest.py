from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tidewise.core.cluster import Cluster, DeviceType
from tidewise.worker.engine.base import SessionOptions
from tidewise.worker.engine.onnx import OnnxEngine
from tidewise.worker.profiling.effort import QUICK
from tidewise.worker.profiling.store import load_or_measure

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
    return make_repository(tmp_path / "models")


def make_repository(models: Path) -> Path:
    """The same repository wherever it is made."""
    folder = models / "pictures"
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
    return make_cluster()


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of the repository on the cluster, measured once."""
    folder = tmp_path_factory.mktemp("measured")
    load_or_measure(make_repository(folder / "models"), make_cluster(), folder / "profile.json", QUICK)
    return folder / "profile.json"


def make_cluster() -> Cluster:
    """The types of the cluster."""
    types = (
        DeviceType("big", batch_sizes=(1, 2, 8)),
        DeviceType("slow", provider="slowdown", slowdown=4.0, batch_sizes=(1, 2, 8)),
    )
    return Cluster({one.name: one for one in types})
