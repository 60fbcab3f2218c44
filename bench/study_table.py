"""Policies against traces of the published testbed: runs what is missing, keeps one JSON line a run, prints a table.

python bench/study_table.py --data DIR --out results.jsonl --pool full --policy tidewise --policy proteus
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from paper import figures, world_of

from tidewise.controller.policies.presets import preset, with_our_worker
from tidewise.simulator.simulation import simulate

TRACES = (
    "medium-normal_load/300",
    "medium-normal_load/1x",
    "zipf_exponential/300",
    "zipf_flat_bursty/300",
    "zipf_flat_uniform/300",
)
Key = tuple[str, str, str, str, int]  # pool, trace, policy, worker, seed


def main() -> None:
    options = parse()
    known = read(options.out)
    for trace in options.trace or TRACES:
        for policy in options.policy:
            for seed in range(options.seeds):
                key = (options.pool, trace, policy, options.worker, seed)
                if key not in known:
                    known[key] = run(options, key)
                    with options.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key, **known[key]}) + "\n")
    print(table(known))


def run(options: argparse.Namespace, key: Key) -> dict[str, Any]:
    pool, trace, policy, worker, seed = key
    chosen = with_our_worker(preset(policy)) if worker == "ours" else preset(policy)
    world = world_of(options.data, trace, pool, chosen)
    return figures(world, simulate(world, seed), bound=policy == "tidewise" and seed == 0)


def read(file: Path) -> dict[Key, dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    return {tuple(row["key"]): row for row in rows}  # type: ignore[misc]


def table(known: dict[Key, dict[str, Any]]) -> str:
    """Violation ratio / on-time accuracy per arrival in per cent, the mean over the seeds."""
    rows: dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for (pool, trace, policy, worker, _), found in known.items():
        rows[pool, policy, worker][trace].append(found)
    traces = [one for one in TRACES if any(one in row for row in rows.values())]
    lines = ["| pool | policy | worker | " + " | ".join(traces) + " |", "|---" * (3 + len(traces)) + "|"]
    for key, row in sorted(rows.items()):
        lines.append("| " + " | ".join([*key, *(cell(row.get(trace, [])) for trace in traces)]) + " |")
    return "\n".join(lines)


def cell(found: list[dict[str, Any]]) -> str:
    if not found:
        return ""
    late = fmean(one["violation_ratio"] for one in found)
    reached = fmean(one["on_time_accuracy_per_arrival"] for one in found)
    return f"{100 * late:.2f} / {100 * reached:.2f}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trace", action="append", help="all five without it")
    parser.add_argument("--policy", action="append", required=True)
    parser.add_argument("--worker", default="published", choices=("published", "ours"))
    parser.add_argument("--pool", default="full")
    parser.add_argument("--seeds", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
