"""`tidewise status`: what a running cluster does, for a person or as JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any

import click
from google.protobuf.message import Message
from rich.console import Console

from tidewise.cli.calling import CALL_SECONDS, calling, controller_option
from tidewise.cli.live import LiveView
from tidewise.cli.options import json_option
from tidewise.cli.watching import Watcher
from tidewise.core.repository import parse_application
from tidewise.proto import control_pb2 as pb

WATCH_SECONDS = 1.0


@click.command(name="status", short_help="Show plan, demand, workers and routers.")
@controller_option
@json_option
@click.option("--watch", is_flag=True, help="Follow it on one screen until Ctrl-C; plain lines without a terminal.")
def command(controller: str, as_json: bool, watch: bool) -> None:
    """Show the plan in force, demand, what each worker hosts, and routers."""
    with calling(controller) as stub:
        if not watch:
            _show(stub.Status(pb.StatusRequest(), timeout=CALL_SECONDS), as_json)
            return
        statuses = stub.Watch(pb.WatchRequest(interval_s=WATCH_SECONDS))
        with contextlib.suppress(KeyboardInterrupt):
            _follow(statuses, controller, as_json)


def _follow(statuses: Iterable[pb.StatusReply], controller: str, as_json: bool) -> None:
    """Show every status as it comes: as a line of JSON, or in the live view."""
    if as_json:
        for status in statuses:
            click.echo(json.dumps(as_values(status)))
        return
    watcher = Watcher(f"Tidewise at {controller}")
    with LiveView(Console()) as view:
        for status in statuses:
            view.show(watcher.frame(status))


def _show(status: pb.StatusReply, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(as_values(status)))
        return
    for line in status_lines(status):
        click.echo(line)


def as_values(message: Message) -> dict[str, Any]:
    """A message as JSON values under the names of its fields, defaults included, whole numbers as numbers."""
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if isinstance(value, Message):
            found[field.name] = as_values(value)
        elif isinstance(value, MutableMapping):
            found[field.name] = dict(value)
        elif isinstance(value, MutableSequence):
            found[field.name] = [as_values(one) if isinstance(one, Message) else one for one in value]
        else:
            found[field.name] = value
    return found


def status_lines(status: pb.StatusReply) -> Iterator[str]:
    """The status for a person."""
    plan = status.plan
    if plan.version == 0:
        yield f"no plan yet (controller up for {status.uptime_s:.0f} s)"
    else:
        yield f"plan {plan.version}: {plan.trigger}; {plan.status}, solved in {plan.solve_s:.3f} s, gap {plan.gap:.2%}"
        if plan.phi < 1:
            yield f"  overload: every application is served at least {plan.phi:.0%} of its planned demand"
    if status.last_failure:
        yield f"  trouble: {status.last_failure}"
    yield "applications:" if status.applications else "applications: none"
    yield from (f"  {_application(one, plan)}" for one in status.applications)
    yield "workers:" if status.workers else "workers: none"
    hosted = {one.worker: one for one in plan.assignments}
    yield from (f"  {_worker(one, hosted.get(one.device.name), plan.version)}" for one in status.workers)
    yield f"routers (revision {status.revision}):" if status.routers else "routers: none"
    yield from (f"  {one.router} at {one.address}: revision {one.applied_revision}" for one in status.routers)


def _application(one: pb.ApplicationStatus, plan: pb.Plan) -> str:
    name = parse_application(one.spec.toml, "application").name
    served = dict(plan.served).get(name, 0.0)
    planned = dict(plan.demand).get(name, 0.0)
    return (
        f"{name}: {one.demand_qps:.1f} queries/s (planned {planned:.1f},"
        f" served {served:.0%}, dispersion {one.dispersion:.2f}), accuracy {one.planned_accuracy:.4f}"
        f" of {one.best_accuracy:.4f}"
    )


def _worker(one: pb.WorkerStatus, hosted: pb.Assignment | None, version: int) -> str:
    device = one.device
    state = "" if one.connected else " gone,"
    plan = f" {hosted.application}/{hosted.ceiling} for {hosted.share:.0%} of it" if hosted is not None else " nothing"
    ready = ", ".join(f"{warm.application}/{warm.variant}" for warm in device.warm) or "nothing"
    text = f"{device.name} ({device.device_type}, {one.address}):{state}{plan};"
    text += f" ready {ready} by plan {device.applied_version}"
    if device.refused_version:
        earlier = "" if device.refused_version >= version else "earlier "
        text += f"; {earlier}refused plan {device.refused_version}: {device.refused_reason}"
    if device.draining:
        text += "; draining"
    return text
