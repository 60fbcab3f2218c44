"""From a model file to a session that is safe to serve with: opened, checked, warm."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import EMULATED, SLOWDOWN, DeviceType
from tidewise.core.errors import EngineError
from tidewise.core.profile import VariantProfile
from tidewise.worker.engine.base import Session, SessionOptions
from tidewise.worker.engine.choose import open_model, session_options
from tidewise.worker.engine.crosscheck import ROWS, cross_check
from tidewise.worker.engine.emulated import EmulatedSession, SlowdownSession
from tidewise.worker.engine.onnx import OnnxEngine
from tidewise.worker.samples import Samples, samples_for
from tidewise.worker.tensors import assemble


def load_variant(
    device_type: DeviceType,
    application: Application,
    variant: Variant,
    model: Path | None,
    entry: VariantProfile | None = None,
    samples: Samples | None = None,
) -> Session:
    """The variant as this device type runs it, cross-checked and warm; blocks for as long as that takes.

    ``model`` may be None where the device is emulated; ``entry`` is the variant's profile on this device type, needed
    where time is emulated or slowed down. ``samples`` are inputs to try it with, random ones if None. Raises
    EngineError saying why the variant cannot be used.
    """
    if device_type.provider == EMULATED:
        return EmulatedSession(application.inputs, application.outputs, _profiled(entry, variant, device_type))
    if model is None:
        raise EngineError(f"variant {variant.name!r} of {application.name!r} has no model file here")
    pace = _profiled(entry, variant, device_type) if device_type.provider == SLOWDOWN else None
    session = open_model(device_type, model)
    try:
        tried = samples or samples_for(application, None, ROWS)
        prove(session, device_type, application, variant, model, tried)
        warm_up(session, application, tried, batch_sizes(device_type, variant))
    except BaseException:
        session.close()
        raise
    return session if pace is None else SlowdownSession(session, pace)


def prove(
    session: Session, device_type: DeviceType, application: Application, variant: Variant, model: Path, samples: Samples
) -> None:
    """Cross-check a session against one that onnxruntime's Python binding opens on the CPU. Raises EngineError."""
    reference = OnnxEngine().load(model, SessionOptions(session_options(device_type).threads))
    try:
        cross_check(session, reference, application, variant, samples)
    finally:
        reference.close()


def warm_up(session: Session, application: Application, samples: Samples, sizes: Iterable[int]) -> None:
    """Run every batch size once, so that memory is claimed and caches are filled before the first query."""
    names = [one.name for one in application.outputs]
    for size in sizes:
        session.run(assemble(samples.queries(size)), names)


def batch_sizes(device_type: DeviceType, variant: Variant) -> tuple[int, ...]:
    """The sizes profiled and warmed up: the variant's own where it states any, within what the device type may run."""
    largest = max(device_type.batch_sizes)
    return (
        tuple(size for size in variant.batch_sizes if size <= largest)
        or variant.batch_sizes[:1]
        or device_type.batch_sizes
    )


def _profiled(entry: VariantProfile | None, variant: Variant, device_type: DeviceType) -> VariantProfile:
    if entry is None:
        raise EngineError(
            f"variant {variant.name!r} has no profile on device type {device_type.name!r}, whose provider"
            f" {device_type.provider!r} needs one; run: tidewise profile"
        )
    return entry
