"""Print the table of models/README.md: `python table.py`, after measure.py, on a quiet machine."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from graph import cost
from measure import applications, session

ROUNDS = 60
HEAD = "| application | variant | KB | parameters | MFLOP | accuracy (95 %) "
TIMES = "| p50 batch 1 | p50 batch 8 | fastest batch 8 |"


def timed(sessions: list[ort.InferenceSession], images: np.ndarray) -> np.ndarray:
    """Return times in ms [rounds, sessions] on these images, taken in turns so that noise is shared."""
    seconds = np.empty((ROUNDS, len(sessions)))
    for spent in seconds:
        for place, running in enumerate(sessions):
            started = time.perf_counter()
            running.run(None, {"image": images})
            spent[place] = time.perf_counter() - started
    return seconds * 1000


def rows(folder: Path) -> list[str]:
    """Return one line of the table for each variant of an application."""
    entries = json.loads((folder / "accuracy.json").read_text())["variants"]
    paths = {name: folder / name / "model.onnx" for name in entries}
    sessions = [session(path) for path in paths.values()]
    images = np.load(folder / "test.npz")["image"]
    ones, eights = timed(sessions, images[:1]), timed(sessions, images[:8])
    times = zip(np.median(ones, axis=0), np.median(eights, axis=0), eights.min(axis=0), strict=True)
    return [
        _row(folder.name, name, path, entries[name], [float(value) for value in mine])
        for (name, path), mine in zip(paths.items(), times, strict=True)
    ]


def _row(application: str, name: str, path: Path, entry: dict[str, Any], times: list[float]) -> str:
    weighed, (low, high) = cost(path), entry["ci95"]
    size = path.stat().st_size / 1000
    left = f"| {application} | {name} | {size:,.0f} | {weighed.parameters:,} | {weighed.flops / 1e6:.3g} "
    right = " | ".join(f"{value:.3f} ms" for value in times)
    return left + f"| {entry['accuracy']:.4f} ({low:.4f}-{high:.4f}) | {right} |"


def main() -> None:
    """Print the table in Markdown."""
    print(HEAD + TIMES)
    print("|" + " --- |" * ((HEAD + TIMES).count("|") - 1))
    for folder in applications([]):
        print("\n".join(rows(folder)))


if __name__ == "__main__":
    main()
