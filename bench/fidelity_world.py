"""Worlds that both the real cluster and the simulator can play: written out as files, and read back as nouns."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from testbed import SIZES, Testbed, read_testbed

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.cluster import EMULATED, Cluster, DeviceType
from tidewise.core.files import ACCURACY_FILE, APPLICATION_FILE, read_repository
from tidewise.core.profile import BatchLatency, Profile, VariantProfile
from tidewise.core.repository import MeasuredAccuracy, format_accuracy
from tidewise.core.trace import Trace
from tidewise.traces.arrivals import POISSON, generate
from tidewise.traces.rates import split, tide
from tidewise.traces.reshape import cut, thinned
from tidewise.worker.profiling.store import write_profile

KINDS = ("cpu", "ampere", "pascal")  # the testbed's device types
ROW = TensorSpec("x", "FP32", (4,))  # what a query carries: the engines read nothing of it
TOTAL = 1_000_000  # samples an accuracy is said to be measured on
OUR_SLO = 0.3
OUR_KINDS = {"big": (3, 1.0), "small": (5, 2.0)}  # devices, times the seconds of the ladder
OUR_MIX = {"amber": 0.5, "birch": 0.3, "cedar": 0.2}
OUR_LADDER = (("xl", 0.95, 0.040), ("m", 0.90, 0.016), ("s", 0.80, 0.006))  # variant, accuracy, seconds of one row


@dataclass(frozen=True, slots=True)
class Scene:
    """What is played: devices by type, what was measured of the variants, and the trace."""

    counts: dict[str, int]
    applications: dict[str, Application]
    profile: Profile
    trace: Trace


def testbed_scene(data: Path, name: str, pool: tuple[int, ...], start: float, seconds: float, thin: float) -> Scene:
    """``seconds`` of one of the testbed's traces from ``start`` on, every arrival kept with probability ``thin``."""
    bed: Testbed = read_testbed(data, name)
    trace = cut(bed.trace, start, start + seconds)
    trace = trace if thin == 1 else thinned(trace, thin, np.random.default_rng(0))
    return Scene(dict(zip(KINDS, pool, strict=True)), bed.applications, bed.profile, trace)


def our_scene(seconds: float, peak: float) -> Scene:
    """A generated world of ours: three applications on eight devices of two types, two swells and a spike."""
    applications = {name: _our_application(name) for name in OUR_MIX}
    curves = split(tide(round(seconds), peak, np.random.default_rng(1)), OUR_MIX)
    trace = generate(curves, dict.fromkeys(OUR_MIX, OUR_SLO), POISSON, np.random.default_rng(2))
    entries = (_our_entry(one, kind, speed) for one in applications.values() for kind, (_, speed) in OUR_KINDS.items())
    counts = {kind: count for kind, (count, _) in OUR_KINDS.items()}
    return Scene(counts, applications, Profile().with_entries(one for group in entries for one in group), trace)


def _our_application(name: str) -> Application:
    variants = tuple(
        Variant(variant, number, "", accuracy, batch_sizes=SIZES)
        for number, (variant, accuracy, _) in enumerate(OUR_LADDER, start=1)
    )
    return Application(name, OUR_SLO, variants, (), ())


def _our_entry(application: Application, kind: str, speed: float) -> list[VariantProfile]:
    return [
        VariantProfile(
            application.name,
            variant,
            kind,
            tuple(BatchLatency(size, *(2 * [speed * seconds * (0.4 + 0.6 * size)])) for size in SIZES),
            memory=100_000_000,
            load=25 * seconds,
        )
        for variant, _, seconds in OUR_LADDER
    ]


@dataclass(frozen=True, slots=True)
class Stage:
    """A scene on disk, and as both sides read it from there."""

    repository: Path
    profile_file: Path
    cluster: Cluster
    applications: dict[str, Application]
    profile: Profile
    trace: Trace


def written(scene: Scene, folder: Path, noise: float, load_factor: float) -> Stage:
    """The scene as a model repository (whose model files hold nothing), a profile and a cluster of emulated devices."""
    repository, file = folder / "repository", folder / "profile.json"
    for one in scene.applications.values():
        _write_application(one, repository / one.name)
    digests = {
        (one.name, variant.name): _digest(one, variant)
        for one in scene.applications.values()
        for variant in one.variants
    }
    entries = (
        replace(one, variant=_plain(one.variant), digest=digests[one.application, one.variant])
        for one in scene.profile.entries.values()
    )
    profile = Profile().with_entries(entries)
    write_profile(file, profile)
    types = {kind: _device_type(kind, count, file, noise, load_factor) for kind, count in scene.counts.items()}
    applications = {name: one for name, (_, _, one) in read_repository(repository).items()}
    return Stage(repository, file, Cluster(types), applications, profile, scene.trace)


def _device_type(kind: str, count: int, profile: Path, noise: float, load_factor: float) -> DeviceType:
    return DeviceType(
        kind,
        count,
        provider=EMULATED,
        batch_sizes=SIZES,
        profile=str(profile),
        noise=noise,
        load_factor=load_factor,
    )


def _write_application(one: Application, folder: Path) -> None:
    row = f'datatype = "{ROW.datatype}"\nshape = {list(ROW.shape)}\n'
    head = f'name = "{one.name}"\nslo_ms = {one.slo * 1e3}\n'
    lines = [head, f'[[inputs]]\nname = "{ROW.name}"\n{row}', f'[[outputs]]\nname = "y"\n{row}']
    for variant in one.variants:
        model = folder / _plain(variant.name) / "model.onnx"
        model.parent.mkdir(parents=True)
        model.write_text(_content(one, variant), encoding="utf-8")
        sizes = list(variant.batch_sizes)
        lines.append(
            f'[[variants]]\nname = "{_plain(variant.name)}"\nversion = {variant.version}\nbatch_sizes = {sizes}\n'
        )
    measured = {
        _plain(variant.name): MeasuredAccuracy(round((variant.accuracy or 0) * TOTAL), TOTAL, _digest(one, variant))
        for variant in one.variants
    }
    (folder / APPLICATION_FILE).write_text("\n".join(lines), encoding="utf-8")
    (folder / ACCURACY_FILE).write_text(format_accuracy(measured), encoding="utf-8")


def _plain(name: str) -> str:
    """A variant's name as it may stand in a path."""
    return name.replace("/", "-")


def _content(application: Application, variant: Variant) -> str:
    return json.dumps({"emulated": [application.name, variant.name]})


def _digest(application: Application, variant: Variant) -> str:
    return hashlib.sha256(_content(application, variant).encode()).hexdigest()
