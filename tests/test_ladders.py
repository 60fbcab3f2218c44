"""The starter ladders: small enough to commit, honest about their data, and ordered from dear to cheap."""

import hashlib
import importlib
import json
import sys
import time
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

MODELS = Path(__file__).resolve().parents[1] / "models"
APPLICATIONS = ("garments", "digits")
LIMIT_BYTES = 12_000_000
FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")


def described(application: str) -> dict[str, Any]:
    return tomllib.loads((MODELS / application / "application.toml").read_text())


def recorded(application: str, file: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((MODELS / application / file).read_text())
    return content


def variant_names(application: str) -> list[str]:
    return [variant["name"] for variant in described(application)["variants"]]


def is_int8(name: str) -> bool:
    return name.endswith("-int8")


def session(application: str, variant: str) -> ort.InferenceSession:
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    model = MODELS / application / variant / "model.onnx"
    return ort.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])


def test_data(application: str) -> tuple[np.ndarray, np.ndarray]:
    content = np.load(MODELS / application / "test.npz")
    return content["image"], content["labels"]


test_data.__test__ = False  # type: ignore[attr-defined]

EACH_VARIANT = pytest.mark.parametrize(
    ("application", "variant"), [(a, v) for a in APPLICATIONS for v in variant_names(a)]
)
EACH_APPLICATION = pytest.mark.parametrize("application", APPLICATIONS)


def test_everything_together_is_small_enough_to_commit() -> None:
    files = [path for path in MODELS.rglob("*") if path.is_file() and "cache" not in str(path.parent)]
    total = sum(path.stat().st_size for path in files)
    assert total < LIMIT_BYTES, f"models/ holds {total} bytes"


@EACH_VARIANT
def test_a_variant_keeps_the_signature_of_its_application(application: str, variant: str) -> None:
    running, told = session(application, variant), described(application)
    (given,), (answered,) = running.get_inputs(), running.get_outputs()
    assert (given.name, given.type) == (told["inputs"][0]["name"], "tensor(uint8)")
    assert (answered.name, answered.type) == (told["outputs"][0]["name"], "tensor(float)")
    assert given.shape[1:] == told["inputs"][0]["shape"]


@EACH_VARIANT
def test_an_answer_does_not_depend_on_its_batch_mates(application: str, variant: str) -> None:
    images, _ = test_data(application)
    running = session(application, variant)
    alone = np.concatenate([running.run(["logits"], {"image": images[i : i + 1]})[0] for i in range(13)])
    together = running.run(["logits"], {"image": images[:13]})[0]
    assert together.shape == (13, 10)
    assert np.abs(together - alone).max() <= tolerance(application, variant)


def tolerance(application: str, variant: str) -> float:
    (told,) = [v for v in described(application)["variants"] if v["name"] == variant]
    return float(told.get("tolerance", 1e-3))


@EACH_VARIANT
def test_the_first_images_score_as_all_of_them_did(application: str, variant: str) -> None:
    images, labels = (values[:500] for values in test_data(application))
    running = session(application, variant)
    logits = np.concatenate([running.run(["logits"], {"image": part})[0] for part in np.array_split(images, 10)])
    share = float((logits.argmax(1) == labels).mean())
    measured = recorded(application, "accuracy.json")["variants"][variant]["accuracy"]
    spread = np.sqrt(measured * (1 - measured) / len(labels))
    assert abs(share - measured) <= 4 * spread


@EACH_VARIANT
def test_the_recorded_accuracy_belongs_to_the_committed_model(application: str, variant: str) -> None:
    model = (MODELS / application / variant / "model.onnx").read_bytes()
    entry = recorded(application, "accuracy.json")["variants"][variant]
    assert entry["model_sha256"] == hashlib.sha256(model).hexdigest()


@EACH_APPLICATION
def test_variants_are_listed_from_most_to_least_accurate(application: str) -> None:
    entries = recorded(application, "accuracy.json")["variants"]
    accuracies = [entries[name]["accuracy"] for name in variant_names(application)]
    assert accuracies == sorted(set(accuracies), reverse=True)


@EACH_APPLICATION
def test_versions_are_positive_and_distinct(application: str) -> None:
    versions = [variant["version"] for variant in described(application)["variants"]]
    assert min(versions) > 0 and len(set(versions)) == len(versions)


def test_the_top_of_garments_is_accurate_enough() -> None:
    top = variant_names("garments")[0]
    assert recorded("garments", "accuracy.json")["variants"][top]["accuracy"] >= 0.93


@EACH_APPLICATION
def test_fp32_variants_get_cheaper_rung_by_rung(application: str) -> None:
    names = [name for name in variant_names(application) if not is_int8(name)]
    seconds = fastest(application, names)
    assert all(cheap < dear * 1.1 for dear, cheap in pairwise(seconds)), seconds
    assert seconds[0] >= 10 * seconds[-1]


def fastest(application: str, names: list[str]) -> list[float]:
    """Return each variant's fastest batch of 8 in seconds of CPU, measured in turns so that noise is shared."""
    images = test_data(application)[0][:8]
    sessions = [session(application, name) for name in names]
    rounds = [[timed(running, images) for running in sessions] for _ in range(15)]
    return [min(column) for column in zip(*rounds, strict=True)]


def timed(running: ort.InferenceSession, images: np.ndarray) -> float:
    started = time.thread_time()  # its one thread; what else runs here does not count
    running.run(None, {"image": images})
    return time.thread_time() - started


def test_every_garment_is_tested_equally_often() -> None:
    _, labels = test_data("garments")
    assert np.bincount(labels).tolist() == [1000] * 10


def test_every_digit_is_tested_in_proportion() -> None:
    _, labels = test_data("digits")
    counts = np.bincount(labels)
    assert len(labels) == 797 and counts.min() >= 76 and counts.max() <= 82


@EACH_APPLICATION
def test_the_committed_test_data_is_the_recorded_part(application: str) -> None:
    images, labels = test_data(application)
    digest = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    assert digest == recorded(application, "split.json")["parts"]["test"]["sha256"]


@EACH_APPLICATION
def test_recorded_indices_never_overlap(application: str) -> None:
    split = recorded(application, "split.json")
    listed = [index for indices in split["indices"].values() for index in indices]
    assert len(set(listed)) == len(listed)
    assert len(split["indices"]["validation"]) == split["parts"]["validation"]["count"]


@EACH_APPLICATION
def test_training_saw_nothing_that_chooses_or_reports(application: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if application == "garments" and not FASHION_MNIST.is_dir():
        pytest.skip("needs the Debian package dataset-fashion-mnist")
    if application == "digits":
        pytest.importorskip("sklearn")
    monkeypatch.setattr(sys, "path", [str(MODELS / "make"), *sys.path])
    split = importlib.import_module(f"{application}_data").load_split()  # it asserts that no pixels recur
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    digests = {name: {"count": len(part.labels), "sha256": part.digest()} for name, part in parts.items()}
    assert digests == recorded(application, "split.json")["parts"]
