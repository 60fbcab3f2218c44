"""The pictures of docs/evaluation.md from a file of results; those whose rows were not run are left out.

python bench/study_plots.py --results results.jsonl --out docs/images
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import study_rows as rows
from study import read
from study_rows import NORMAL, Row

SHOWN = ("tidewise", "proteus-mended", "proteus", "infaas", "anytime-backlog", "clipper-ht")
WINDOW = 5  # seconds over which the time series are smoothed
Results = dict[str, dict[str, Any]]
REACHED, VIOLATED = "on_time_accuracy_per_arrival", "violation_ratio"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    results = {row["key"]: row for row in read(options.results)}
    for pool in ("half", "full"):
        time_series(results, pool, options.out / f"evaluation-series-{pool}.png")
    lines(results, "slo", list(rows.slos()), rows.SLO_ROWS, options.out / "evaluation-slo.png")
    lines(results, "pool", list(rows.scaling()), rows.POOL_SIZES, options.out / "evaluation-scaling.png")
    bars(results, [Row(one) for one in ("tidewise", *rows.ABLATED)], "policy", options.out / "evaluation-ablation.png")
    rules = [one for one in rows.batching() if one.trace == NORMAL]
    bars(results, rules, "batching", options.out / "evaluation-batching.png")


def time_series(results: Results, pool: str, file: Path) -> None:
    """Throughput, effective accuracy and violations over time, as the paper draws them."""
    figure, (served, accuracy, violations) = plt.subplots(3, 1, figsize=(8, 7), sharex=True)
    for policy in SHOWN:
        known = results.get(Row(policy, pool=pool).key)
        if known is None:
            continue
        arrivals, on_time, worth = (_smooth(known["series"][name]) for name in ("arrivals", "on_time", "accuracy"))
        if policy == "tidewise":
            served.plot(arrivals, color="0.7", label="arrivals")
        served.plot(on_time, label=policy)
        accuracy.plot(100 * worth / np.maximum(on_time, 1e-9))
        violations.plot(100 * (1 - on_time / np.maximum(arrivals, 1e-9)))
    if served.lines:
        served.legend(fontsize=7, ncol=2)
    served.set_ylabel("answered in time, 1/s")
    accuracy.set_ylabel("effective accuracy, %")
    violations.set(ylabel="violations, %", xlabel="seconds", title="")
    served.set_title(f"{NORMAL}, {pool} pool, means over {WINDOW} s", fontsize=9)
    _save(figure, file, bool(served.lines))


def lines(results: Results, column: str, wanted: Sequence[Row], values: Sequence[str], file: Path) -> None:
    """On-time accuracy and violations against a field, a line for each policy."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    for policy in dict.fromkeys(one.policy for one in wanted):
        mine = {getattr(one, column): results[one.key] for one in wanted if one.policy == policy and one.key in results}
        known = [value for value in values if value in mine]
        for axis, figure_of in zip(axes, (REACHED, VIOLATED), strict=True):
            if known:
                axis.plot(known, [100 * mine[value][figure_of] for value in known], marker=".", label=policy)
    axes[0].set(ylabel="on-time accuracy per arrival, %", xlabel=column)
    axes[1].set(ylabel="violations, %", xlabel=column)
    if axes[0].lines:
        axes[0].legend(fontsize=7)
    _save(figure, file, bool(axes[0].lines))


def bars(results: Results, wanted: Sequence[Row], column: str, file: Path) -> None:
    """What is lost of every arrival: violations, and accuracy given up."""
    known = [(getattr(one, column) or "eager", results[one.key]) for one in wanted if one.key in results]
    figure, axis = plt.subplots(figsize=(8, 0.4 + 0.35 * max(len(known), 2)))
    names = [name for name, _ in known]
    violated = np.array([100 * one[VIOLATED] for _, one in known])
    lost = np.array([100 * (1 - one[REACHED]) for _, one in known]) - violated
    axis.barh(names, lost, label="accuracy given up")
    axis.barh(names, violated, left=lost, label="violations")
    axis.invert_yaxis()
    axis.set_xlabel(f"points of on-time accuracy per arrival lost, half pool, {NORMAL}")
    axis.legend(fontsize=7)
    _save(figure, file, bool(known))


def _smooth(values: Sequence[float]) -> np.ndarray:
    return np.convolve(values, np.full(WINDOW, 1 / WINDOW), mode="valid")


def _save(figure: Any, file: Path, drawn: bool) -> None:
    if drawn:
        figure.tight_layout()
        figure.savefig(file, dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main()
