"""An outbox: what one stream is to be sent next. Complete snapshots replace one another, so only the newest waits."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

Message = TypeVar("Message")


class Outbox(Generic[Message]):
    """Put from the event loop's thread; iterate in the stream's handler."""

    def __init__(self) -> None:
        self._next: Message | None = None
        self._closed = False
        self._wake = asyncio.Event()

    def put(self, message: Message) -> None:
        """Send this instead of whatever still waits."""
        self._next = message
        self._wake.set()

    def close(self) -> None:
        """Nothing follows."""
        self._closed = True
        self._wake.set()

    def __aiter__(self) -> Outbox[Message]:
        return self

    async def __anext__(self) -> Message:
        while self._next is None:
            if self._closed:
                raise StopAsyncIteration
            await self._wake.wait()
            self._wake.clear()
        message, self._next = self._next, None
        return message
