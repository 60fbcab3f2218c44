"""One trace on a real cluster of emulated devices and in the simulator: how far apart are the two?

    python bench/fidelity.py --data DIR --trace zipf_flat_uniform/300 --policy tidewise --data-plane native
    python bench/fidelity.py --data DIR --trace medium-normal_load/300 --start 50 --seconds 90 --thin .4 --policy ilp
    python bench/fidelity.py --world --seconds 60

Both are given the same cluster, profile, trace and policy. Devices of the real cluster run no model: a batch takes its
profiled time, a load its profiled time, both as the simulator charges them; everything else is real. Compared are the
violation ratio, effective accuracy and throughput (answers a second over arrivals a second). Exits 1 if a difference
exceeds --within in any run. Keep the machine below 60 % CPU (--thin): above, the real cluster is the slower one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fidelity_cluster import Played, play
from fidelity_world import Stage, our_scene, testbed_scene, written
from testbed import POOLS, first_rates, mean_rates

from tidewise.controller.planner import SETTLE
from tidewise.controller.policies import POLICIES
from tidewise.controller.policies.presets import PRESETS, Preset, preset, under
from tidewise.core.cluster import Policies
from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.run import PlanChange
from tidewise.core.scorecard import scorecard
from tidewise.router.plane import PLANES
from tidewise.simulator.simulation import simulate
from tidewise.simulator.world import Charges, World
from tidewise.worker.settings import REPLY

BUSIEST = 0.6  # share of the machine's CPU above which a real run is no measure of the simulator
FIGURES = ("violation_ratio", "effective_accuracy", "throughput")


@dataclass(frozen=True, slots=True)
class Pair:
    """One seed: what the cluster did, and what the simulator says it would do."""

    real: dict[str, Any]
    simulated: dict[str, Any]

    def differences(self) -> dict[str, float]:
        """Simulator minus cluster, of each figure."""
        return {name: self.simulated[name] - self.real[name] for name in FIGURES}


def compare(options: argparse.Namespace, folder: Path) -> list[Pair]:
    """One pair a seed."""
    stage = _stage(options, folder)
    one = _policy(options.policy)
    stage = replace(stage, cluster=under(stage.cluster, one))
    return [_pair(options, stage, one, folder / str(seed), seed) for seed in range(options.seeds)]


def _policy(name: str) -> Preset:
    """A policy of the study, or an allocation policy of the cluster file with all else at its default."""
    return preset(name) if name in PRESETS else Preset(Policies(allocation=name))


def _stage(options: argparse.Namespace, folder: Path) -> Stage:
    if options.world:
        scene = our_scene(options.seconds, options.peak_qps)
    else:
        pool = POOLS.get(options.pool) or tuple(int(count) for count in options.pool.split(","))
        scene = testbed_scene(options.data, options.trace, pool, options.start, options.seconds, options.thin)
    return written(scene, folder, options.noise, options.load_factor)


def _pair(options: argparse.Namespace, stage: Stage, one: Preset, state: Path, seed: int) -> Pair:
    expected = mean_rates(stage.trace) if one.informed else first_rates(stage.trace)
    played = play(stage, expected, options.data_plane, state, lambda text: print(text, file=sys.stderr))
    solve = options.solve_s if options.solve_s is not None else _solve_seconds(played.plans)
    hop = options.hop_ms / 1e3 if options.hop_ms is not None else played.way / 4
    charges = Charges(solve, hop, options.load_factor, options.noise, reply=REPLY, caller=2 * hop)
    warm_up = played.lead + solve + SETTLE
    world = World(stage.cluster, stage.applications, stage.profile, stage.trace, expected, charges, warm_up)
    result = simulate(world, seed)
    best = {name: application.best_accuracy() for name, application in stage.applications.items()}
    real = {**_figures(played.records, best, played.plans), **_conditions(played)}
    simulated = {**_figures(result.records, best, result.plans), "solve_s": solve, "hop_ms": hop * 1e3}
    pair = Pair(real, simulated)
    print(_line(seed, pair), file=sys.stderr, flush=True)
    return pair


def _solve_seconds(plans: Sequence[PlanChange]) -> float:
    """The median of what the solves of this run took."""
    return statistics.median([one.plan.solve for one in plans if one.plan.solve > 0] or [0.0])


def _figures(records: Sequence[QueryRecord], best: dict[str, float], plans: Sequence[PlanChange]) -> dict[str, Any]:
    card = scorecard(records, best)
    answered = card.outcomes[Outcome.ON_TIME] + card.outcomes[Outcome.LATE]
    reasons = [one.reason for one in records if one.reason]
    seconds = Counter(int(one.due) for one in records if one.outcome is not Outcome.ON_TIME)
    return {
        "violation_ratio": card.violation_ratio,
        "effective_accuracy": card.effective_accuracy or 0.0,
        "throughput": answered / max(1, card.arrivals),
        "on_time_accuracy_per_arrival": card.on_time_accuracy_per_arrival,
        "arrivals": card.arrivals,
        "late": card.outcomes[Outcome.LATE],
        "reasons": {name: reasons.count(name) for name in sorted(set(reasons))},
        "violations_by_second": dict(sorted(seconds.items())),
        "latency_p50_ms": 1e3 * (card.latency_p50 or 0.0),
        "latency_p99_ms": 1e3 * (card.latency_p99 or 0.0),
        "plans": sum(one.at >= 0 for one in plans),
        "triggers": [f"{one.at:.1f} {one.plan.trigger}" for one in plans],
    }


def _conditions(played: Played) -> dict[str, Any]:
    """What the machine was like while the cluster played."""
    return {
        "cpu_mean": statistics.fmean(played.machine or [0.0]),
        "cpu_busiest_second": max(played.machine, default=0.0),
        "cpu_own": played.own,
        "sent_late_p99_ms": 1e3 * played.lateness.p99,
        "sent_late_most_ms": 1e3 * played.lateness.worst,
        "way_ms": 1e3 * played.way,
        "lead_s": played.lead,
    }


def _line(seed: int, pair: Pair) -> str:
    parts = [
        f"{name} {100 * pair.real[name]:.2f} / {100 * pair.simulated[name]:.2f} ({100 * apart:+.2f})"
        for name, apart in pair.differences().items()
    ]
    cpu, busiest = pair.real["cpu_mean"], pair.real["cpu_busiest_second"]
    return (
        f"seed {seed}, cluster / simulator, %: {', '.join(parts)}; CPU {100 * cpu:.0f} %, at most {100 * busiest:.0f} %"
    )


def verdict(pairs: Sequence[Pair], within: float) -> tuple[list[str], bool]:
    """Means and worst differences, a line each, and whether all are within the bar."""
    lines = []
    for name in FIGURES:
        real, simulated = (
            statistics.fmean(getattr(one, side)[name] for one in pairs) for side in ("real", "simulated")
        )
        worst = max((one.differences()[name] for one in pairs), key=abs)
        lines.append(
            f"{name}: cluster {100 * real:.2f} %, simulator {100 * simulated:.2f} %, worst run {100 * worst:+.2f}"
        )
    busy = statistics.fmean(one.real["cpu_mean"] for one in pairs)
    if busy > BUSIEST:
        lines.append(f"the machine was {100 * busy:.0f} % busy, more than {100 * BUSIEST:.0f} %: thin the trace")
    return lines, all(abs(apart) <= within for one in pairs for apart in one.differences().values())


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, help="a folder of the testbed's layout (bench/testbed.py)")
    source.add_argument("--world", action="store_true", help="our own generated world")
    parser.add_argument("--trace", default="zipf_flat_uniform/300")
    parser.add_argument("--pool", default="full", help="full, half, or devices of each type: CPU,AMPERE,PASCAL")
    parser.add_argument("--start", type=float, default=0.0, help="second of the trace at which to begin")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--thin", type=float, default=1.0, help="share of the arrivals that is kept")
    parser.add_argument("--peak-qps", type=float, default=150.0, help="of --world")
    parser.add_argument("--policy", default="tidewise", choices=sorted({*PRESETS, *POLICIES}))
    parser.add_argument("--data-plane", default="python", choices=PLANES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--load-factor", type=float, default=1.0)
    parser.add_argument(
        "--solve-s", type=float, help="charged in the simulator; else the median of the real run's solves"
    )
    parser.add_argument(
        "--hop-ms", type=float, help="charged in the simulator; else a quarter of the real run's median way"
    )
    parser.add_argument("--within", type=float, default=0.01, help="largest difference allowed, a fraction of 1")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the cluster's files and logs here")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory(prefix="tidewise-fidelity-") as folder:
        pairs = compare(options, options.keep or Path(folder))
    lines, close = verdict(pairs, options.within)
    if options.json:
        runs = [{"cluster": one.real, "simulator": one.simulated, "apart": one.differences()} for one in pairs]
        print(json.dumps({"close": close, "verdict": lines, "runs": runs}))
    else:
        print("\n".join(lines))
    sys.exit(0 if close else 1)


if __name__ == "__main__":
    main()
