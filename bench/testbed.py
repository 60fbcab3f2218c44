"""The published testbed's files as our nouns: profiles, variants, traces and pool. Reads a folder; keeps nothing.

The folder holds profiles/aggregate_profiled.csv, variants/all/FAMILY and traces/NAME/SLO/FAMILY.txt.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.profile import BatchLatency, Profile, VariantProfile
from tidewise.core.trace import Trace, checked

KINDS = {"cpu": "onnxruntime_cpu", "ampere": "onnxruntime_gpu_ampere", "pascal": "onnxruntime_gpu_pascal"}
POOLS = {"full": (20, 10, 10), "half": (10, 5, 5)}
SLO_TABLE = "slo_by_multiplier_ms.csv"
SIZES = (1, 2, 4, 8)


Medians = dict[tuple[str, str], dict[int, float]]


@dataclass(frozen=True, slots=True)
class Testbed:
    """Applications with their SLO, and what was measured of their variants."""

    applications: dict[str, Application]
    profile: Profile
    trace: Trace


def read_testbed(data: Path, trace: str) -> Testbed:
    """The testbed as one of its traces sees it: SLOs are the trace's."""
    medians = _medians(data / "profiles" / "aggregate_profiled.csv")
    families = sorted(one.name for one in (data / "variants" / "all").iterdir())
    times = {name: np.loadtxt(data / "traces" / trace / f"{name}.txt", delimiter=",", ndmin=2) for name in families}
    applications = {
        name: _application(name, data / "variants" / "all" / name, float(times[name][0, 2]) / 1e3) for name in families
    }
    entries = (
        _entry(one, variant, kind, medians)
        for one in applications.values()
        for variant in one.variants
        for kind in KINDS
    )
    profile = Profile().with_entries(entry for entry in entries if entry is not None)
    return Testbed(applications, profile, _trace(times, trace))


def cluster(pool: str) -> Cluster:
    """A pool by name, or any number of devices in the same proportions."""
    counts = POOLS[pool] if pool in POOLS else tuple(round(int(pool) * part / 40) for part in POOLS["full"])
    types = {kind: DeviceType(kind, count=count, batch_sizes=SIZES) for kind, count in zip(KINDS, counts, strict=True)}
    return Cluster(types)


def with_slos(bed: Testbed, data: Path, row: str) -> Testbed:
    """The same arrivals with the SLOs of one row of the testbed's table."""
    with (data / "traces" / SLO_TABLE).open(encoding="utf-8") as text:
        found = next(one for one in csv.DictReader(text) if one["directory"] == row)
    slos = {name: float(found[name]) / 1e3 for name in bed.applications}
    applications = {name: replace(one, slo=slos[name]) for name, one in bed.applications.items()}
    return replace(bed, applications=applications, trace=_with_deadlines(bed.trace, slos))


def permuted(bed: Testbed, seed: int, parts: int = 1) -> Testbed:
    """Every application gets the arrivals of another one; anew in each of ``parts`` equal parts of the time."""
    generator = np.random.default_rng(seed)
    code = bed.trace.application.copy()
    part = np.minimum(bed.trace.arrival / bed.trace.duration * parts, parts - 1).astype(int)
    for one in range(parts):
        others = generator.permutation(len(bed.trace.names)).astype(np.int32)
        code[part == one] = others[bed.trace.application[part == one]]
    trace = replace(bed.trace, application=code)
    return replace(bed, trace=_with_deadlines(trace, {name: one.slo for name, one in bed.applications.items()}))


def _with_deadlines(trace: Trace, slos: dict[str, float]) -> Trace:
    return replace(trace, deadline=np.array([slos[name] for name in trace.names])[trace.application])


def load_seconds(latency: float) -> float:
    """.5 + 4.5 clip(ln(CPU latency of one / 5 ms) / ln 600, 0, 1)."""
    return 0.5 + 4.5 * min(1.0, max(0.0, math.log(latency / 0.005) / math.log(600)))


def _medians(file: Path) -> Medians:
    rows: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with file.open(encoding="utf-8") as text:
        for row in csv.DictReader(text):
            rows[row["Model"], row["Accel"]][int(row["batchsize"])].append(float(row["50th_pct"]) / 1e3)
    return {key: {size: statistics.median(each) for size, each in one.items()} for key, one in rows.items()}


def _application(name: str, file: Path, slo: float) -> Application:
    lines = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    ranked = sorted(((one.strip(), float(accuracy) / 100) for one, accuracy in lines), key=lambda pair: -pair[1])
    variants = tuple(
        Variant(one, number, f"{one}.onnx", accuracy, batch_sizes=SIZES, digest=f"{name}/{one}")
        for number, (one, accuracy) in enumerate(ranked, start=1)
    )
    return Application(name, slo, variants, (), ())


def _entry(application: Application, variant: Variant, kind: str, medians: Medians) -> VariantProfile | None:
    """The published systems plan with medians, so the median stands for the 95th percentile too, for every policy."""
    found = {size: one for size, one in medians.get((variant.name, KINDS[kind]), {}).items() if size in SIZES}
    if not found:
        return None
    batches = tuple(BatchLatency(size, found[size], found[size]) for size in sorted(found))
    load = load_seconds(medians[variant.name, KINDS["cpu"]][1])
    return VariantProfile(application.name, variant.name, kind, batches, load=load, digest=variant.digest)


def _trace(times: dict[str, np.ndarray], where: str) -> Trace:
    names = tuple(sorted(times))
    arrival = np.concatenate([times[name][:, 0] / 1e3 for name in names])
    code = np.concatenate([np.full(len(times[name]), place, np.int32) for place, name in enumerate(names)])
    deadline = np.concatenate([times[name][:, 2] / 1e3 for name in names])
    order = np.argsort(arrival, kind="stable")
    return checked(Trace(names, arrival[order], code[order], deadline[order]), where)


def first_rates(trace: Trace, seconds: float = 5.0) -> dict[str, float]:
    """Each application's arrivals per second over the first seconds."""
    early = trace.application[trace.arrival < seconds]
    return {name: float(np.sum(early == place)) / seconds for place, name in enumerate(trace.names)}


def mean_rates(trace: Trace) -> dict[str, float]:
    """Each application's arrivals per second over the whole trace."""
    return {name: float(np.sum(trace.application == place)) / trace.duration for place, name in enumerate(trace.names)}
