"""The prices of devices that bound the objective best: cutting planes on the Lagrangian.

    min over mu >= 0 of   mu N + sum_a max over columns c of a (value_c - mu use_c)

is convex in mu, one price per device type. The master program holds the columns seen so far and looks for better prices
within a box around the best ones, which keeps them from jumping: the box shrinks when its proposal disappoints and
grows when it keeps its word. Every point evaluated is a certified bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from tidewise.controller.allocation.kernel import Kernel, Priced
from tidewise.controller.allocation.linear import INFINITY, Effort, quiet_highs
from tidewise.controller.allocation.problem import Floats, Ints

WIDEST = 0.5  # half width of the box, relative to the prices
FIRST = 0.1
NARROWEST = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """The best prices found (T) and the bound they prove."""

    prices: Floats
    bound: float


def best_prices(
    kernel: Kernel, devices: Ints, start: Floats, *, rounds: int, nodes: int, tolerance: float, enough: float
) -> Prices:
    """Improve the prices until the bound is within ``tolerance`` (relative) of its best, or at most ``enough``."""
    priced = kernel.price(start.tolist(), nodes)
    best, prices, radius = priced.bound, start, FIRST
    scale = start.max(initial=0.0) or 1.0
    master = _Master(devices, len(priced.values))
    master.add(priced)
    for _ in range(rounds):
        if best <= enough or radius < NARROWEST:
            break
        reach = radius * np.maximum(prices, scale / 4)
        value, proposed = master.solve(np.maximum(prices - reach, 0.0), prices + reach)
        if best - value < tolerance * abs(best):
            break
        priced = kernel.price(proposed.tolist(), nodes)
        master.add(priced)
        if priced.bound < best:
            good = best - priced.bound > 0.5 * (best - value)
            best, prices, radius = priced.bound, proposed, min(WIDEST, radius * (2.0 if good else 1.0))
        else:
            radius /= 2
    kernel.price(prices.tolist(), nodes)
    return Prices(prices, best)


class _Master:
    """min mu N + sum_a theta_a  s.t.  theta_a >= value_c - mu use_c  for every column c seen."""

    def __init__(self, devices: Ints, applications: int) -> None:
        self.types = len(devices)
        self.seen: set[tuple[int, ...]] = set()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = self.types + applications, 0
        program.col_cost_ = np.r_[devices.astype(float), np.ones(applications)]
        program.col_lower_ = np.r_[np.zeros(self.types), np.full(applications, -INFINITY)]
        program.col_upper_ = np.full(self.types + applications, INFINITY)
        program.row_lower_ = program.row_upper_ = program.a_matrix_.value_ = np.zeros(0)
        program.a_matrix_.start_ = np.zeros(self.types + applications + 1, np.int32)
        program.a_matrix_.index_ = np.zeros(0, np.int32)
        self.highs = quiet_highs(Effort())
        self.highs.setOptionValue("presolve", "off")
        self.highs.passModel(program)

    def add(self, priced: Priced) -> int:
        """Add the columns not seen before; how many."""
        fresh = 0
        for a, (use, value, found) in enumerate(zip(priced.use, priced.values, priced.found, strict=True)):
            if not found or (a, *use) in self.seen:
                continue
            self.seen.add((a, *use))
            used = np.flatnonzero(np.asarray(use))
            index = np.r_[used, self.types + a].astype(np.int32)
            entries = np.r_[np.asarray(use, float)[used], 1.0]
            self.highs.addRow(value, INFINITY, len(index), index, entries)
            fresh += 1
        return fresh

    def solve(self, low: Floats, high: Floats) -> tuple[float, Floats]:
        """Value and prices of the master program with the prices within these limits."""
        self.highs.changeColsBounds(self.types, np.arange(self.types, dtype=np.int32), low, high)
        self.highs.run()
        solution = np.array(self.highs.getSolution().col_value)
        return self.highs.getInfo().objective_function_value, solution[: self.types]
