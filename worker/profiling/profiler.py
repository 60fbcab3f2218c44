"""The profiler: loads each variant as a worker would, times it, and turns what it saw into profile entries."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import psutil

from tidewise.core.cluster import SLOWDOWN, DeviceType
from tidewise.core.profile import BatchLatency, VariantProfile
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.loading import batch_sizes, load_variant
from tidewise.worker.profiling.accuracy import QUICK_ROWS, accuracy_warning
from tidewise.worker.profiling.company import slower_in_company
from tidewise.worker.profiling.effort import Effort
from tidewise.worker.profiling.measure import Measured, measure_sizes
from tidewise.worker.profiling.tasks import Task, conditions
from tidewise.worker.samples import Samples, samples_for


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A variant that is ready, with what getting there took: seconds, and bytes of memory."""

    session: Session
    load: float
    memory: int


def run_tasks(tasks: Iterable[Task], effort: Effort) -> Iterator[tuple[Task, list[VariantProfile]]]:
    """Each task's entries as soon as it is measured. Raises EngineError for a variant that cannot be trusted.

    The first variant of each application stays loaded as company for the others, as siblings are in service.
    """
    tasks = list(tasks)
    for first in tasks[:1]:  # the runtime's own memory comes with a process's first session, and is no variant's
        _load(first, samples_for(first.subject.application, first.subject.folder, QUICK_ROWS)).session.close()
    for _, group in groupby(tasks, key=lambda task: (task.subject.application.name, task.base)):
        company: Session | None = None
        samples: Samples | None = None
        try:
            for task in group:
                samples = samples or samples_for(task.subject.application, task.subject.folder, QUICK_ROWS)
                loaded, entries = _run(task, samples, company, effort)
                yield task, entries
                if company is None:
                    company = loaded.session
                else:
                    loaded.session.close()
        finally:
            if company is not None:
                company.close()


def _run(task: Task, samples: Samples, company: Session | None, effort: Effort) -> tuple[_Loaded, list[VariantProfile]]:
    loaded = _load(task, samples)
    outputs = [one.name for one in task.subject.application.outputs]
    sizes = batch_sizes(task.base, task.variant)
    measured = measure_sizes(loaded.session, outputs, samples, sizes, effort)
    notes = [*_unsettled(measured), *_wrong(task, loaded.session, samples)]
    if company is not None:
        notes += slower_in_company(company, loaded.session, outputs, samples, measured)
    return loaded, [_entry(task, one, loaded, measured, effort, notes) for one in task.targets]


def _load(task: Task, samples: Samples) -> _Loaded:
    """Memory covers the model and the largest batch, which warming up has run; never less than the model file."""
    process = psutil.Process()
    model = task.subject.model(task.variant)
    before, began = process.memory_info().rss, time.perf_counter()
    session = load_variant(task.base, task.subject.application, task.variant, model, samples=samples)
    load = time.perf_counter() - began
    return _Loaded(session, load, max(process.memory_info().rss - before, model.stat().st_size))


def _entry(
    task: Task, device_type: DeviceType, loaded: _Loaded, measured: list[Measured], effort: Effort, notes: list[str]
) -> VariantProfile:
    return VariantProfile(
        application=task.subject.application.name,
        variant=task.variant.name,
        device_type=device_type.name,
        batches=tuple(slowed(one.summary, device_type) for one in measured),
        memory=loaded.memory,
        load=loaded.load,
        digest=task.variant.digest,
        notes=(conditions(device_type, effort), *notes),
    )


def slowed(latency: BatchLatency, device_type: DeviceType) -> BatchLatency:
    """The latency on a slowed device type: its median is ``slowdown`` times the uncontended one.

    The spread above the median is this host's, not the slower device's, so it is added once rather than multiplied.
    Other device types are returned as measured.
    """
    if device_type.provider != SLOWDOWN:
        return latency
    median = latency.p50 * device_type.slowdown
    return replace(latency, p50=median, p95=median + latency.p95 - latency.p50)


def _unsettled(measured: list[Measured]) -> Iterator[str]:
    sizes = [str(one.size) for one in measured if not one.settled]
    if sizes:
        yield f"the spread did not settle in time at batch size {', '.join(sizes)}"


def _wrong(task: Task, session: Session, samples: Samples) -> Iterator[str]:
    warning = accuracy_warning(
        session, task.subject.application, task.variant, samples, task.subject.stated_accuracy(task.variant)
    )
    if warning is not None:
        yield warning
