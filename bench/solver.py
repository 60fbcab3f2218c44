"""The planner beside other solvers, one run side by side: CPU seconds and certified gaps.

    python bench/solver.py [--quick] [--json ROWS.jsonl] [--sizes 0,1] [--loads .2,.9] [--methods planner,fast]

Every cell (size, load, seed, method) of a competitor runs in a process of its own, limited by CPU seconds. Rows are
appended to the JSON file as they come; a second run goes on where the first was stopped, with the same demands.
``--report`` prints the table from the file alone, ``--plot FILE`` draws it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import queue
import sys
import time
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.competitors import COMPETITORS, Row
from bench.instances import SIZES, Size, instance
from bench.solver_report import plot, table
from tidewise.controller.allocation.fast import common_fraction
from tidewise.controller.allocation.problem import build
from tidewise.controller.allocation.solve import solve
from tidewise.core.case import Case

LOADS = (0.2, 0.6, 0.9, 0.99, 1.1, 1.5)
OURS = ("planner", "fast")
CELL_SECONDS = 20.0
GRACE = 10.0  # CPU seconds a cell may take beyond its limit before it is killed


def scaled(case: Case, total: float) -> Case:
    """The case with its demands multiplied."""
    return case.with_demand({name: one.demand * total for name, one in case.applications.items()})


def full_demand(case: Case) -> float:
    """Queries per second at load 1: the most of this mix the planner can serve with nobody below the others."""
    plenty = 1e4 * sum(case.device_types.values())
    relaxed = plenty * common_fraction(build(scaled(case, plenty)))
    return relaxed * solve(scaled(case, relaxed)).phi


def run_cell(size: Size, load: float, seed: int, method: str, full: float, answer: Any) -> None:
    """One cell, in its own process."""
    case = scaled(instance(size, seed), full * load)
    answer.put(COMPETITORS[method](case, CELL_SECONDS))


def measured(size: Size, load: float, seed: int, method: str, full: float) -> Row:
    """The row of one cell, killed if it does not end. Our own methods do, and need no process of their own."""
    key = {"size": str(size), "load": load, "seed": seed, "method": method}
    if method in OURS:
        return {**key, **COMPETITORS[method](scaled(instance(size, seed), full * load), CELL_SECONDS)}
    spawn = multiprocessing.get_context("spawn")
    answer = spawn.Queue()
    process = spawn.Process(target=run_cell, args=(size, load, seed, method, full, answer))
    process.start()
    row = None
    while row is None and process.is_alive() and _cpu_of(process.pid) < CELL_SECONDS + GRACE:
        with contextlib.suppress(queue.Empty):
            row = answer.get(timeout=0.5)
    _kill(process)
    return {**key, **(row or {"status": "killed"})}


def _cpu_of(pid: int | None) -> float:
    """CPU seconds of a process and of the solvers it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        return sum(one.cpu_times().user + one.cpu_times().system for one in family)
    return 0.0


def _kill(process: Any) -> None:
    """End a cell and the solvers it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    process.kill()
    process.join()


def read_rows(path: Path) -> list[Row]:
    """Rows already measured."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(
    sizes: list[Size], loads: list[float], seeds: range, methods: list[str], path: Path, budget: float
) -> list[Row]:
    """Measure every cell that the file lacks, begin none after ``budget`` seconds; all rows."""
    rows = read_rows(path)
    done = {(row["size"], row["load"], row["seed"], row["method"]) for row in rows}
    end = time.monotonic() + budget
    for seed in seeds:
        for size in sizes:
            cells = [(load, method) for load in loads for method in methods]
            cells = [(load, method) for load, method in cells if (str(size), load, seed, method) not in done]
            known = [row["full_qps"] for row in rows if (row["size"], row["seed"]) == (str(size), seed)]
            full = known[0] if known else full_demand(instance(size, seed)) if cells else 0.0
            for load, method in cells:
                if time.monotonic() > end:
                    return rows
                row = {**measured(size, load, seed, method, full), "full_qps": full}
                rows.append(row)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the three smaller sizes, two loads, one seed")
    parser.add_argument("--json", type=Path, default=Path("runs/solver.jsonl"), help="rows, read and appended to")
    parser.add_argument("--sizes", help="indices of sizes, comma-separated")
    parser.add_argument("--loads", help="comma-separated")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", help="comma-separated, of: " + "; ".join(COMPETITORS))
    parser.add_argument("--budget", type=float, default=1e9, help="begin no cell after so many seconds")
    parser.add_argument("--report", action="store_true", help="only print the table of the rows there are")
    parser.add_argument("--plot", type=Path, help="draw the rows to this file")
    chosen = parser.parse_args()
    sizes = (
        [SIZES[int(i)] for i in chosen.sizes.split(",")] if chosen.sizes else list(SIZES[: 3 if chosen.quick else 5])
    )
    loads = [float(x) for x in chosen.loads.split(",")] if chosen.loads else [0.6, 0.9] if chosen.quick else list(LOADS)
    methods = chosen.methods.split(",") if chosen.methods else list(COMPETITORS)
    seeds = range(1 if chosen.quick else chosen.seeds)
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    rows = read_rows(chosen.json) if chosen.report else run(sizes, loads, seeds, methods, chosen.json, chosen.budget)
    print(table(rows))
    if chosen.plot:
        plot(rows, chosen.plot)


if __name__ == "__main__":
    main()
