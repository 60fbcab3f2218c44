"""What each policy term costs in accuracy: mean and worst application, with the term and without.

    python bench/terms.py [--sizes 0] [--loads .6,.9]

Medians over three seeds of effective accuracy (weighted by queries) and of the worst application's accuracy relative to
its best variant, at loads relative to the most the cluster can carry.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.instances import SIZES, instance
from bench.solver import full_demand, scaled
from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import solve
from tidewise.controller.worth import worst_accuracy, worth
from tidewise.core.case import Case

SEEDS = range(3)
Change = Callable[[Case], Case]


def each(**changes: float) -> Change:
    """Every application changed in the same way."""

    def change(case: Case) -> Case:
        return replace(case, applications={n: replace(a, **changes) for n, a in case.applications.items()})  # type: ignore[arg-type]

    return change


def smallest_weighs(case: Case) -> Case:
    """The application with the least demand counts a hundredfold."""
    least = min(case.applications, key=lambda name: case.applications[name].demand)
    return replace(
        case, applications={n: replace(a, weight=100.0 if n == least else 1.0) for n, a in case.applications.items()}
    )


TERMS: dict[str, tuple[Change, Terms]] = {
    "none": (each(), Terms()),
    "headroom 1.05": (each(headroom=1.05), Terms()),
    "headroom 1.25": (each(headroom=1.25), Terms()),
    "two replicas each": (each(min_replicas=2), Terms()),
    "accuracy floor 0.85": (each(min_accuracy=0.85), Terms()),
    "weight 100 for the smallest": (smallest_weighs, Terms()),
    "max-min": (each(), Terms(max_min=True)),
}


def measured(case: Case, change: Change, terms: Terms) -> tuple[float, float, float]:
    """(effective accuracy, worst application's, phi) of the plan, for the demand without its headroom."""
    changed = change(case)
    solution = solve(changed, terms=terms)
    demand = {name: one.demand for name, one in case.applications.items()}
    value = worth(replace(changed, applications=case.applications), solution.counts, demand)
    served = sum(value.rates.values())
    mean = sum(case.variants[v].accuracy * rate for (_, v), rate in value.rates.items()) / served
    return mean, worst_accuracy(case, value, demand), value.phi


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="0", help="indices of sizes, comma-separated")
    parser.add_argument("--loads", default="0.6,0.9")
    chosen = parser.parse_args()
    print("| size | load | term | accuracy | worst application | phi |\n| --- | --- | --- | --- | --- | --- |")
    for size in (SIZES[int(i)] for i in chosen.sizes.split(",")):
        cases = [(one, full_demand(one)) for one in (instance(size, seed) for seed in SEEDS)]
        for load in map(float, chosen.loads.split(",")):
            for name, (change, terms) in TERMS.items():
                found = zip(*(measured(scaled(case, full * load), change, terms) for case, full in cases), strict=True)
                mean, worst, phi = map(statistics.median, found)
                print(f"| {size} | {load:g} | {name} | {mean:.4f} | {worst:.4f} | {phi:.3f} |", flush=True)


if __name__ == "__main__":
    main()
