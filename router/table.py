"""What a router makes of a snapshot and of the workers it can reach: a pure function, swapped by reference."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush

from tidewise.core.application import Application
from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.errors import PlanError
from tidewise.core.routes import Route, RoutingSnapshot

SLOTS = 1024  # of a cycle: shares are exact to 1/1024


@dataclass(frozen=True, slots=True)
class Lane:
    """A route as the choice sees it.

    ``share`` is its fraction of the view's queries; ``cost`` the seconds one query takes it, were it to have its share
    of the view's capacity; ``service`` the seconds one query takes it at the best rate it can be counted on for, 0 if
    that is unknown. ``batch`` is the longest a worker may take for one batch: its queries come back together, so
    nothing heard for that long is no sign of silence.
    """

    route: Route
    share: float
    cost: float
    service: float
    batch: float = 0.0


@dataclass(frozen=True, slots=True)
class View:
    """The lanes among which a query may choose, and a smooth cycle of indexes into them by share."""

    lanes: tuple[Lane, ...] = ()
    cycle: tuple[int, ...] = ()

    @property
    def routes(self) -> tuple[Route, ...]:
        """What the view was made of."""
        return tuple(lane.route for lane in self.lanes)


EMPTY_VIEW = View()


class Pinned(Mapping[str, View]):
    """The view of each of these variants, by name: made when it is first asked for, since few queries insist on one."""

    def __init__(self, everywhere: View, names: Collection[str]) -> None:
        self._everywhere = everywhere
        self._views: dict[str, View | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> View:
        view = self._views[name]
        if view is None:
            view = self._views[name] = _where(name, self._everywhere)
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)


def _where(variant: str, view: View) -> View:
    """The view less the workers that do not have the variant ready."""
    left = [lane for lane in view.lanes if variant in lane.route.variants]
    return view if len(left) == len(view.lanes) else _less(left)


@dataclass(frozen=True, slots=True)
class Entry:
    """One application: all its lanes, those of each variant by name, and what a model_version may say.

    ``worth`` is each measured variant's accuracy over the best one's, by name.
    """

    application: Application
    everywhere: View
    pinned: Mapping[str, View]
    names: Mapping[str, str]  # variant name by version number or name
    worth: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Everything a query needs to find its worker."""

    revision: int = 0
    plan_version: int = 0
    entries: Mapping[str, Entry] = field(default_factory=dict)
    max_message: int = 64 * 1024 * 1024
    routing: str = "least-backlog"

    def serves(self, application: str, version: str = "") -> bool:
        """Whether a query of this application (pinned to this version, if one is given) finds a worker now."""
        entry = self.entries.get(application)
        if entry is None:
            return False
        if not version:
            return bool(entry.everywhere.lanes)
        return bool(entry.pinned.get(entry.names.get(version, ""), EMPTY_VIEW).lanes)


def build(
    snapshot: RoutingSnapshot, out: Collection[str] = frozenset(), before: RoutingTable | None = None
) -> RoutingTable:
    """The table of a snapshot without the workers at the addresses in ``out``; shares are renormalised.

    Of the table ``before``, if one is given, the entries are kept that would come out the same. Raises PlanError naming
    the first contradiction in the snapshot.
    """
    check(snapshot)
    routes: dict[str, list[Route]] = {name: [] for name in snapshot.applications}
    for route in snapshot.routes:
        if route.address not in out:
            routes[route.application].append(route)
    kept = {} if before is None else before.entries
    return RoutingTable(
        revision=snapshot.revision,
        plan_version=snapshot.plan_version,
        entries={name: _entry(one, routes[name], kept.get(name)) for name, one in snapshot.applications.items()},
        max_message=snapshot.max_message,
        routing=snapshot.routing,
    )


def check(snapshot: RoutingSnapshot) -> None:
    """Raises PlanError if a route names what the snapshot does not hold, repeats another, or has an unusable share."""
    known = {name: {variant.name for variant in one.variants} for name, one in snapshot.applications.items()}
    seen: set[tuple[str, str]] = set()
    for route in snapshot.routes:
        fault = _fault(route, known, seen)
        if fault:
            raise PlanError(f"routing snapshot {snapshot.revision}, worker {route.worker!r}: {fault}")
        seen.add((route.worker, route.application))
    if snapshot.max_message <= 0:
        raise PlanError(f"routing snapshot {snapshot.revision}: a message limit of {snapshot.max_message} bytes")


def _fault(route: Route, known: Mapping[str, Collection[str]], seen: Collection[tuple[str, str]]) -> str:
    """What is wrong with a route, "" if nothing; ``known`` are the variants of each application."""
    variants = known.get(route.application)
    if variants is None:
        return f"application {route.application!r} is not in its catalogue"
    for name in route.variants:
        if name not in variants:
            return f"application {route.application!r} has no variant {name!r}"
    if not (math.isfinite(route.share) and route.share >= 0):
        return f"share {route.share} is not a fraction"
    if (route.worker, route.application) in seen:
        return f"routed twice for application {route.application!r}"
    return ""


def view_of(routes: Iterable[Route], batch: float = 0.0) -> View:
    """The view over these routes; equal shares if none has any. ``batch`` as in Lane."""
    found = tuple(routes)
    total = math.fsum(route.share for route in found)
    shares = tuple(route.share / total if total > 0 else 1 / len(found) for route in found)
    whole = math.fsum(_rate(route) for route in found) or 1.0
    lanes = tuple(_lane(route, share, whole, batch) for route, share in zip(found, shares, strict=True))
    return View(lanes, smooth_cycle(shares))


def without(view: View, worker: str) -> View:
    """The view less one worker."""
    return _less([lane for lane in view.lanes if lane.route.worker != worker])


def _less(left: Sequence[Lane]) -> View:
    """The view over what is left of another one's lanes."""
    return view_of((lane.route for lane in left), left[0].batch if left else 0.0)


@lru_cache(maxsize=512)
def smooth_cycle(shares: tuple[float, ...], slots: int = SLOTS) -> tuple[int, ...]:
    """Indexes of ``shares`` (which sum to 1), each as often as its share of the slots, spread evenly.

    Index i has count c_i, the largest-remainder rounding of share_i * slots. Its k-th turn may come once
    k * slots / c_i slots are over and is due when (k + 1) * slots / c_i are; the earliest due goes first. Then no
    index is ever a whole turn ahead of or behind its part (Baruah, Cohen, Plaxton and Varvel, 1996: proportionate
    progress).
    """
    counts = _counts(shares, slots)
    coming: list[list[tuple[int, int]]] = [[] for _ in range(slots)]  # by slot: due, index
    for index, count in enumerate(counts):
        for turn in range(count):
            coming[turn * slots // count].append((-(-(turn + 1) * slots // count), index))
    cycle: list[int] = []
    waiting: list[tuple[int, int]] = []
    for slot in range(sum(counts)):
        for turn_of in coming[slot]:
            heappush(waiting, turn_of)
        cycle.append(heappop(waiting)[1])
    return tuple(cycle)


def _counts(shares: Sequence[float], slots: int) -> list[int]:
    counts = [math.floor(share * slots) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda index: counts[index] - shares[index] * slots)
    for index in by_remainder[: slots - sum(counts)]:
        counts[index] += 1
    return counts


def _rate(route: Route) -> float:
    # The fastest variant alone, one query at a time, is a floor under what the worker can do.
    alone = 1 / route.fastest if route.fastest > 0 else 0.0
    return max(route.capacity, alone)


def _lane(route: Route, share: float, whole: float, batch: float) -> Lane:
    rate = _rate(route)
    return Lane(
        route=route,
        share=share,
        cost=1 / (share * whole) if share > 0 else math.inf,
        service=1 / rate if rate > 0 else 0.0,
        batch=batch,
    )


def _entry(application: Application, routes: Sequence[Route], before: Entry | None) -> Entry:
    if before is not None and before.application == application and before.everywhere.routes == tuple(routes):
        return before
    names = {one.name: one.name for one in application.variants}
    names |= {str(one.version): one.name for one in application.variants}
    everywhere = view_of(routes, application.slo * QUEUE_SHARE)
    pinned = Pinned(everywhere, tuple(one.name for one in application.variants))
    return Entry(application, everywhere, pinned, names, worth_of(application))


def worth_of(application: Application) -> dict[str, float]:
    """Each measured variant's accuracy over the best one's, by name."""
    accuracies = {one.name: one.accuracy for one in application.variants if one.accuracy is not None}
    best = max(accuracies.values(), default=0.0)
    return {name: accuracy / best for name, accuracy in accuracies.items()} if best > 0 else {}
