"""Measure every variant's accuracy on its test data: `python measure.py [APPLICATION]...`.

Writes `<application>/accuracy.json`, with a Wilson 95 % interval for each variant.
"""

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

MODELS = Path(__file__).resolve().parents[1]
BATCH = 100
Z = 1.959964  # standard normal quantile of .975


def wilson(correct: int, total: int) -> list[float]:
    """Return the Wilson score interval of correct out of total."""
    share, spread = correct / total, Z**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = Z * ((share * (1 - share) + spread / 4) / total) ** 0.5 / (1 + spread)
    return [round(centre - half, 4), round(centre + half, 4)]


def session(model: Path) -> ort.InferenceSession:
    """Return a session of one thread."""
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    return ort.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])


def measure(model: Path, images: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """Return one variant's entry of accuracy.json."""
    running = session(model)
    parts = np.array_split(images, -(-len(images) // BATCH))
    logits = np.concatenate([running.run(["logits"], {"image": part})[0] for part in parts])
    correct, total = int((logits.argmax(1) == labels).sum()), len(labels)
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    ends = wilson(correct, total)
    return {
        "correct": correct,
        "total": total,
        "accuracy": correct / total,
        "ci95": ends,
        "model_sha256": digest,
    }


def applications(names: list[str]) -> list[Path]:
    """Return the folders of the named applications, all of them when none is named."""
    return [MODELS / name for name in names] or sorted(path.parent for path in MODELS.glob("*/application.toml"))


def main() -> None:
    """Measure and write the named applications."""
    for folder in applications(sys.argv[1:]):
        described = tomllib.loads((folder / "application.toml").read_text())
        test = np.load(folder / described["test_data"]["file"])
        names = [variant["name"] for variant in described["variants"]]
        entries = {n: measure(folder / n / "model.onnx", test["image"], test["labels"]) for n in names}
        text = json.dumps({"schema_version": 1, "variants": entries}, indent=2)
        (folder / "accuracy.json").write_text(text + "\n")
        for name, entry in entries.items():
            print(f"{folder.name} {name}: {entry['accuracy']:.4f} in {entry['ci95']}", flush=True)


if __name__ == "__main__":
    main()
