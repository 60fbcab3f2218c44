"""What `tidewise check` looks for, one sentence a fault."""

from __future__ import annotations

import statistics
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime

from tidewise.cli.options import read_cluster
from tidewise.cli.policies import planner_faults, policy_faults
from tidewise.core.application import Application, TensorSpec
from tidewise.core.capacity import QUEUE_SHARE, capacity
from tidewise.core.cluster import EMULATED, Cluster
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import InputError, reason
from tidewise.core.files import ACCURACY_FILE, APPLICATION_FILE, model_path, read_source
from tidewise.core.profile import Profile, parse_profile
from tidewise.core.repository import parse_accuracy, parse_application
from tidewise.worker.signature import signature_faults

TRIALS = 7  # batches of one timed for each variant where no profile is given


def application_faults(folder: Path, cluster: Cluster, profile: Profile | None) -> Iterator[str]:
    """Faults of the application in this folder: its file, its models, its test data, its SLO."""
    if wrong := list(_file_faults(folder)):
        yield from wrong
        return
    application = read_source(folder).parse(str(folder / APPLICATION_FILE))
    broken = [fault for one in application.variants for fault in signature_faults(folder / one.model, one, application)]
    yield from broken
    yield from _test_data_faults(folder, application)
    yield from _accuracy_faults(folder, application)
    yield from _replica_faults(folder, application, cluster)
    if not broken:
        yield from _slo_faults(folder, application, cluster, profile)


def _file_faults(folder: Path) -> Iterator[str]:
    """What is wrong with application.toml, and which files it names that are not there."""
    file, faults = folder / APPLICATION_FILE, list[str]()
    try:
        application = parse_application(file.read_text(encoding="utf-8"), str(file), faults)
    except (OSError, UnicodeDecodeError) as error:
        yield f"{file} cannot be read: {reason(error)}"
        return
    except InputError as error:
        yield str(error)
        return
    yield from faults
    for one in application.variants if not faults else ():
        try:
            model_path(folder, one.model)
        except InputError as error:
            yield str(error)
    if (folder / ACCURACY_FILE).exists():
        try:
            parse_accuracy((folder / ACCURACY_FILE).read_text(encoding="utf-8"), str(folder / ACCURACY_FILE))
        except (OSError, UnicodeDecodeError, InputError) as error:
            yield str(error)


def _accuracy_faults(folder: Path, application: Application) -> Iterator[str]:
    try:
        best = application.best_accuracy()
    except InputError as error:
        yield str(error)
        return
    if best < application.min_accuracy:
        yield (
            f"{folder / APPLICATION_FILE}: min_accuracy = {application.min_accuracy:g}, and the best variant's accuracy"
            f" is {best:.4g}; no plan could serve it"
        )


def _replica_faults(folder: Path, application: Application, cluster: Cluster) -> Iterator[str]:
    devices = sum(one.count for one in cluster.device_types.values())
    if application.min_replicas > devices:
        yield (
            f"{folder / APPLICATION_FILE}: min_replicas = {application.min_replicas}, and the cluster has {devices}"
            " devices; lower it or add devices"
        )


def _test_data_faults(folder: Path, application: Application) -> Iterator[str]:
    data = application.test_data
    if data is None:
        return
    file = folder / data.file
    if data.output not in [one.name for one in application.outputs]:
        yield f"{folder / APPLICATION_FILE} [test_data]: output {data.output!r} is not an output of the application"
    try:
        arrays = dict(np.load(file))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        yield f"{file} cannot be read as an .npz of arrays: {reason(error)}"
        return
    for name in [one.name for one in application.inputs] + [data.labels]:
        if name not in arrays:
            yield f"{file} has no array {name!r}; it has {', '.join(map(repr, arrays))}"
    for spec in application.inputs:
        if spec.name in arrays and not _fits(arrays[spec.name], spec):
            found = arrays[spec.name]
            is_now = f"{found.dtype}{list(found.shape)}"
            yield f"{file}: array {spec.name!r} is {is_now}, not {spec.datatype} rows of {list(spec.shape)}"
    if len({len(array) for array in arrays.values()}) > 1:
        yield f"{file}: its arrays differ in length: {', '.join(f'{name} {len(one)}' for name, one in arrays.items())}"


def _fits(array: np.ndarray, spec: TensorSpec) -> bool:
    return spec.accepts(array.shape) and array.dtype == DATATYPES[spec.datatype]


def _slo_faults(folder: Path, application: Application, cluster: Cluster, profile: Profile | None) -> Iterator[str]:
    """Held against the profile where there is one, else against a batch of one measured now."""
    if profile is not None:
        entries = [one for one in profile.entries.values() if one.application == application.name]
        if not entries:
            yield f"the profile has no entry of application {application.name!r}; run: tidewise profile"
            return
        if any(capacity(one, application.slo).rate > 0 for one in entries):
            return
        fastest = min(one.p95(1) for one in entries)
    else:
        real = [one for one in cluster.device_types.values() if one.provider != EMULATED]
        if not real:
            return
        slowdown = min(one.slowdown for one in real)
        fastest = slowdown * min(
            _batch_of_one(model_path(folder, one.model), application) for one in application.variants
        )
        if fastest <= application.slo * QUEUE_SHARE:
            return
    yield (
        f"{folder / APPLICATION_FILE}: no variant can meet slo_ms = {application.slo * 1e3:g}: the fastest needs"
        f" {fastest * 1e3:.3g} ms for a batch of one, and {QUEUE_SHARE:.0%} of the SLO is left for it; raise slo_ms"
        " or add a faster variant"
    )


def _batch_of_one(model: Path, application: Application) -> float:
    """Median seconds of a batch of one row of zeros on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    row = {
        one.name: np.zeros((1, *(max(1, axis) for axis in one.shape)), DATATYPES[one.datatype])
        for one in application.inputs
    }
    seconds = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        session.run(None, row)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def profile_faults(text: str, file: Path) -> list[str]:
    """Every fault of a profile's text. Raises ProfileError if it is no JSON."""
    faults: list[str] = []
    parse_profile(text, str(file), faults)
    return faults


def cluster_file_faults(file: Path) -> Iterator[str]:
    """Every fault of a cluster file: of its text, and what its text alone does not show."""
    faults: list[str] = []
    cluster = read_cluster(file, faults)
    yield from faults
    yield from _cluster_faults(cluster, file)


def _cluster_faults(cluster: Cluster, file: Path) -> Iterator[str]:
    """Files it names, providers that are not here, policies nobody registered."""
    for one in cluster.device_types.values():
        if one.profile:
            path = Path(one.profile)
            try:
                parse_profile(path.read_text(encoding="utf-8"), str(path))
            except OSError as error:
                yield f"{file} [device_types.{one.name}]: profile {path} cannot be read: {error.strerror}"
            except InputError as error:
                yield str(error)
    available = [*onnxruntime.get_available_providers(), "cpu", "slowdown", EMULATED]
    for one in cluster.device_types.values():
        if one.provider not in available:
            here = ", ".join(available)
            yield f"{file} [device_types.{one.name}]: provider {one.provider!r} is not here; here are {here}"
    yield from (f"{file} [policies]: {fault}" for fault in policy_faults(cluster))
    yield from (f"{file} [planner]: {fault}" for fault in planner_faults(cluster))
