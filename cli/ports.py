"""Finding and testing TCP ports on this machine."""

from __future__ import annotations

import socket
from contextlib import ExitStack

from tidewise.core.errors import InputError


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nothing listens on at this moment."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """As many different ports that nothing listens on at this moment."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((host, 0))
        return [probe.getsockname()[1] for probe in probes]


def claim(port: int, what: str, host: str = "127.0.0.1") -> int:
    """The port if nothing listens there, a free one if it is 0. Raises InputError naming ``what`` if it is taken."""
    if port == 0:
        return free_port(host)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"{what} port {port} is taken ({error.strerror}); stop what listens there or change [ports] in the"
                " cluster file (0 picks a free one)"
            ) from error
    return port
