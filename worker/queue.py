"""The bounded queue of one device: earliest deadline first, first come first among equals, in lanes that never mix."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from tidewise.worker.query import LaneKey, Query

NEVER = float("inf")


class Lane:
    """Queries that may share a batch, by deadline; ``deadlines`` and ``rows`` run parallel to ``queries``.

    Rules read it; only the queue changes it. ``rows`` are those still to be run, ``total`` their sum.
    """

    __slots__ = ("deadlines", "key", "queries", "rows", "total")

    def __init__(self, key: LaneKey) -> None:
        self.key = key
        self.queries: list[Query] = []
        self.deadlines: list[float] = []
        self.rows: list[int] = []
        self.total = 0

    def fitting(self, start: int, cap: int) -> tuple[int, int]:
        """(queries, rows) from place ``start`` that fit into ``cap`` rows; one too large for that counts in part."""
        if self.total == len(self.rows):
            count = min(len(self.rows) - start, cap)
            return count, count
        count = rows = 0
        for more in self.rows[start : start + cap]:
            if rows + more > cap:
                break
            count, rows = count + 1, rows + more
        return (count, rows) if count else (1, cap)

    def add(self, query: Query, rows: int) -> None:
        """Put a query behind those with its deadline or an earlier one."""
        self.total += rows
        deadline, deadlines = query.deadline, self.deadlines
        if not deadlines or deadline >= deadlines[-1]:
            self.queries.append(query)
            deadlines.append(deadline)
            self.rows.append(rows)
            return
        place = bisect_right(deadlines, deadline)
        self.queries.insert(place, query)
        deadlines.insert(place, deadline)
        self.rows.insert(place, rows)

    def remove(self, query: Query) -> None:
        """Take out one query wherever it stands."""
        place = bisect_left(self.deadlines, query.deadline)
        while self.queries[place] is not query:
            place += 1
        self.total -= self.rows[place]
        del self.queries[place], self.deadlines[place], self.rows[place]

    def pop(self, count: int) -> list[tuple[Query, int]]:
        """Take the first ``count`` queries with their rows."""
        if count == len(self.queries):  # all of them, as most often
            everything = list(zip(self.queries, self.rows, strict=True))
            self.queries, self.deadlines, self.rows, self.total = [], [], [], 0
            return everything
        rows = self.rows[:count]
        taken = list(zip(self.queries[:count], rows, strict=True))
        del self.queries[:count], self.deadlines[:count], self.rows[:count]
        self.total -= sum(rows)
        return taken


class Queue:
    """Up to ``bound`` queries in lanes; empty lanes vanish."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.lanes: dict[LaneKey, Lane] = {}
        self._lane_of: dict[int, tuple[Query, Lane]] = {}

    def __len__(self) -> int:
        return len(self._lane_of)

    def __contains__(self, query_id: int) -> bool:
        return query_id in self._lane_of

    @property
    def full(self) -> bool:
        """Whether the bound is reached."""
        return len(self._lane_of) >= self.bound

    def add(self, query: Query) -> None:
        """Queue a query whole. The caller asks ``full`` first."""
        self._put(query, query.rows, query.lane)

    def requeue(self, query: Query, rows: int, pin: str) -> None:
        """Put the rest of a query back, now pinned to the variant that ran its first rows."""
        self._put(query, rows, query.lane._replace(pin=pin))

    def cancel(self, query_id: int) -> Query | None:
        """Take a query out by id; None if it is not queued."""
        found = self._lane_of.pop(query_id, None)
        if found is None:
            return None
        query, lane = found
        lane.remove(query)
        self._forget_if_empty(lane)
        return query

    def pop(self, lane: Lane, count: int) -> list[tuple[Query, int]]:
        """Take the first ``count`` queries of a lane, with the rows still to be run."""
        taken = lane.pop(count)
        for query, _ in taken:
            del self._lane_of[query.id]
        if not lane.queries:
            del self.lanes[lane.key]
        return taken

    def expire(self, now: float) -> list[Query]:
        """Take out every query whose deadline has passed."""
        gone: list[Query] = []
        for lane in list(self.lanes.values()):
            count = bisect_right(lane.deadlines, now)
            if count:
                gone += [query for query, _ in self.pop(lane, count)]
        return gone

    def next_deadline(self) -> float:
        """The earliest deadline queued, infinite if none."""
        lanes = self.lanes
        if not lanes:  # this is asked for at every event, and more than one lane is rare
            return NEVER
        if len(lanes) == 1:
            return next(iter(lanes.values())).deadlines[0]
        return min(lane.deadlines[0] for lane in lanes.values())

    def waiting(self) -> Counter[str]:
        """How many queries of each application are queued; may be asked by another thread."""
        waiting = Counter[str]()
        for key, lane in list(self.lanes.items()):
            waiting[key.application] += len(lane.queries)
        return waiting

    def by_urgency(self) -> Iterator[Lane]:
        """The lanes, the one with the earliest deadline first."""
        if len(self.lanes) < 2:
            return iter(tuple(self.lanes.values()))
        return iter(sorted(self.lanes.values(), key=_first_deadline))

    def _put(self, query: Query, rows: int, key: LaneKey) -> None:
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(key)
        lane.add(query, rows)
        self._lane_of[query.id] = query, lane

    def _forget_if_empty(self, lane: Lane) -> None:
        if not lane.queries:
            del self.lanes[lane.key]


_first_deadline = attrgetter("deadlines")
