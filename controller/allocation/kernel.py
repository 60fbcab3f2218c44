"""The inner loops of the exact planner: native where it is built, in Python otherwise, with the same promises."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tidewise.controller.allocation.problem import Problem

SHORT = 100.0  # what a query not served costs in the local search, in units of the best query
BELOW = 10_000.0  # the same for a query below what is promised
LONELY = 1_000.0  # what a missing replica costs, in units of the whole objective


class Priced(Protocol):
    """What every application would use at given prices of the devices."""

    bound: float  # on the objective
    use: Sequence[Sequence[int]]  # devices of each type, by application
    values: Sequence[float]  # objective of each application's column
    hostings: Sequence[int]  # devices per pair
    found: Sequence[bool]  # whether the application can be served at all


class Joint(Protocol):
    """The best join of one column per application."""

    found: bool
    loss: float  # price bound less the objective
    counts: Sequence[int]  # devices per pair
    dropped: float  # every join of less loss was looked at
    states: int


class Kernel(Protocol):
    """One problem, to be priced, enumerated, joined and locally improved."""

    joinable: bool
    columns: Sequence[int]

    def price(self, prices: Sequence[float], most_nodes: int) -> Priced:
        """The Lagrangian at these prices."""

    def enumerate(self, excess: float, most_columns: int, most_nodes: int) -> float:
        """List the columns within an excess over the best, at the last prices; returns how far the list is complete."""

    def join(self, limit: float, beam: int) -> Joint:
        """The best combination of listed columns within a loss."""

    def improve(
        self, counts: Sequence[int], targets: Sequence[float], charges: Sequence[float], most: int
    ) -> Sequence[int]:
        """Counts after at most so many local moves."""


def native() -> Any:
    """The extension module, or None if it is not built."""
    try:
        return importlib.import_module("tidewise.native._planner")
    except ImportError:
        return None


def kernel_of(problem: Problem, *, pure: bool = False) -> Kernel:
    """The kernel of a problem; ``pure`` asks for the Python twin."""
    from tidewise.controller.allocation.twin import PythonKernel

    module = None if pure else native()
    maker = PythonKernel if module is None else module.Kernel
    weight = problem.weight / problem.scale
    kernel: Kernel = maker(  # type: ignore[assignment]
        devices=problem.devices.tolist(),
        demand=problem.demand.tolist(),
        least=(problem.demand * problem.least).tolist(),
        floor=(problem.floor * weight).tolist(),
        replicas=problem.replicas.tolist(),
        start=problem.start.tolist(),
        pair_type=problem.pair_type.tolist(),
        capacity=problem.capacity.tolist(),
        worth=problem.worth.tolist(),
        current=problem.current.tolist(),
        swap_cost=problem.swap_cost,
    )
    return kernel


def improve(problem: Problem, kernel: Kernel, counts: Sequence[int], fraction: float, most: int) -> Any:
    """Counts (K) after local search that puts ``fraction`` of every demand first, then all demand, then accuracy."""
    unit = problem.weight.max(initial=0.0) / problem.scale or 1.0
    charges = (SHORT * unit, BELOW * unit, LONELY)
    targets = problem.demand * fraction
    return np.array(kernel.improve(list(map(int, counts)), targets.tolist(), charges, most), np.int64)
