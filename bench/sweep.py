"""Offered load against one device: Tidewise, the top variant in plain FIFO order, and the top variant with our batcher.

    python bench/sweep.py [--loads .4,.8,.95,1.3] [--seconds 20] [--quick] [--json]

After the sweep of the Anytime Inference Planner: Poisson arrivals at shares of one device's measured capacity with the
most accurate variant. Three servers, each a real cluster of one device, one after the other at each load:

- tidewise: the whole ladder, variant chosen for each batch, hopeless queries dropped early;
- batcher: the top variant alone, the same batcher;
- fifo: the top variant alone, no deadline told to the server, every query answered in its turn.

Goodput counts queries answered within the SLO, per second; compute is engine seconds per answered query. Exits 1 if a
bar below is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from tidewise.cli.demo_setting import restricted
from tidewise.cli.local import running, wait_until_ready
from tidewise.cli.options import STARTER_MODELS
from tidewise.core.application import Application
from tidewise.core.capacity import capacity
from tidewise.core.cluster import SLOWDOWN, Cluster, DeviceType, Limits, PlannerSettings, Policies, Ports
from tidewise.core.files import read_repository
from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.scorecard import quantile
from tidewise.traces.arrivals import generate
from tidewise.traces.rates import constant
from tidewise.traces.replay import replay
from tidewise.traces.samples import samples_of
from tidewise.worker.profiling.effort import FULL
from tidewise.worker.profiling.store import load_or_measure

APPLICATION = "garments"
DEVICE = DeviceType("device", count=1, provider=SLOWDOWN, slowdown=16.0)
PATIENT_MS = 600_000  # the SLO a FIFO server is told: none
SERVERS = ("tidewise", "batcher", "fifo")


@dataclass(frozen=True, slots=True)
class Row:
    """One server at one load."""

    server: str
    load: float
    offered_qps: float
    goodput_qps: float
    compute_ms: float | None
    p95_ms: float | None
    accuracy: float | None


def repository_of(server: str, folder: Path) -> Path:
    """A repository holding the one application as this server sees it."""
    served = folder / "served"
    if not served.exists():
        shutil.copytree(STARTER_MODELS / APPLICATION, served / APPLICATION)
    rungs = {} if server == "tidewise" else {APPLICATION: (top_of(served),)}
    target = restricted(served, folder / server, rungs)
    if server == "fifo":
        file = target / APPLICATION / "application.toml"
        file.write_text(re.sub(r"(?m)^slo_ms.*$", f"slo_ms = {PATIENT_MS}", file.read_text()))
    return target


def top_of(repository: Path) -> str:
    _, _, application = read_repository(repository)[APPLICATION]
    return max(application.variants, key=lambda one: one.accuracy or 0.0).name


def cluster_of(server: str) -> Cluster:
    return Cluster(
        device_types={DEVICE.name: DEVICE},
        ports=Ports(0, 0, 0, 0),
        policies=Policies(variant_choice="anytime" if server == "tidewise" else "planned"),
        planner=PlannerSettings(period=5.0),
        limits=replace(Limits(), max_queue=100_000),
    )


def measure(server: str, load: float, rate: float, slo: float, seconds: int, folder: Path) -> Row:
    repository = folder / server
    samples = {APPLICATION: samples_of(application_of(repository), repository / APPLICATION, np.random.default_rng(0))}
    told = samples[APPLICATION].application.slo
    rng = np.random.default_rng(round(load * 1000))
    trace = generate({APPLICATION: constant(seconds, rate)}, {APPLICATION: told}, 1.0, rng)
    with running(cluster_of(server), repository, folder / f"state-{server}", folder / "profile.json", silent) as local:
        wait_until_ready(local)
        records = asyncio.run(replay(trace, local.router, samples))
    return row(server, load, rate, slo, seconds, records)


def application_of(repository: Path) -> Application:
    return read_repository(repository)[APPLICATION][2]


def silent(text: str) -> None:
    print(text, file=sys.stderr)


def row(server: str, load: float, rate: float, slo: float, seconds: int, records: Sequence[QueryRecord]) -> Row:
    """Judged by the real SLO, whatever the server was told."""
    answered = [one for one in records if one.outcome in (Outcome.ON_TIME, Outcome.LATE)]
    good = [one for one in answered if one.ended - one.due <= slo]
    latencies = sorted(one.ended - one.due for one in answered)
    p95 = quantile(latencies, 0.95)
    return Row(
        server=server,
        load=load,
        offered_qps=round(len(records) / seconds, 1),
        goodput_qps=round(len(good) / seconds, 1),
        compute_ms=round(1e3 * sum(one.computed for one in answered) / len(answered), 2) if answered else None,
        p95_ms=None if p95 is None else round(p95 * 1e3, 1),
        accuracy=round(sum(one.accuracy or 0.0 for one in good) / len(good), 4) if good else None,
    )


def bars(rows: Sequence[Row]) -> dict[str, bool]:
    """What the sweep is to show: alike at low load, far better beyond capacity."""
    by = {(one.server, one.load): one for one in rows}
    found = {}
    for load in sorted({one.load for one in rows}):
        goodput = {server: by[server, load].goodput_qps for server in SERVERS}
        if load < 0.5:
            found[f"all agree at {load}"] = min(goodput.values()) >= 0.95 * max(goodput.values())
        if load > 1.2:
            found[f"4 x fifo at {load}"] = goodput["tidewise"] >= 4 * goodput["fifo"]
            found[f"1.2 x batcher at {load}"] = goodput["tidewise"] >= 1.2 * goodput["batcher"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loads", default=".4,.8,.95,1.3")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    loads = [0.4, 1.3] if options.quick else [float(one) for one in options.loads.split(",")]
    seconds = 8 if options.quick else options.seconds
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for server in SERVERS:
            repository_of(server, folder)
        profile = load_or_measure(folder / "tidewise", cluster_of("tidewise"), folder / "profile.json", FULL)
        application = application_of(folder / "tidewise")
        entry = profile.get(APPLICATION, top_of(folder / "tidewise"), DEVICE.name)
        assert entry is not None
        full = capacity(entry, application.slo).rate
        rows = [
            measure(server, load, load * full, application.slo, seconds, folder) for load in loads for server in SERVERS
        ]
    found = bars(rows)
    if options.json:
        print(json.dumps({"capacity_qps": full, "rows": [asdict(one) for one in rows], "bars": found}, indent=1))
    else:
        for one in rows:
            print(one)
        print(found)
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
