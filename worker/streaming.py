"""Many queries on one stream: worked on together, answered in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

_In = TypeVar("_In")
_Out = TypeVar("_Out")

WINDOW = 1024  # elements in work at once on one stream; beyond, the sender is held back


async def in_order(
    items: AsyncIterator[_In], work: Callable[[_In], Awaitable[_Out]], window: int = WINDOW
) -> AsyncIterator[_Out]:
    """``work`` on every item as it comes, the results in the order of the items.

    When the consumer stops, what is still in work is cancelled.
    """
    pending: asyncio.Queue[asyncio.Future[_Out] | None] = asyncio.Queue(window)
    reader = asyncio.ensure_future(_read(items, work, pending))
    try:
        while (future := await pending.get()) is not None:
            yield await future
        await reader
    finally:
        reader.cancel()
        while not pending.empty():
            left = pending.get_nowait()
            if left is not None:
                left.cancel()


async def _read(
    items: AsyncIterator[_In],
    work: Callable[[_In], Awaitable[_Out]],
    pending: asyncio.Queue[asyncio.Future[_Out] | None],
) -> None:
    try:
        async for item in items:
            future = asyncio.ensure_future(work(item))
            try:
                await pending.put(future)
            except asyncio.CancelledError:
                future.cancel()
                raise
    finally:
        await pending.put(None)
