"""Public sockets opened in Python and handed to the C++ data plane, so that a taken port is told in one sentence."""

from __future__ import annotations

import socket

from tidewise.core.errors import ConfigError

BACKLOG = 1024


def listen_on(host: str, port: int) -> socket.socket:
    """A socket that listens at ``host``, every address of the machine if that is empty. Raises ConfigError."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --listen, or port 0 for a free one"
        ) from error
    return listening
