"""A small generated world that the simulator's tests share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidewise.controller.policies.presets import preset, under
from tidewise.core.application import Application, Variant
from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.profile import BatchLatency, Profile, VariantProfile
from tidewise.core.scorecard import Scorecard, scorecard
from tidewise.core.trace import Trace
from tidewise.simulator.simulation import Result
from tidewise.simulator.world import Charges, World

SIZES = (1, 2, 4, 8)
LADDER = (("xl", 0.95, 0.040), ("m", 0.90, 0.016), ("s", 0.80, 0.006))  # variant, accuracy, seconds of one on a big
SPEEDS = {"big": 1.0, "small": 2.0}


def application(name: str, slo: float = 0.3) -> Application:
    variants = tuple(
        Variant(one, number, f"{one}.onnx", accuracy, batch_sizes=SIZES, digest=f"{name}-{one}")
        for number, (one, accuracy, _) in enumerate(LADDER, start=1)
    )
    return Application(name, slo, variants, (), ())


def profile(applications: Sequence[Application], memory: int = 0) -> Profile:
    entries = (
        VariantProfile(
            one.name,
            variant,
            kind,
            tuple(BatchLatency(size, *(2 * [speed * seconds * (0.4 + 0.6 * size)])) for size in SIZES),
            memory=memory,
            load=20 * seconds,
            digest=f"{one.name}-{variant}",
        )
        for one in applications
        for variant, _, seconds in LADDER
        for kind, speed in SPEEDS.items()
    )
    return Profile().with_entries(entries)


def trace(rates: dict[str, float], seconds: float, seed: int, peak: float = 1.0) -> Trace:
    """Poisson arrivals; in the middle third of the time ``peak`` times as many."""
    generator = np.random.default_rng(seed)
    times: list[float] = []
    names: list[str] = []
    for name, rate in rates.items():
        whole = np.sort(generator.uniform(0, seconds, generator.poisson(rate * peak * seconds)))
        busy = (whole > seconds / 3) & (whole < 2 * seconds / 3)
        kept = whole[busy | (generator.random(len(whole)) < 1 / peak)]
        times += kept.tolist()
        names += [name] * len(kept)
    return Trace.of(times, names, 0.3)


def world(
    policy: str = "tidewise",
    devices: tuple[int, int] = (2, 3),
    rates: dict[str, float] | None = None,
    seconds: float = 12.0,
    seed: int = 0,
    peak: float = 2.0,
    memory: int = 0,
    room: int | None = None,
) -> World:
    rates = rates or {"cats": 40.0, "dogs": 20.0}
    applications = {name: application(name) for name in rates}
    types = {
        kind: DeviceType(kind, count=count, memory=room, batch_sizes=SIZES)
        for kind, count in zip(SPEEDS, devices, strict=True)
    }
    return World(
        cluster=under(Cluster(types), preset(policy)),
        applications=applications,
        profile=profile(list(applications.values()), memory),
        trace=trace(rates, seconds, seed, peak),
        expected=rates,
        charges=Charges(),
    )


def card(one: World, result: Result) -> Scorecard:
    return scorecard(result.records, {name: app.best_accuracy() for name, app in one.applications.items()})
