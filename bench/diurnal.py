"""A day in sixty re-plans: CPU per re-plan, loads per re-plan, and accuracy against the optimum of every step.

    python bench/diurnal.py [--json ROWS.jsonl] [--sizes 0,1] [--price .02]

Demand follows a day (a slow wave between a fifth and 95 % of what the cluster carries, each application with its own
phase) with 5 % noise; plans are made for 5 % more. Planners run side by side: one that plans every step afresh, one
with a swap cost, one that keeps the plan in force by the controller's rule (hysteresis), and one with both. The prices
are those of a cluster file: accuracy for loading every device once. Accuracy is that of the demand itself, without the
margin.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.instances import SIZES, Size, instance
from bench.solver import full_demand
from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import cpu_seconds, solve
from tidewise.controller.case_builder import Counts
from tidewise.controller.hysteresis import MARGIN_JUDGED, reason_to_keep
from tidewise.controller.worth import worth
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings

STEPS = 60
NOISE = 0.05
MARGIN = 1.05


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


@dataclass(frozen=True, slots=True)
class Step:
    """What one re-plan came to: its counts, the loads they need, and the CPU seconds spent."""

    counts: Counts
    loads: int
    cpu: float


def replan(steps: list[Case], settings: PlannerSettings) -> list[Step]:
    """Plan every step from the counts of the one before."""
    planned: list[Step] = []
    for case in steps:
        asked = replace(case, applications={n: replace(a, headroom=MARGIN) for n, a in case.applications.items()})
        asked = asked.with_current(planned[-1].counts) if planned else asked
        cpu = cpu_seconds()
        fresh = solve(asked, terms=Terms(settings.swap_cost / sum(case.device_types.values())))
        half = {name: one.demand * (1 + MARGIN_JUDGED * (MARGIN - 1)) for name, one in case.applications.items()}
        keep = reason_to_keep(asked, asked.current, fresh.counts, half, fresh.loads, settings) if planned else None
        counts, loads = (fresh.counts, fresh.loads) if keep is None else (asked.current, 0)
        planned.append(Step(counts, loads, cpu_seconds() - cpu))
    return planned


def demands(case: Case) -> dict[str, float]:
    """Queries per second by application."""
    return {name: one.demand for name, one in case.applications.items()}


def measure(size: Size, seed: int, price: float) -> Iterator[dict[str, object]]:
    """One row per planner."""
    case = instance(size, seed)
    steps = list(day(case, full_demand(case), seed))
    none = PlannerSettings(hysteresis=0.0)
    planners = {
        "afresh": none,
        "swap cost": replace(none, swap_cost=price),
        "hysteresis": replace(none, hysteresis=price),
        "both": replace(none, swap_cost=price, hysteresis=price),
    }
    best: list[float] = []
    for name, settings in planners.items():
        planned = replan(steps, settings)
        values = [worth(case, one.counts, demands(case)) for case, one in zip(steps, planned, strict=True)]
        accuracy = [one.objective for one in values]
        best = best or accuracy
        cpu = [one.cpu for one in planned[1:]]
        yield {
            "size": str(size),
            "seed": seed,
            "planner": name,
            "cpu_median_s": round(statistics.median(cpu), 4),
            "cpu_worst_s": round(max(cpu), 4),
            "loads_per_replan": round(statistics.mean(one.loads for one in planned[1:]), 2),
            "accuracy": round(statistics.mean(accuracy), 6),
            "below_afresh": round(statistics.mean(b - a for a, b in zip(accuracy, best, strict=True)), 6),
            "least_phi": round(min(one.phi for one in values), 4),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="append rows to this file")
    parser.add_argument("--sizes", default="0,1", help="indices of sizes, comma-separated")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--price", type=float, default=0.02, help="swap cost and hysteresis, as in a cluster file")
    chosen = parser.parse_args()
    for index in chosen.sizes.split(","):
        for seed in range(chosen.seeds):
            for row in measure(SIZES[int(index)], seed, chosen.price):
                print(json.dumps(row), flush=True)
                if chosen.json:
                    with chosen.json.open("a") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
