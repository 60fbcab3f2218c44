"""By what name a query can be found again: its caller's, or one made up, the same in every process it passes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from tidewise.core.loss import PASSED, REQUEST_ID
from tidewise.router.failure import Metadata


class Identities:
    """Makes up names for queries that come without one: ``prefix`` and a running number."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._numbers = count(1)

    def passed_on(self, metadata: Iterable[tuple[str, str | bytes]], query_id: str) -> Metadata:
        """Of the caller's metadata, what the worker gets; one with neither request id nor query id gets the former."""
        passed = tuple([pair for pair in metadata if pair[0] in PASSED])
        if query_id or (passed and _has(passed, REQUEST_ID)):
            return passed
        return (*passed, (REQUEST_ID, f"{self._prefix}-{next(self._numbers):x}"))


def value(metadata: Metadata, key: str) -> str:
    """The metadata's value, "" if there is none."""
    return next((str(found) for name, found in metadata if name == key), "")


def _has(metadata: Metadata, key: str) -> bool:
    return any(name == key for name, _ in metadata)
