"""The ports of a router whose queries go through the C++ data plane.

The public socket is opened here and handed to the process, so that it outlives a crash of it. Whatever is not a query
comes back through a Unix socket to a gRPC server here, and the queries of streams go out through another.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import Sequence
from typing import Any

import grpc

from tidewise.native.listening import BACKLOG, listen_on
from tidewise.router.listener import HANDOVER_SECONDS, OVERSIZED, refuse_taken
from tidewise.router.plane_native import NativePlane


class PlaneListener:
    """Serves queries by ``plane`` and everything else by ``handlers``; to a Router it is what Listener is."""

    def __init__(
        self, handlers: Sequence[grpc.GenericRpcHandler[Any, Any]], host: str, port: int, plane: NativePlane
    ) -> None:
        self._handlers, self._plane = handlers, plane
        self.host, self.port = host, port
        self.limit = 0
        self._folder = ""
        self._sockets: list[socket.socket] = []
        self._server: grpc.aio.Server | None = None
        self._servers = 0
        self._retiring: set[asyncio.Task[None]] = set()

    async def start(self, limit: int) -> None:
        """Listen. Raises ConfigError if the address cannot be had."""
        refuse_taken(self.host, self.port)
        public = listen_on(self.host, self.port)
        self.port = int(public.getsockname()[1])
        self._folder = tempfile.mkdtemp(prefix="tidewise-router-")
        own = f"{self._folder}/queries"
        self._sockets = [public, _listen_unix(own)]
        await self._plane.start(self._sockets, f"unix:{own}", await self._serve(limit))

    async def relimit(self, limit: int) -> None:
        """Accept messages of up to this many bytes from now on, and wait until the newest snapshot is in force."""
        if limit != self.limit and self._server is not None:
            old = self._server
            self._plane.serve_rest_at(await self._serve(limit))
            task = asyncio.create_task(old.stop(HANDOVER_SECONDS))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
        await self._plane.settled()

    async def stop(self, grace: float | None) -> None:
        """Accept nothing more, and give what is in flight this many seconds."""
        for one in self._sockets:
            one.close()
        await self._plane.stop(grace)
        if self._server is not None:
            await self._server.stop(None)
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _serve(self, limit: int) -> str:
        """A server for whatever is not a query; its address."""
        self._servers += 1
        address = f"unix:{self._folder}/rest-{self._servers}"
        server = grpc.aio.server(
            options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", OVERSIZED * limit)]
        )
        server.add_generic_rpc_handlers(self._handlers)
        server.add_insecure_port(address)
        await server.start()
        self._server, self.limit = server, limit
        return address


def _listen_unix(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    os.chmod(path, 0o600)
    listening.listen(BACKLOG)
    return listening
