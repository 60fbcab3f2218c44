"""The status: what a controller knows and does, as the message that travels to people and reports."""

from __future__ import annotations

import math
from dataclasses import replace

from tidewise.controller.conductor import Conductor
from tidewise.controller.unprofiled import sentence, unprofiled
from tidewise.core.application import Application
from tidewise.core.plan import Plan
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import plan_message, source_message
from tidewise.proto.convert_reports import device_message


def status_message(conductor: Conductor, now: float, uptime: float) -> pb.StatusReply:
    """Everything, at this moment."""
    return pb.StatusReply(
        plan=plan_message(conductor.planner.plan),
        revision=conductor.publisher.snapshot.revision,
        workers=_workers(conductor),
        routers=_routers(conductor),
        applications=_applications(conductor, now),
        uptime_s=uptime,
        recent=[plan_message(replace(one, assignments=())) for one in conductor.recent],
        last_failure=_failures(conductor),
    )


def _workers(conductor: Conductor) -> list[pb.WorkerStatus]:
    here = conductor.registry.devices()
    gone = {name: one for name, one in conductor.registry.departed.items() if name not in here}
    return [
        pb.WorkerStatus(device=device_message(one.report), address=one.address, connected=name in here)
        for name, one in sorted({**gone, **here}.items())
    ]


def _routers(conductor: Conductor) -> list[pb.RouterStatus]:
    return [
        pb.RouterStatus(router=one.router, address=one.address, applied_revision=one.applied_revision, connected=True)
        for one in conductor.registry.routers.values()
    ]


def _applications(conductor: Conductor, now: float) -> list[pb.ApplicationStatus]:
    estimates = conductor.estimates(now)
    return [
        pb.ApplicationStatus(
            spec=source_message(conductor.registry.sources[name]),
            demand_qps=estimates[name].level,
            dispersion=estimates[name].dispersion,
            best_accuracy=application.best_accuracy(),
            planned_accuracy=planned_accuracy(application, conductor.planner.plan),
        )
        for name, application in sorted(conductor.registry.applications.items())
    ]


def planned_accuracy(application: Application, plan: Plan) -> float:
    """Mean accuracy of the application's planned variants by share; 0 if nothing hosts it."""
    parts = []
    for one in plan.assignments:
        variant = application.variant(one.ceiling) if one.application == application.name else None
        if variant is not None:
            parts.append(one.share * (variant.accuracy or 0.0))
    return math.fsum(parts)


def _failures(conductor: Conductor) -> str:
    """Why planning failed last, and which variants are planned around."""
    found = [conductor.failure] if conductor.failure else []
    names = {v.digest: f"{a.name}/{v.name}" for a in conductor.registry.applications.values() for v in a.variants}
    for (device, digest), reason in sorted(conductor.quarantine.why.items()):
        found.append(f"{names.get(digest, digest)} is not planned on {device}: {reason}")
    found += [sentence(report.name, one) for report, one in unprofiled(conductor.registry)]
    return "; ".join(found)
