"""The connections to all worker processes a snapshot names: opened when it arrives, closed when one drops them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

from tidewise.router.link import Link


class Links:
    """Links by address. ``changed`` is called whenever one comes into or goes out of routing."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._links: dict[str, Link] = {}
        self._limit = 0
        self._closing: set[asyncio.Task[None]] = set()

    def __getitem__(self, address: str) -> Link:
        return self._links[address]

    def open(self, addresses: Collection[str], limit: int) -> list[Link]:
        """Have a warming link to each of these addresses and no other; those to be closed once nothing uses them.

        ``limit`` is the largest answer accepted, in bytes; a new limit means new links.
        """
        kept = {key: link for key, link in self._links.items() if key in addresses and limit == self._limit}
        gone = [link for link in self._links.values() if link not in kept.values()]
        fresh = {key: Link(key, limit, self._changed) for key in addresses if key not in kept}
        self._links, self._limit = kept | fresh, limit
        return gone

    def out(self) -> frozenset[str]:
        """The addresses to which nothing may be sent now."""
        return frozenset(key for key, link in self._links.items() if not link.health.routed)

    def retire(self, links: Iterable[Link]) -> None:
        """Close these in the background once their queries have ended."""
        for link in links:
            link.stop()
            task = asyncio.create_task(link.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close everything at once."""
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await asyncio.gather(*(link.close(None) for link in self._links.values()))
        self._links = {}
