"""Worlds of our own: random ladders, device types, SLOs and arrivals, small enough to play dozens of them."""

from __future__ import annotations

import numpy as np
from testbed import SIZES, Testbed

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.profile import BatchLatency, Profile, VariantProfile
from tidewise.core.trace import Trace

SECONDS = 120
STEP = 0.1  # seconds in which the rate of an application is constant


def generated(seed: int) -> tuple[Testbed, Cluster]:
    """3 to 7 applications on 2 or 3 device types, demand at its peak up to four times what the best carry."""
    draw = np.random.default_rng(seed)
    speeds = np.cumprod(np.r_[1.0, draw.uniform(1.5, 4.0, draw.integers(1, 3))])
    counts = draw.integers(3, 9, len(speeds))
    types = {f"type{n}": DeviceType(f"type{n}", count=int(count), batch_sizes=SIZES) for n, count in enumerate(counts)}
    applications, entries = {}, []
    for n in range(draw.integers(3, 8)):
        application, measured = _application(f"app{n}", draw, dict(zip(types, speeds.tolist(), strict=True)))
        applications[application.name] = application
        entries += measured
    profile = Profile().with_entries(entries)
    peak = draw.uniform(0.8, 4.0) * _comfort(applications, profile, types)
    trace = _trace(applications, peak, draw)
    return Testbed(applications, profile, trace), Cluster(types)


def _application(
    name: str, draw: np.random.Generator, speeds: dict[str, float]
) -> tuple[Application, list[VariantProfile]]:
    """A ladder of 2 to 6 variants, each 1.4 to 3 times as fast as the one before and up to 6 points less accurate."""
    rungs = int(draw.integers(2, 7))
    latency = np.exp(draw.uniform(np.log(0.01), np.log(0.12))) / np.cumprod(
        np.r_[1.0, draw.uniform(1.4, 3.0, rungs - 1)]
    )
    accuracy = draw.uniform(0.7, 0.95) * np.cumprod(np.r_[1.0, 1 - draw.uniform(0.002, 0.06, rungs - 1)])
    fixed = draw.uniform(0.1, 0.7)  # the part of a batch's time that does not grow with its size
    slo = float(latency[0] * draw.uniform(2.5, 8) * np.sqrt(max(speeds.values())))
    variants = tuple(
        Variant(f"v{n}", n + 1, f"v{n}.onnx", float(one), batch_sizes=SIZES, digest=f"{name}/v{n}")
        for n, one in enumerate(accuracy)
    )
    entries = []
    for kind, speed in speeds.items():
        bend = draw.uniform(0.8, 1.25, rungs)  # no device is equally good at everything
        for n in range(rungs):
            one = float(latency[n] * speed * bend[n])
            batches = tuple(BatchLatency(size, *[one * (fixed + (1 - fixed) * size)] * 2) for size in SIZES)
            load = float(np.clip(30 * latency[n], 0.3, 4.0))
            entries.append(VariantProfile(name, f"v{n}", kind, batches, load=load, digest=f"{name}/v{n}"))
    return Application(name, slo, variants, (), ()), entries


def _comfort(applications: dict[str, Application], profile: Profile, types: dict[str, DeviceType]) -> float:
    """About what the best variants carry in all, queries per second, were devices shared evenly."""
    rates = []
    for name, one in applications.items():
        mine = [profile.get(name, one.variants[0].name, kind) for kind in types]
        rates.append(
            sum(4 / entry.p50(4) * types[entry.device_type].count for entry in mine if entry is not None)
            / len(applications)
        )
    return float(sum(rates))


def _trace(applications: dict[str, Application], peak: float, draw: np.random.Generator) -> Trace:
    """A swell and a shift of the mix; arrivals doubly stochastic with gamma rates, from smooth to bursty."""
    names = list(applications)
    steps = np.arange(0, SECONDS, STEP)
    swell = 0.25 + 0.75 * np.exp(-(((steps - draw.uniform(40, 80)) / draw.uniform(10, 30)) ** 2))
    first, last = draw.dirichlet(np.full(len(names), 1.5), 2)
    burst = draw.choice([0.0, 0.05, 0.3])
    times, codes = [], []
    for place in range(len(names)):
        mix = first[place] + (last[place] - first[place]) * steps / SECONDS
        rate = peak * swell * mix * STEP
        noisy = rate if burst == 0 else draw.gamma(1 / burst, rate * burst)
        counts = draw.poisson(noisy)
        times.append(np.repeat(steps, counts) + draw.uniform(0, STEP, counts.sum()))
        codes.append(np.full(counts.sum(), place))
    arrival, code = np.concatenate(times), np.concatenate(codes)
    slos = np.array([applications[name].slo for name in names])
    return Trace.of(arrival, [names[one] for one in code], slos[code])
