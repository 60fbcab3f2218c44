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
HEAD = "| application | variant | KB | parameters | MFLOP | accuracy (95 %) | p50 batch 1 | p50 batch 8 |"


def p50s(sessions: list[ort.InferenceSession], images: np.ndarray) -> list[float]:
    """Return each session's median time on these images in ms, measured in turns so that noise is shared."""
    seconds = np.empty((ROUNDS, len(sessions)))
    for spent in seconds:
        for place, running in enumerate(sessions):
            started = time.perf_counter()
            running.run(None, {"image": images})
            spent[place] = time.perf_counter() - started
    return [float(value) * 1000 for value in np.median(seconds, axis=0)]


def rows(folder: Path) -> list[str]:
    """Return one line of the table for each variant of an application."""
    entries = json.loads((folder / "accuracy.json").read_text())["variants"]
    paths = {name: folder / name / "model.onnx" for name in entries}
    sessions = [session(path) for path in paths.values()]
    images = np.load(folder / "test.npz")["image"]
    ones, eights = p50s(sessions, images[:1]), p50s(sessions, images[:8])
    return [
        _row(folder.name, name, path, entries[name], one, eight)
        for (name, path), one, eight in zip(paths.items(), ones, eights, strict=True)
    ]


def _row(application: str, name: str, path: Path, entry: dict[str, Any], one: float, eight: float) -> str:
    weighed, (low, high) = cost(path), entry["ci95"]
    size = path.stat().st_size / 1000
    left = f"| {application} | {name} | {size:,.0f} | {weighed.parameters:,} | {weighed.flops / 1e6:.3g} "
    return left + f"| {entry['accuracy']:.4f} ({low:.4f}-{high:.4f}) | {one:.3f} ms | {eight:.3f} ms |"


def main() -> None:
    """Print the table in Markdown."""
    print(HEAD)
    print("|" + " --- |" * HEAD.count(" | ") + " --- |")
    for folder in applications([]):
        print("\n".join(rows(folder)))


if __name__ == "__main__":
    main()
