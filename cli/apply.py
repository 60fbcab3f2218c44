"""`tidewise apply`: add an application to a running cluster, or replace it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from tidewise.cli.calling import CALL_SECONDS, calling, controller_option
from tidewise.core.application import Application
from tidewise.core.errors import InputError, TidewiseError
from tidewise.core.files import ACCURACY_FILE, APPLICATION_FILE, read_source
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub

PIECE = 1024 * 1024
POLL_SECONDS = 0.2
UPLOAD_SECONDS = 600.0


@click.command(name="apply", short_help="Add an application to a running cluster.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@controller_option
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until workers serve it.")
@click.option("--timeout", default=120.0, show_default=True, metavar="SECONDS", type=click.FloatRange(min=1))
def command(folder: Path, controller: str, wait: bool, timeout: float) -> None:
    """Send the application in DIR to the controller, and wait until it is planned and ready."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the one that holds {APPLICATION_FILE}")
    application = read_source(folder).parse(str(folder / APPLICATION_FILE))
    application.best_accuracy()
    click.echo(f"{application.name}: {len(application.variants)} variants, SLO {application.slo * 1e3:g} ms")
    with calling(controller) as stub:
        before = refusals(_status(stub))
        reply = stub.Apply(pieces(folder, application), timeout=UPLOAD_SECONDS)
        click.echo("replaced" if reply.replaced else "added")
        if wait:
            _wait(stub, application, before, timeout)


def pieces(folder: Path, application: Application) -> Iterator[pb.ApplyChunk]:
    """The files that make up an application, piece by piece."""
    names = [APPLICATION_FILE, ACCURACY_FILE, *(one.model for one in application.variants)]
    if application.test_data is not None:
        names.append(application.test_data.file)
    for name in dict.fromkeys(names):
        path = folder / name
        if not path.is_file():
            continue  # the controller says which file is missing, if it needs it
        with path.open("rb") as file:
            yield pb.ApplyChunk(application=application.name, path=name, data=file.read(PIECE))
            while data := file.read(PIECE):
                yield pb.ApplyChunk(data=data)


def _wait(stub: ControllerStub, application: Application, before: list[str], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    said = ""
    while True:
        status = _status(stub)
        step, done = progress(status, application)
        for text in refusals(status):
            if text not in before:  # also of a plan that was made anew since, without what could not be loaded
                click.echo(text)
                before.append(text)
        if step not in (said, *before):
            click.echo(step)
            said = step
        if done:
            return
        if time.monotonic() > deadline:
            why = f"; the controller says: {status.last_failure}" if status.last_failure else ""
            raise TidewiseError(f"{application.name} is not ready after {timeout:g} s: {step}{why}")
        time.sleep(POLL_SECONDS)


def refusals(status: pb.StatusReply) -> list[str]:
    """What each worker last refused or could not profile, and why."""
    devices = [one.device for one in status.workers]
    refused = [
        f"{one.name} refused plan {one.refused_version}: {one.refused_reason}" for one in devices if one.refused_version
    ]
    failed = [(one.name, each) for one in devices for each in one.unprofiled]
    return refused + [f"{name} could not profile {one.application}/{one.variant}: {one.reason}" for name, one in failed]


def progress(status: pb.StatusReply, application: Application) -> tuple[str, bool]:
    """How far the application has come, in words, and whether it is served by every worker planned for it."""
    name = application.name
    if not any(one.connected for one in status.workers):
        return "no worker is attached", False
    planned = {one.worker for one in status.plan.assignments if one.application == name}
    if not planned:
        return "waiting for a plan (new variants are measured first)", False
    digests = {one.digest for one in application.variants}
    ready = {
        one.device.name
        for one in status.workers
        if one.connected and any(warm.application == name and warm.digest in digests for warm in one.device.warm)
    }
    refused = [one.device for one in status.workers if one.device.refused_version >= status.plan.version]
    for device in refused:
        if device.name in planned - ready:
            return f"{device.name} refused plan {status.plan.version}: {device.refused_reason}", False
    if planned <= ready:
        return f"ready on {', '.join(sorted(planned))} by plan {status.plan.version}", True
    return f"plan {status.plan.version}: loading on {', '.join(sorted(planned - ready))}", False


def _status(stub: ControllerStub) -> pb.StatusReply:
    reply: pb.StatusReply = stub.Status(pb.StatusRequest(), timeout=CALL_SECONDS)
    return reply
