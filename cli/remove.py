"""`tidewise remove`: take an application out of a running cluster."""

from __future__ import annotations

import click

from tidewise.cli.calling import CALL_SECONDS, calling, controller_option
from tidewise.proto import control_pb2 as pb


@click.command(name="remove", short_help="Remove an application.")
@click.argument("name", metavar="APPLICATION")
@controller_option
def command(name: str, controller: str) -> None:
    """Remove APPLICATION; queries for it are refused from now on."""
    with calling(controller) as stub:
        stub.Remove(pb.RemoveRequest(application=name), timeout=CALL_SECONDS)
    click.echo(f"{name} is removed")
