"""What a router is told: which workers can take an application's queries now, and how much of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.application import Application


@dataclass(frozen=True, slots=True)
class Route:
    """One worker that may take queries of one application.

    ``variants`` are loaded and ready there, most accurate first. ``share`` is its fraction of the application's
    queries; ``capacity`` the queries per second it is trusted with; ``fastest`` the seconds its fastest ready variant
    needs for a batch of one, the floor under any predicted finish.
    """

    worker: str
    address: str
    application: str
    variants: tuple[str, ...]
    share: float
    capacity: float
    fastest: float


@dataclass(frozen=True, slots=True)
class RoutingSnapshot:
    """A complete statement of what routers need; ``revision`` rises whenever plan or readiness change."""

    revision: int = 0
    plan_version: int = 0
    applications: Mapping[str, Application] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    max_message: int = 64 * 1024 * 1024
    routing: str = "least-backlog"


@dataclass(frozen=True, slots=True)
class Tally:
    """Arrivals of one application at one router in one window of time, and how they ended.

    ``seconds`` is the length of the window. Outcomes count queries that ended in the window, not those that began.
    """

    application: str
    seconds: float
    arrivals: int
    outcomes: Mapping[str, int] = field(default_factory=dict)
    variants: Mapping[str, int] = field(default_factory=dict)
