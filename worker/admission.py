"""From a request to a place in a device's queue, or the reason why not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tidewise.core.application import Application
from tidewise.core.errors import QueryError
from tidewise.core.outcome import Reason
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.answer import Refused
from tidewise.worker.checks import SHOWN, Decoded, decode
from tidewise.worker.host import Host
from tidewise.worker.query import LaneKey
from tidewise.worker.stations import AnyStation

WORKER_KEY = "tidewise-worker"  # metadata: which device of the process


@dataclass(frozen=True, slots=True)
class Admitted:
    """A query that may be queued: where, in which lane, and within how many seconds of its arrival."""

    station: AnyStation
    lane: LaneKey
    budget: float
    decoded: Decoded


def admit(host: Host, request: pb.ModelInferRequest, device: str | None, remaining: float | None) -> Admitted | Refused:
    """Check a request. ``device`` is the one it names, ``remaining`` the seconds its gRPC deadline leaves."""
    station = find_station(host, device)
    if isinstance(station, Refused):
        return station
    served = host.catalogue.get(request.model_name)
    if served is None:
        known = ", ".join(map(repr, host.catalogue)) or "none"
        text = f"there is no application {request.model_name[:SHOWN]!r}; known: {known}"
        return Refused(Reason.UNKNOWN_APPLICATION, text)
    pin = find_pin(served.application, request.model_version)
    if isinstance(pin, Refused):
        return pin
    try:
        decoded = decode(request, served.signature)
        own = stated_budget(request)
    except QueryError as error:
        return Refused(Reason.BAD_INPUT, str(error))
    budget = min(served.application.slo, *(given for given in (remaining, own) if given is not None), math.inf)
    return Admitted(station, LaneKey(served.application.name, pin, decoded.shapes), budget, decoded)


def find_station(host: Host, device: str | None) -> AnyStation | Refused:
    """The device of this name, or the only one if none is named."""
    if device is not None:
        station = host.stations.get(device)
        if station is not None:
            return station
        return Refused(Reason.NO_WORKER, f"this process has no worker {device[:SHOWN]!r}; it has {_names(host)}")
    if len(host.stations) == 1:
        return next(iter(host.stations.values()))
    return Refused(
        Reason.BAD_INPUT, f"this process has several workers ({_names(host)}); say which in metadata {WORKER_KEY!r}"
    )


def find_pin(application: Application, version: str) -> str | Refused:
    """The name of the variant that model_version pins by number or name, "" if it pins none."""
    if not version:
        return ""
    variant = application.variant(version)
    if variant is not None:
        return variant.name
    known = ", ".join(f"{one.version} ({one.name})" for one in application.variants)
    text = f"application {application.name!r} has no variant {version[:SHOWN]!r}; known: {known}"
    return Refused(Reason.UNKNOWN_VARIANT, text)


def stated_budget(request: pb.ModelInferRequest) -> float | None:
    """Seconds by the request's own ``deadline_ms`` parameter, None if it has none. Raises QueryError."""
    if "deadline_ms" not in request.parameters:
        return None
    parameter = request.parameters["deadline_ms"]
    kind = parameter.WhichOneof("parameter_choice")
    value = getattr(parameter, kind) if kind in ("int64_param", "uint64_param", "double_param") else math.nan
    if not (math.isfinite(value) and value > 0):
        raise QueryError("parameter 'deadline_ms' must be a positive number of milliseconds")
    return float(value) / 1e3


def _names(host: Host) -> str:
    names: Iterable[str] = host.stations
    shown = ", ".join(map(repr, names))
    return shown if len(shown) <= 4 * SHOWN else shown[: 4 * SHOWN] + " ..."
