"""What this router may truthfully say of itself: live, ready, ready for an application.

The router is ready while it serves at least one application of a snapshot it has been given, and is not draining. One
application whose last worker died does not make it unready, for that would take every other application away from a
load balancer that asks; each application has a readiness of its own: some worker that is routed and can be reached has
a variant (the one asked for) ready.
"""

from __future__ import annotations

import asyncio

from tidewise.router.plane import Plane


class Readiness:
    """Answers from the forwarder's present table."""

    def __init__(self, forwarder: Plane) -> None:
        self._forwarder = forwarder
        self._draining = False
        self._event = asyncio.Event()
        forwarder.on_change = self.notify

    def ready(self) -> bool:
        """Whether new queries are welcome and some application can be served."""
        table = self._forwarder.table
        return not self._draining and any(table.serves(name) for name in table.entries)

    def serves(self, application: str, version: str = "") -> bool:
        """Whether new queries of this application (pinned to this version, if one is given) can be served."""
        return not self._draining and self._forwarder.table.serves(application, version)

    def knows(self, application: str) -> bool:
        """Whether there is such an application at all."""
        return application in self._forwarder.table.entries

    def drain(self) -> None:
        """From now on, say that this router is not ready."""
        self._draining = True
        self.notify()

    def notify(self) -> None:
        """Wake whoever waits for a change."""
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def change(self) -> None:
        """Wait until any answer may have changed."""
        await self._event.wait()
