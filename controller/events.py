"""What can happen to a controller, as values."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.application import Application
from tidewise.core.report import RouterReport, WorkerReport
from tidewise.core.repository import ApplicationSource
from tidewise.core.scenario import ScenarioSolution
from tidewise.core.solution import Solution


@dataclass(frozen=True, slots=True)
class WorkerReported:
    """A worker process reported through the stream ``connection`` (newer streams have larger numbers)."""

    connection: int
    report: WorkerReport


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker's stream ended."""

    connection: int


@dataclass(frozen=True, slots=True)
class RouterReported:
    """A router reported through the stream ``connection``."""

    connection: int
    report: RouterReport


@dataclass(frozen=True, slots=True)
class RouterLost:
    """A router's stream ended."""

    connection: int


@dataclass(frozen=True, slots=True)
class ApplicationApplied:
    """An application was added or replaced."""

    source: ApplicationSource
    application: Application


@dataclass(frozen=True, slots=True)
class ApplicationRemoved:
    """An application was removed."""

    name: str


@dataclass(frozen=True, slots=True)
class Ticked:
    """A quarter of a second passed."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The solver answered the question with this ticket."""

    ticket: int
    solution: Solution | ScenarioSolution


@dataclass(frozen=True, slots=True)
class SolveFailed:
    """The solver hung, crashed, lied or refused; ``answer`` is the plan it gave before, if that is sound."""

    ticket: int
    reason: str
    answer: Solution | ScenarioSolution | None = None


Event = (
    WorkerReported
    | WorkerLost
    | RouterReported
    | RouterLost
    | ApplicationApplied
    | ApplicationRemoved
    | Ticked
    | Solved
    | SolveFailed
)
