"""`tidewise status`: what a running cluster does, for a person or as JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, MutableMapping, MutableSequence
from typing import Any

import click
from google.protobuf.message import Message
from rich.console import Console

from tidewise.cli.calling import CALL_SECONDS, calling, controller_option
from tidewise.cli.frames import status_frame
from tidewise.cli.live import LiveView
from tidewise.cli.options import json_option
from tidewise.cli.watching import Watcher
from tidewise.dashboard.terminal import screen
from tidewise.proto import control_pb2 as pb

WATCH_SECONDS = 1.0
PIPE_WIDTH = 160  # columns where there is no terminal, so that nothing is cut


@click.command(name="status", short_help="Show plan, demand, workers and routers.")
@controller_option
@json_option
@click.option("--watch", is_flag=True, help="Follow it on one screen until Ctrl-C; plain lines without a terminal.")
def command(controller: str, as_json: bool, watch: bool) -> None:
    """Show the plan in force, demand, what each worker hosts, and routers."""
    with calling(controller) as stub:
        if not watch:
            _show(stub.Status(pb.StatusRequest(), timeout=CALL_SECONDS), controller, as_json)
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


def _show(status: pb.StatusReply, controller: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(as_values(status)))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    console.print(screen(status_frame(f"Tidewise at {controller}", status)), highlight=False)


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
