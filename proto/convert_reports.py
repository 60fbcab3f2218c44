"""The messages of the attach streams to nouns and back: reports of workers and routers, orders to workers."""

from __future__ import annotations

import math

from tidewise.core.profile import Profile, format_profile, parse_profile
from tidewise.core.report import (
    DeviceReport,
    Holding,
    MeasureRequest,
    RouterReport,
    Unprofiled,
    WorkerOrder,
    WorkerReport,
)
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import (
    assignment_message,
    assignment_noun,
    catalogue_message,
    source_noun,
    tally_message,
    tally_noun,
)

MOST_STRETCH = 1000.0


def worker_report_noun(message: pb.WorkerReport) -> WorkerReport:
    """A worker's report from a message. Raises ProfileError if a profile in it cannot be read."""
    return WorkerReport(
        process=message.process,
        address=message.address,
        devices=tuple(device_noun(one) for one in message.devices),
        profiles=tuple(parse_profile(text, f"profile of {message.process}") for text in message.profiles),
    )


def worker_report_message(report: WorkerReport) -> pb.WorkerReport:
    """A worker's report as a message."""
    return pb.WorkerReport(
        process=report.process,
        address=report.address,
        devices=[device_message(one) for one in report.devices],
        profiles=[format_profile(one) for one in report.profiles],
    )


def device_noun(message: pb.DeviceReport) -> DeviceReport:
    """One device's report from a message."""
    return DeviceReport(
        name=message.name,
        device_type=message.device_type,
        memory=message.memory_bytes or None,
        warm=tuple(Holding(one.application, one.variant, one.digest) for one in message.warm),
        applied_version=message.applied_version,
        refused_version=message.refused_version,
        refused_reason=message.refused_reason,
        queued=message.queued,
        busy=message.busy,
        arrival_rate=message.arrivals_per_s,
        violation_rate=message.violations_per_s,
        served=dict(message.served),
        draining=message.draining,
        stretch=stretch_of(message),
        unprofiled=tuple(Unprofiled(one.application, one.variant, one.reason) for one in message.unprofiled),
    )


def stretch_of(message: pb.DeviceReport) -> float:
    """How many times its profile a device takes: at least 1, and no more than a report can be trusted with."""
    return min(MOST_STRETCH, max(1.0, message.stretch)) if math.isfinite(message.stretch) else 1.0


def device_message(report: DeviceReport) -> pb.DeviceReport:
    """One device's report as a message."""
    return pb.DeviceReport(
        name=report.name,
        device_type=report.device_type,
        memory_bytes=report.memory or 0,
        warm=[pb.Warm(application=h.application, variant=h.variant, digest=h.digest) for h in report.warm],
        applied_version=report.applied_version,
        refused_version=report.refused_version,
        refused_reason=report.refused_reason,
        queued=report.queued,
        busy=report.busy,
        arrivals_per_s=report.arrival_rate,
        violations_per_s=report.violation_rate,
        served=dict(report.served),
        draining=report.draining,
        stretch=report.stretch,
        unprofiled=[
            pb.Unprofiled(application=one.application, variant=one.variant, reason=one.reason)
            for one in report.unprofiled
        ],
    )


def router_report_noun(message: pb.RouterReport) -> RouterReport:
    """A router's report from a message."""
    return RouterReport(
        router=message.router,
        address=message.address,
        applied_revision=message.applied_revision,
        tallies=tuple(tally_noun(one) for one in message.tallies),
    )


def router_report_message(report: RouterReport) -> pb.RouterReport:
    """A router's report as a message."""
    return pb.RouterReport(
        router=report.router,
        address=report.address,
        applied_revision=report.applied_revision,
        tallies=[tally_message(one) for one in report.tallies],
    )


def order_message(order: WorkerOrder) -> pb.WorkerOrder:
    """An order as a message."""
    return pb.WorkerOrder(
        plan_version=order.plan_version,
        catalogue=catalogue_message(order.applications),
        assignments=[assignment_message(one) for one in order.assignments],
        measures=[
            pb.Measure(device=one.device, application=one.application, variants=one.variants) for one in order.measures
        ],
        profiles=[format_profile(order.profile)] if order.profile.entries else [],
    )


def order_noun(message: pb.WorkerOrder) -> WorkerOrder:
    """An order from a message; applications and profiles travel as the text of their files.

    Raises ProfileError if a profile in it cannot be read.
    """
    profiles = [parse_profile(text, "profile in an order") for text in message.profiles]
    return WorkerOrder(
        plan_version=message.plan_version,
        applications=tuple(source_noun(one) for one in message.catalogue.applications),
        assignments=tuple(assignment_noun(one) for one in message.assignments),
        measures=tuple(MeasureRequest(one.device, one.application, tuple(one.variants)) for one in message.measures),
        profile=Profile().with_entries(entry for one in profiles for entry in one.entries.values()),
    )
