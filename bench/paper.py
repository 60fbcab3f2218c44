"""One policy on one trace of the published testbed.

    python bench/paper.py --data DIR --trace medium-normal_load/300 --policy tidewise [--pool half] --json

DIR is any folder of that layout (bench/testbed.py). Nothing of it enters the project.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from testbed import POOLS, cluster, first_rates, mean_rates, read_testbed

from tidewise.controller.policies.presets import PRESETS, Preset, preset, under, with_our_worker
from tidewise.core.scorecard import Scorecard, per_application, scorecard
from tidewise.simulator.bound import clairvoyant_bound
from tidewise.simulator.simulation import Result, simulate
from tidewise.simulator.world import Charges, World


def world_of(data: Path, trace: str, pool: str, policy: Preset, charges: Charges | None = None) -> World:
    """The testbed under a policy; informed policies are placed for the trace's mean, the others for its first 5 s."""
    bed = read_testbed(data, trace)
    expected = mean_rates(bed.trace) if policy.informed else first_rates(bed.trace)
    return World(under(cluster(pool), policy), bed.applications, bed.profile, bed.trace, expected, charges or Charges())


def figures(world: World, result: Result, *, bound: bool = True) -> dict[str, Any]:
    """Everything the study reports of one run; ratios are fractions of 1."""
    best = {name: one.best_accuracy() for name, one in world.applications.items()}
    whole = scorecard(result.records, best)
    found: dict[str, Any] = {
        **_values(whole),
        "clairvoyant_bound": clairvoyant_bound(world) if bound else None,
        "per_application": {name: _values(one) for name, one in per_application(result.records, best).items()},
        "queries": whole.arrivals,
        "outcomes": dict(whole.outcomes),
        "plans": len(result.plans),
        "family_moves": _moves(result),
        "solves": result.solves,
        "solver_cpu_s": round(result.solver_cpu, 3),
        "cpu_s": round(result.cpu, 3),
        "queries_per_cpu_second": round(result.queries_per_cpu_second),
        "queries_per_cpu_second_with_solver": round(len(result.records) / max(result.cpu, 1e-9)),
    }
    if bound:
        found["regret"] = found["clairvoyant_bound"] - whole.on_time_accuracy_per_arrival
    return found


def _values(one: Scorecard) -> dict[str, Any]:
    return {
        "violation_ratio": one.violation_ratio,
        "effective_accuracy": one.effective_accuracy,
        "accuracy_drop": one.accuracy_drop,
        "on_time_accuracy_per_arrival": one.on_time_accuracy_per_arrival,
    }


def _moves(result: Result) -> int:
    """How often a device was given another application while the trace ran."""
    moves, before = 0, {}
    for change in result.plans:
        after = {one.worker: one.application for one in change.plan.assignments}
        if before and change.at >= 0:
            moves += sum(before.get(worker, name) != name for worker, name in after.items())
        before = after
    return moves


def policy_of(options: argparse.Namespace) -> Preset:
    """The policy with what the options change of it."""
    one = preset(options.policy)
    if options.worker == "ours":
        one = with_our_worker(one)
    if options.batching:
        one = replace(one, policies=replace(one.policies, batching=options.batching))
    return one


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--trace", default="medium-normal_load/300")
    parser.add_argument("--policy", default="tidewise", choices=sorted(PRESETS))
    parser.add_argument("--worker", default="published", choices=("published", "ours"))
    parser.add_argument("--batching", help="instead of the policy's own rule")
    parser.add_argument("--pool", default="full", choices=sorted(POOLS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solve-s", type=float, default=0.5)
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--load-factor", type=float, default=1.0)
    parser.add_argument("--no-bound", action="store_true", help="leave the clairvoyant bound out")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = parse()
    began = time.perf_counter()
    charges = Charges(solve=options.solve_s, noise=options.noise, load=options.load_factor)
    world = world_of(options.data, options.trace, options.pool, policy_of(options), charges)
    found = figures(world, simulate(world, options.seed), bound=not options.no_bound)
    found["wall_s"] = round(time.perf_counter() - began, 2)
    if options.json:
        print(json.dumps({"trace": options.trace, "pool": options.pool, "policy": options.policy, **found}))
        return
    print(
        f"{options.policy} on {options.trace}, {options.pool} pool: {100 * found['violation_ratio']:.2f} % violations,"
        f" {100 * found['effective_accuracy']:.2f} % effective accuracy,"
        f" {100 * found['on_time_accuracy_per_arrival']:.2f} % on-time accuracy per arrival"
    )


if __name__ == "__main__":
    main()
