"""What a router adds to a query: an echo worker asked directly and through each kind of router, in turns, in one run.

    python bench/router.py [--json] [--quick] [--keep FILE --rounds N]

A whole run is five rounds of about a minute each. With --keep it can be made in pieces: every round is added to FILE
when it is done, --rounds says how many to make now, and the rows are those of all rounds in FILE.

Needs the load generator and the echo worker of native/router/bench (built here by CMake if --tools does not name a
folder that has them). HAProxy and nginx take part if they are installed.

Rows: payload (bytes); mode (closed-N: N callers, each asking again when answered; open-R: R queries a second, timed
from when they were due); target; p50_us and p99_us as a caller sees them; added_p50_us and added_p99_us over the direct
ones of the same round; cpu_us (CPU time of the target a query, all its processes); rps. Medians over the rounds.
Caller, router and worker share the machine, so rps is that of the whole chain. A round whose direct p99 at closed-1
exceeds 0.5 ms is void: it is counted in `void_rounds` and otherwise left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from router_targets import Target, Targets, query

SMALL, LARGE = 1_000, 600_000
CALM_P99_US = 500.0
NATIVE = Path(__file__).resolve().parents[1] / "native"
SETTINGS = [  # payload, kind, callers or rate, queries, queries when quick
    (SMALL, "closed", 1, 4000, 1000),
    (SMALL, "closed", 16, 16000, 4000),
    (SMALL, "closed", 128, 24000, 4000),
    (SMALL, "open", 500, 2000, 500),
    (SMALL, "open", 1000, 4000, 1000),
    (SMALL, "open", 3000, 9000, 0),
    (LARGE, "closed", 1, 400, 100),
    (LARGE, "closed", 16, 800, 0),
]
PYTHON_RATE = 500  # queries a second beyond which the Python router only shows how it drowns


def measure(load: Path, target: Target, body: Path, kind: str, number: int, queries: int) -> dict[str, Any]:
    """One run against one target."""
    before = target.cpu_seconds()
    words = [str(load), target.address, str(body), kind, str(number), str(queries)]
    said = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout)
    spent = target.cpu_seconds() - before
    said["cpu_us"] = 1e6 * spent / queries if target.pid is not None else None
    return said


def one_round(load: Path, targets: list[Target], bodies: dict[int, Path], setting: tuple, quick: bool) -> dict:
    payload, kind, number, many, few = setting
    queries = few if quick else many
    found = {}
    for target in targets:
        if kind == "open" and target.name == "python" and number > PYTHON_RATE:
            continue
        part = queries // 4 if target.name == "python" else queries
        found[target.name] = measure(load, target, bodies[payload], kind, number, part)
    for values in found.values():
        for key in ("p50_us", "p99_us"):
            values[f"added_{key}"] = values[key] - found["direct"][key]
    return found


def rows_of(setting: tuple, rounds: list[dict]) -> list[dict]:
    keys = ("p50_us", "p99_us", "added_p50_us", "added_p99_us", "cpu_us", "rps", "errors")
    return [
        {
            "payload": setting[0],
            "mode": f"{setting[1]}-{setting[2]}",
            "target": name,
            **{key: median(one[name][key] for one in rounds) for key in keys},
        }
        for name in rounds[0]
    ]


def median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 1) if known else None


async def compare(tools: Path, quick: bool, count: int, done: Callable[[list[dict]], None]) -> None:
    """Make this many rounds; ``done`` is given each."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = {size: Path(folder) / f"query-{size}" for size in (SMALL, LARGE)}
        for size, path in bodies.items():
            path.write_bytes(query(size))
        everything = Targets(Path(folder))
        try:
            targets = await everything.start(tools / "tidewise-echo")
            for _ in range(count):
                done(await asyncio.to_thread(whole_round, tools / "tidewise-load", targets, bodies, quick))
        finally:
            await everything.stop()


def settings(quick: bool) -> list[tuple]:
    return [one for one in SETTINGS if not quick or one[4]]


def whole_round(load: Path, targets: list[Target], bodies: dict[int, Path], quick: bool) -> list[dict]:
    return [one_round(load, targets, bodies, setting, quick) for setting in settings(quick)]


def summary(rounds: list[list[dict]], quick: bool) -> dict:
    """The rows of these rounds; none if every one of them is void."""
    calm = [one for one in rounds if one[0]["direct"]["p99_us"] <= CALM_P99_US]
    places = enumerate(settings(quick)) if calm else ()
    return {
        "rows": [row for place, setting in places for row in rows_of(setting, [one[place] for one in calm])],
        "rounds": len(rounds),
        "void_rounds": len(rounds) - len(calm),
        "load_average": os.getloadavg()[0],
    }


def build_tools(folder: Path) -> Path:
    """The folder with load generator and echo worker, built there."""
    import pybind11

    configure = ["cmake", "-S", str(NATIVE), "-B", str(folder), "-DTIDEWISE_BENCH=ON"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    build = ["cmake", "--build", str(folder), "--target", "tidewise-load", "tidewise-echo"]
    for words in (configure, build):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / "router"


def kept(file: Path | None) -> list[list[dict]]:
    """The rounds in the file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file and file.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds and queries; under a minute on an idle machine"
    )
    parser.add_argument("--tools", type=Path, help="folder with tidewise-load and tidewise-echo")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="add each round to this file, and count those in it")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds to make now: 5 without it, 3 if quick")
    options = parser.parse_args()
    tools = options.tools or build_tools(NATIVE.parent / "build" / "bench")
    rounds = kept(options.keep)

    def done(one: list[dict]) -> None:
        rounds.append(one)
        if options.keep:
            with options.keep.open("a") as file:
                file.write(json.dumps(one) + "\n")

    count = (3 if options.quick else 5) if options.rounds is None else options.rounds
    if count:
        asyncio.run(compare(tools, options.quick, count, done))
    found = summary(rounds, options.quick)
    if options.json:
        print(json.dumps(found))
        return
    for row in found["rows"]:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
    print(f"{found['void_rounds']} of {found['rounds']} rounds void; load average {found['load_average']:.1f}")


if __name__ == "__main__":
    main()
