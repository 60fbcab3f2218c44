"""`tidewise probe`: is a Tidewise process healthy? For health checks of containers."""

from __future__ import annotations

import sys

import click
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tidewise.cli.options import parse_address


@click.command(name="probe", short_help="Exit 0 if a process serves, 1 if not.")
@click.argument("address", metavar="HOST:PORT")
@click.option("--service", default="", metavar="NAME", help="An application's name; the whole process without it.")
@click.option("--timeout", default=2.0, show_default=True, metavar="SECONDS", type=click.FloatRange(min=0.05))
def command(address: str, service: str, timeout: float) -> None:
    """Ask the gRPC health service at HOST:PORT; exit 0 if it serves, 1 if it does not or nobody answers."""
    parse_address(address, "HOST:PORT")
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            reply = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=timeout)
        except grpc.RpcError as error:
            click.echo(f"{address}: {error.code().name}: {error.details()}", err=True)
            sys.exit(1)
    state = health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
    click.echo(f"{address}: {state}")
    sys.exit(0 if state == "SERVING" else 1)
