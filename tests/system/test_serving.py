"""A stranger's client against a whole real cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tidewise.cli.local import LocalCluster
from tidewise.cli.options import STARTER_MODELS
from tidewise.native.data_plane import chosen_plane

CLIENT = Path(__file__).with_name("stock_client.py")


def classified(cluster: LocalCluster, application: str, count: int, *more: str) -> list[dict[str, str | int]]:
    """What an unmodified tritonclient was answered, in a process of its own."""
    data = STARTER_MODELS / application / "test.npz"
    words = [sys.executable, str(CLIENT), cluster.router, application, str(data), str(count), *more]
    run = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    found: list[dict[str, str | int]] = json.loads(run.stdout)
    return found


def bare_predictions(application: str, variant: str, samples: list[int]) -> list[int]:
    """What a bare onnxruntime session of the variant says to the same samples."""
    images = np.load(STARTER_MODELS / application / "test.npz")["image"][samples]
    session = onnxruntime.InferenceSession(str(STARTER_MODELS / application / variant / "model.onnx"))
    return [int(one) for one in session.run(["logits"], {"image": images})[0].argmax(axis=1)]


@pytest.mark.parametrize(("application", "more"), [("garments", ()), ("garments", ("--stream",)), ("digits", ())])
def test_an_unmodified_client_is_answered_exactly_as_by_a_bare_session(
    cluster: LocalCluster, application: str, more: tuple[str, ...]
) -> None:
    count = 300
    rows = classified(cluster, application, count, *more)
    assert sorted(int(row["sample"]) for row in rows) == list(range(count))
    by_variant: dict[str, list[dict[str, str | int]]] = defaultdict(list)
    for row in rows:
        by_variant[str(row["variant"])].append(row)
    labels = np.load(STARTER_MODELS / application / "test.npz")["labels"]
    right, bare_right = 0, 0
    for variant, group in by_variant.items():
        samples = [int(row["sample"]) for row in group]
        expected = bare_predictions(application, variant, samples)
        right += sum(row["predicted"] == labels[sample] for row, sample in zip(group, samples, strict=True))
        bare_right += sum(one == labels[sample] for one, sample in zip(expected, samples, strict=True))
    assert right == bare_right


def test_the_native_data_plane_forwards_where_it_is_built(cluster: LocalCluster) -> None:
    said = [json.loads(line) for line in (cluster.state / "logs" / "router.log").read_text().splitlines()]
    (plane,) = {one["data_plane"] for one in said if "data_plane" in one}
    assert plane == chosen_plane(None)
