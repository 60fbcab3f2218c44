"""The study of docs/evaluation.md: runs the rows that are missing, one JSON line each; stop and resume at will.

    python bench/study.py --data DIR --out results.jsonl [--group policies] [--match proteus] [--seconds 200]

DIR is the published testbed (bench/testbed.py); its licence allows comparison only: keep results elsewhere.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from oracle import Oracle
from paper import figures
from study_rows import ORACLE, Row, groups
from testbed import Testbed, cluster, first_rates, mean_rates, permuted, read_testbed, with_slos
from worlds import generated

from tidewise.controller.policies.policy import AllocationPolicy
from tidewise.controller.policies.presets import Preset, preset, under, with_our_worker
from tidewise.controller.policies.tidewise import ScenarioPolicy
from tidewise.controller.scenarios import Tuning
from tidewise.core.outcome import Outcome
from tidewise.simulator.simulation import Result, simulate
from tidewise.simulator.world import Charges, World

BOUNDED = ("tidewise",)  # policies whose rows carry the clairvoyant bound, at seed 0


def main() -> None:
    options = parse()
    until = time.monotonic() + options.seconds
    done = {row["key"] for row in read(options.out)}
    for group in options.group or list(groups()):
        for row in groups()[group]:
            if row.key in done or options.match not in row.key or any(one in row.key for one in options.without):
                continue
            if time.monotonic() > until:
                return
            found = run(row, options.data)
            done.add(row.key)
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": row.key, "group": group, **found}) + "\n")


def run(row: Row, data: Path) -> dict[str, Any]:
    """The figures of one row, and what happened in each second."""
    chosen = policy_of(row)
    world = world_of(row, data, chosen)
    result = simulate(world, row.seed, policy=special(row, world))
    bound = row.policy in BOUNDED and row.seed == 0 and not (row.batching or row.tuning)
    return {**figures(world, result, bound=bound), "series": series(world, result)}


def policy_of(row: Row) -> Preset:
    """The preset with what the row changes of it."""
    chosen = preset("tidewise" if row.policy == ORACLE else row.policy)
    if row.worker == "ours" and row.policy != ORACLE:
        chosen = with_our_worker(chosen)
    if row.batching:
        chosen = replace(chosen, policies=replace(chosen.policies, batching=row.batching))
    planner = replace(
        chosen.planner, headroom=row.headroom or chosen.planner.headroom, period=row.period or chosen.planner.period
    )
    return replace(chosen, planner=planner, batch_share=row.batch_share or chosen.batch_share)


def world_of(row: Row, data: Path, chosen: Preset) -> World:
    """What the row plays."""
    charges = Charges(solve=row.solve, noise=row.noise, load=row.load)
    if row.world >= 0:
        bed, pool = generated(row.world)
    else:
        bed, pool = _bed(row, data), cluster(row.pool)
    expected = mean_rates(bed.trace) if chosen.informed else first_rates(bed.trace)
    return World(under(pool, chosen), bed.applications, bed.profile, bed.trace, expected, charges)


def _bed(row: Row, data: Path) -> Testbed:
    bed = read_testbed(data, row.trace)
    if row.slo:
        bed = with_slos(bed, data, row.slo)
    return permuted(bed, row.permuted, row.parts) if row.permuted >= 0 else bed


def special(row: Row, world: World) -> AllocationPolicy | None:
    """A policy that no name stands for."""
    if row.policy == ORACLE:
        return Oracle(trace=world.trace)
    if not row.tuning:
        return None
    changes = (one.split("=") for one in row.tuning.split(","))
    return ScenarioPolicy(tuning=replace(Tuning(), **{name: float(value) for name, value in changes}))


def series(world: World, result: Result) -> dict[str, list[float]]:
    """By second in which a query was due: arrivals, those answered in time, and the sum of their accuracies."""
    best = {name: one.best_accuracy() for name, one in world.applications.items()}
    found = np.zeros((3, int(world.trace.duration) + 1))
    for one in result.records:
        on_time = one.outcome is Outcome.ON_TIME
        worth = (one.accuracy or 0.0) / best[one.application] if on_time else 0.0
        found[:, int(one.due)] += (1, on_time, worth)
    return dict(zip(("arrivals", "on_time", "accuracy"), np.round(found, 3).tolist(), strict=True))


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of results; none if it is not there yet."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        yield json.loads(line)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--group", action="append", choices=list(groups()))
    parser.add_argument("--without", action="append", default=[], help="leave out rows whose name contains this")
    parser.add_argument("--match", default="", help="only rows whose name contains this")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no row after this long")
    return parser.parse_args()


if __name__ == "__main__":
    main()
