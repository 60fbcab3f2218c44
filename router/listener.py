"""The gRPC port. A new message limit needs a new server: it takes over the port while the old one finishes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import grpc

from tidewise.core.errors import ConfigError

OPTIONS: list[tuple[str, int]] = [("grpc.so_reuseport", 1), ("grpc.max_send_message_length", -1)]
OVERSIZED = 2  # times the limit that is still read, to be refused with a reason and counted; gRPC itself refuses more
CLOSING_SECONDS = 0.1  # for the old server to close its port: a caller who is connecting to it just then is cut off
HANDOVER_SECONDS = 600.0  # for queries in flight at the old server; their deadlines end them sooner


class Listener:
    """Serves ``handlers`` at a host and port (0 picks a free one), accepting messages of up to a limit in bytes."""

    def __init__(self, handlers: Sequence[grpc.GenericRpcHandler[Any, Any]], host: str, port: int) -> None:
        self._handlers = handlers
        self.host, self.port = host, port
        self.limit = 0
        self._server: grpc.aio.Server | None = None
        self._retiring: set[asyncio.Task[None]] = set()

    async def start(self, limit: int) -> None:
        """Listen. Raises ConfigError if the address cannot be had."""
        refuse_taken(self.host, self.port)
        self._server = await self._serve(limit)

    async def relimit(self, limit: int) -> None:
        """Accept messages of up to this many bytes from now on."""
        if limit == self.limit or self._server is None:
            return
        old, self._server = self._server, await self._serve(limit)
        task = asyncio.create_task(old.stop(HANDOVER_SECONDS))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)
        await asyncio.sleep(CLOSING_SECONDS)

    async def stop(self, grace: float | None) -> None:
        """Accept nothing more, and give what is in flight this many seconds."""
        if self._server is not None:
            await self._server.stop(grace)
        if self._retiring:
            await asyncio.wait(self._retiring, timeout=grace or 0.0)

    async def _serve(self, limit: int) -> grpc.aio.Server:
        server = grpc.aio.server(options=[*OPTIONS, ("grpc.max_receive_message_length", OVERSIZED * limit)])
        server.add_generic_rpc_handlers(self._handlers)
        try:
            self.port = server.add_insecure_port(f"{self.host}:{self.port}")
        except RuntimeError as error:
            raise ConfigError(f"cannot listen at {self.host}:{self.port}: {error}") from error
        await server.start()
        self.limit = limit
        return server


def refuse_taken(host: str, port: int) -> None:
    """Raises ConfigError if something listens there; the port sharing that a handover needs would hide it."""
    if port == 0:
        return
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise ConfigError(
            f"cannot listen at {host}:{port} ({error.strerror}); stop what listens there or choose another address"
        ) from error
