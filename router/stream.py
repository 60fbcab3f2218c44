"""ModelStreamInfer: every message of a stream is a query of its own, answered when it is done, not in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

import grpc

from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb
from tidewise.router.failure import Failure
from tidewise.router.head import read_head
from tidewise.router.plane import Plane

Context = grpc.aio.ServicerContext[Any, Any]
WINDOW = 64  # queries of one stream in flight; further messages wait unread, which the sender feels as flow control
_INFER_RESPONSE = b"\x12"  # tag of ModelStreamInferResponse.infer_response: number 2, length-delimited


class Window:
    """Bounds what one stream holds: its queries in flight, and their bytes."""

    def __init__(self, queries: int, size: int) -> None:
        self._queries, self._size = queries, size
        self._held = 0
        self._bytes = 0
        self._free = asyncio.Event()
        self._free.set()

    async def room(self) -> None:
        """Wait until one more query may be read."""
        while self._held >= self._queries or self._bytes >= self._size:
            self._free.clear()
            await self._free.wait()

    def take(self, size: int) -> None:
        """One more query of this many bytes."""
        self._held += 1
        self._bytes += size

    def give(self, size: int) -> None:
        """One query less."""
        self._held -= 1
        self._bytes -= size
        self._free.set()


class Streams:
    """Serves streams, and can ask all of them to come to an end."""

    def __init__(self, forwarder: Plane) -> None:
        self._forwarder = forwarder
        self._readers: set[asyncio.Task[None]] = set()

    async def serve(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """Answer one stream until its caller ends it, or ``finish`` does; what was read by then is answered."""
        async with asyncio.TaskGroup() as group:
            reader = group.create_task(_Stream(self._forwarder, context, group).read(requests))
            self._readers.add(reader)
            reader.add_done_callback(self._readers.discard)

    def finish(self) -> None:
        """Read nothing more from any stream; they end once their queries are answered."""
        for reader in self._readers:
            reader.cancel()


class _Stream:
    """One stream; its tasks belong to ``group``, so that they end with it."""

    def __init__(self, forwarder: Plane, context: Context, group: asyncio.TaskGroup) -> None:
        self._forwarder, self._context, self._group = forwarder, context, group
        self._metadata: Iterable[tuple[str, str | bytes]] = context.invocation_metadata() or ()
        self._window = Window(WINDOW, forwarder.table.max_message)
        self._writing = asyncio.Lock()

    async def read(self, requests: AsyncIterator[bytes]) -> None:
        async for body in requests:
            self._window.take(len(body))
            self._group.create_task(self._answer(body))
            await self._window.room()

    async def _answer(self, body: bytes) -> None:
        try:
            answer = await self._forwarder.forward(body, self._context.time_remaining(), self._metadata)
            message = error_message(body, answer) if isinstance(answer, Failure) else framed(answer)
            async with self._writing:
                with suppress(grpc.aio.InternalError):  # the caller hung up; the cancellation of the rest is on its way
                    await self._context.write(message)
        finally:
            self._window.give(len(body))


def framed(answer: bytes) -> bytes:
    """A serialised ModelInferResponse as a serialised ModelStreamInferResponse."""
    size, length = len(answer), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return b"".join((_INFER_RESPONSE, length, answer))


def error_message(body: bytes, found: Failure) -> bytes:
    """The failure of one query of a stream; name and id tell the caller which, the reason is a parameter."""
    message = pb.ModelStreamInferResponse(error_message=f"[{found.code.name}] {found.message}")
    try:
        head = read_head(body)
    except QueryError:
        return message.SerializeToString()
    message.infer_response.model_name = head.application
    message.infer_response.id = head.id
    message.infer_response.parameters["tidewise-reason"].string_param = found.reason.value
    return message.SerializeToString()
