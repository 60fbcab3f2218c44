"""Calling a controller from a verb: one clear sentence when it does not answer or refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
import grpc

from tidewise.cli.options import parse_address
from tidewise.core.cluster import Ports
from tidewise.core.errors import InputError, TidewiseError, UnreachableError
from tidewise.proto.control_pb2_grpc import ControllerStub

DEFAULT_CONTROLLER = f"127.0.0.1:{Ports().controller}"
CALL_SECONDS = 5.0
WRONG_INPUT = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND)

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def controller_option(function: _Decorated) -> _Decorated:
    """--controller HOST:PORT."""
    return click.option(
        "--controller",
        metavar="HOST:PORT",
        default=DEFAULT_CONTROLLER,
        show_default=True,
        help="The controller's address.",
    )(function)


@contextmanager
def calling(address: str) -> Iterator[ControllerStub]:
    """A stub of the controller at this address, for the block.

    Raises UnreachableError if nobody answers there, InputError if the controller says the input is wrong,
    TidewiseError if something else went wrong.
    """
    parse_address(address, "--controller")
    with grpc.insecure_channel(address) as channel:
        try:
            yield ControllerStub(channel)
        except grpc.RpcError as error:
            raise _as_tidewise(error, address) from error


def _as_tidewise(error: grpc.RpcError, address: str) -> TidewiseError:
    code, details = error.code(), error.details()
    if code in WRONG_INPUT:
        return InputError(str(details))
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        return UnreachableError(f"no controller answers at {address}; start one (tidewise up) or give --controller")
    return TidewiseError(f"the controller at {address} failed: {details}")
