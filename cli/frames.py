"""The controller's status as a live frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidewise.cli.hosting import hosting
from tidewise.core.application import Application
from tidewise.core.live import LiveApplication, LiveFrame, LiveRouter, LiveWorker
from tidewise.dashboard.numbers import milliseconds, percent
from tidewise.dashboard.tally import LiveTally
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import source_noun


def status_frame(
    title: str,
    reply: pb.StatusReply,
    plan_age: float | None = None,
    history: Mapping[str, tuple[float, ...]] | None = None,
) -> LiveFrame:
    """What the controller knows; accuracy is what the plan in force expects, and latencies are not known to it."""
    nouns = _applications(reply)
    shown = tuple(
        LiveApplication(
            name=noun.name,
            slo=noun.slo,
            demand=one.demand_qps,
            history=(history or {}).get(noun.name, ()),
            planned=reply.plan.demand.get(noun.name),
            accuracy=one.planned_accuracy,
            normalised=one.planned_accuracy / one.best_accuracy if one.best_accuracy else None,
            served=reply.plan.served.get(noun.name, 1.0),
        )
        for noun, one in zip(nouns.values(), reply.applications, strict=True)
    )
    return LiveFrame(
        title=title,
        elapsed=reply.uptime_s,
        plan_version=reply.plan.version,
        plan_trigger=reply.plan.trigger,
        plan_age=plan_age,
        plan_detail=_detail(reply.plan),
        phi=reply.plan.phi or 1.0,
        applications=shown,
        workers=live_workers(reply, nouns),
        routers=tuple(LiveRouter(one.address, one.applied_revision >= reply.revision) for one in reply.routers),
        notes=(f"trouble: {reply.last_failure}",) if reply.last_failure else (),
    )


def replay_frame(status: LiveFrame, tally: LiveTally, now: float, total: float) -> LiveFrame:
    """The frame of a replay: the cluster as its controller knows it, figures as the callers saw them."""
    planned = {one.name: one.planned for one in status.applications if one.planned is not None}
    return replace(
        status,
        elapsed=now,
        total=total,
        applications=tally.applications(now, planned),
        outcomes=dict(tally.outcomes),
        normalised=tally.normalised,
    )


def live_workers(reply: pb.StatusReply, applications: Mapping[str, Application]) -> tuple[LiveWorker, ...]:
    """Every worker by name with what it hosts."""
    hosted = hosting(reply)
    planned = {one.worker: one for one in reply.plan.assignments}
    found = [
        replace(
            _worker(one, hosted[one.device.name], applications),
            share=planned[one.device.name].share if one.device.name in planned else None,
            following=one.device.name not in planned or one.device.applied_version >= reply.plan.version,
            note=_note(one.device, planned.get(one.device.name), reply.plan.version),
        )
        for one in reply.workers
    ]
    return tuple(sorted(found, key=lambda one: one.name))


def _worker(status: pb.WorkerStatus, hosted: tuple[str, str], applications: Mapping[str, Application]) -> LiveWorker:
    device, (application, variant) = status.device, hosted
    return LiveWorker(
        name=device.name,
        device_type=device.device_type,
        application=application,
        variant=variant,
        depth=_depth(applications.get(application), variant),
        queued=device.queued,
        busy=device.busy,
        connected=status.connected,
    )


def _detail(plan: pb.Plan) -> str:
    return f"{plan.status}, gap {percent(round(plan.gap, 4))}, solved in {milliseconds(plan.solve_s)}"


def _note(device: pb.DeviceReport, planned: pb.Assignment | None, version: int) -> str:
    """What keeps a device from following the plan in force, or kept it from following one before."""
    notes = []
    if device.draining:
        notes.append("draining")
    if device.refused_version:
        earlier = "" if device.refused_version >= version else "earlier "
        notes.append(f"{earlier}refused plan {device.refused_version}: {device.refused_reason}")
    elif planned is not None and device.applied_version < version:
        notes.append(f"loading {planned.application}/{planned.ceiling} for plan {version}")
    return "; ".join(notes)


def _depth(application: Application | None, variant: str) -> int:
    """How many of the application's variants are more accurate."""
    if application is None:
        return 0
    accuracies = {one.name: one.accuracy or 0.0 for one in application.variants}
    return sum(one > accuracies.get(variant, 0.0) for one in accuracies.values())


def _applications(reply: pb.StatusReply) -> dict[str, Application]:
    nouns = [source_noun(one.spec).parse() for one in reply.applications]
    return {one.name: one for one in nouns}
