"""A day in sixty re-plans: CPU per re-plan, loads per re-plan, and accuracy against the optimum of every step.

    python bench/diurnal.py [--json ROWS.jsonl] [--sizes 0,1] [--swap-cost .02]

Demand follows a day (a slow wave between a fifth and 95 % of what the cluster carries, each application with its own
phase) with 5 % noise. Three planners run side by side: one that plans every step afresh, one with a swap cost, and one
with a swap cost and hysteresis. ``--swap-cost`` is the objective given up if every device loads once.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.instances import SIZES, Size, instance
from bench.solver import full_demand
from tidewise.controller.allocation.hysteresis import settle
from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import cpu_seconds, solve
from tidewise.core.case import Case
from tidewise.core.solution import Solution

STEPS = 60
NOISE = 0.05


def day(case: Case, full: float, seed: int) -> Iterator[Case]:
    """The case at sixty times of a day."""
    random = np.random.default_rng(seed)
    phase = {name: random.uniform(-0.5, 0.5) for name in case.applications}
    for step in range(STEPS):
        angle = 2 * math.pi * step / STEPS
        wave = {name: 0.575 - 0.375 * math.cos(angle + phase[name]) for name in case.applications}
        yield case.with_demand(
            {
                name: max(0.0, full * one.demand * wave[name] * random.normal(1, NOISE))
                for name, one in case.applications.items()
            }
        )


def replan(steps: list[Case], terms: Terms, least_gain: float) -> list[tuple[Solution, float]]:
    """Plan every step from the counts of the one before; solutions and CPU seconds."""
    planned: list[tuple[Solution, float]] = []
    for case in steps:
        current = case.with_current(planned[-1][0].counts) if planned else case
        cpu = cpu_seconds()
        fresh = solve(current, terms=terms)
        kept = settle(current, fresh, terms, least_gain) if least_gain > 0 else fresh
        planned.append((kept, cpu_seconds() - cpu))
    return planned


def measure(size: Size, seed: int, swap_cost: float) -> Iterator[dict[str, object]]:
    """One row per planner."""
    case = instance(size, seed)
    steps = list(day(case, full_demand(case), seed))
    terms = Terms(swap_cost=swap_cost / size.devices)
    planners = {"afresh": (Terms(), 0.0), "swap cost": (terms, 0.0), "swap cost, hysteresis": (terms, 1e-3)}
    best = [one.effective_accuracy or 0.0 for one, _ in replan(steps, Terms(), 0.0)]
    for name, (used, least_gain) in planners.items():
        planned = replan(steps, used, least_gain)
        accuracy = [one.effective_accuracy or 0.0 for one, _ in planned]
        cpu = [spent for _, spent in planned[1:]]
        yield {
            "size": str(size),
            "seed": seed,
            "planner": name,
            "cpu_median_s": round(statistics.median(cpu), 4),
            "cpu_worst_s": round(max(cpu), 4),
            "loads_per_replan": round(statistics.mean(one.loads for one, _ in planned[1:]), 2),
            "accuracy": round(statistics.mean(accuracy), 6),
            "below_optimum": round(statistics.mean(b - a for a, b in zip(accuracy, best, strict=True)), 6),
            "least_phi": min(one.phi for one, _ in planned),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="append rows to this file")
    parser.add_argument("--sizes", default="0,1", help="indices of sizes, comma-separated")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--swap-cost", type=float, default=0.02)
    chosen = parser.parse_args()
    for index in chosen.sizes.split(","):
        for seed in range(chosen.seeds):
            for row in measure(SIZES[int(index)], seed, chosen.swap_cost):
                print(json.dumps(row), flush=True)
                if chosen.json:
                    with chosen.json.open("a") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
