"""`tidewise probe`: is a Tidewise process healthy? For health checks of containers, and for people."""

from __future__ import annotations

import sys

import click
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tidewise.cli.options import parse_address

SERVING = health_pb2.HealthCheckResponse.SERVING


@click.command(name="probe", short_help="Exit 0 if a process serves, 1 if not.")
@click.argument("address", metavar="HOST:PORT")
@click.option("--service", default="", metavar="NAME", help="An application's name; the whole process without it.")
@click.option("--timeout", default=2.0, show_default=True, metavar="SECONDS", type=click.FloatRange(min=0.05))
def command(address: str, service: str, timeout: float) -> None:
    """Ask the gRPC health service at HOST:PORT; exit 0 if it serves, 1 if it does not or nobody answers."""
    host, port = parse_address(address, "the address")
    what = f"application {service!r} at {host}:{port}" if service else f"{host}:{port}"
    with grpc.insecure_channel(f"{host}:{port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            reply = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=timeout)
        except grpc.RpcError as error:
            click.echo(f"{what}: {_sentence(error, timeout)}", err=True)
            sys.exit(1)
    ready = reply.status == SERVING
    click.echo(f"{what}: " + ("ready" if ready else "up, but not ready: it has nothing to serve yet, or is draining"))
    sys.exit(0 if ready else 1)


def _sentence(error: grpc.RpcError, timeout: float) -> str:
    """What a person can do with the status of a health check that failed."""
    code = error.code()
    if code is grpc.StatusCode.UNAVAILABLE:
        return "nobody answers there; is it up, and is this its gRPC port?"
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"no answer within {timeout:g} s; it hangs, or --timeout is too short"
    if code is grpc.StatusCode.NOT_FOUND:
        return "it knows no such application; `tidewise status` lists those there are"
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return "something else listens there: it has no gRPC health service"
    return f"the check failed with {code.name}: {error.details()}"
