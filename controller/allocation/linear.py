"""Linear and integer programs as arrays, solved by HiGHS."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidewise.controller.allocation.problem import Floats, Ints

INFINITY = highspy.kHighsInf
PRIMAL_SIMPLEX = 4
# No model here is unbounded, so the second means the first.
NO_POINT = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)


@dataclass(frozen=True, slots=True)
class Effort:
    """How far HiGHS may go: the relative gap to stop at, and limits on its work.

    ``checks`` counts the times HiGHS asks whether to go on, 1 to 50 ms apart: unlike ``seconds``, a limit that gives
    the same plan on a slow machine. ``seconds`` (wall) and ``cpu_seconds`` are nets for what hangs, and for
    benchmarks. An objective of at least ``target`` is good enough.
    """

    gap: float = 0.0
    checks: int = 3_000
    nodes: int = 200_000
    seconds: float = 60.0
    target: float = INFINITY
    cpu_seconds: float = INFINITY


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What HiGHS found. ``x`` is None if no feasible point is known; ``infeasible`` only if that is proven."""

    x: Floats | None
    objective: float
    bound: float
    infeasible: bool
    duals: Floats
    reduced: Floats  # what a unit of each column would cost the objective


@dataclass(slots=True)
class LinearModel:
    """Maximise cost x subject to rows. Columns and rows are added in blocks; entries as (row, column, value)."""

    cost: list[Floats] = field(default_factory=list)
    lower: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    whole: list[NDArray[np.bool_]] = field(default_factory=list)
    row_lower: list[Floats] = field(default_factory=list)
    row_upper: list[Floats] = field(default_factory=list)
    entries: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)
    width: int = 0
    height: int = 0

    def columns(
        self,
        count: int,
        *,
        cost: ArrayLike = 0.0,
        low: ArrayLike = 0.0,
        high: ArrayLike = INFINITY,
        whole: bool = False,
    ) -> Ints:
        """Add ``count`` columns; their indices."""
        for block, value in ((self.cost, cost), (self.lower, low), (self.upper, high)):
            block.append(np.broadcast_to(np.asarray(value, float), (count,)))
        self.whole.append(np.full(count, whole))
        self.width += count
        return np.arange(self.width - count, self.width)

    def rows(self, count: int, low: ArrayLike, high: ArrayLike) -> Ints:
        """Add ``count`` empty rows with these limits; their indices."""
        self.row_lower.append(np.broadcast_to(np.asarray(low, float), (count,)))
        self.row_upper.append(np.broadcast_to(np.asarray(high, float), (count,)))
        self.height += count
        return np.arange(self.height - count, self.height)

    def put(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> None:
        """Add entries; the three are broadcast against one another."""
        row, column, value = np.broadcast_arrays(rows, columns, values)
        self.entries.append((row.ravel(), column.ravel(), value.ravel().astype(float)))

    def solve(self, effort: Effort | None = None, *, relax: bool = False) -> Outcome:
        """Run HiGHS with one thread."""
        return _run(self._program(relax), effort or Effort())

    def _program(self, relax: bool) -> highspy.HighsLp:
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = self.width, self.height
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_, program.col_lower_, program.col_upper_ = map(_join, (self.cost, self.lower, self.upper))
        program.row_lower_, program.row_upper_ = _join(self.row_lower), _join(self.row_upper)
        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        order = np.lexsort((row, column))
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = np.searchsorted(column[order], np.arange(self.width + 1)).astype(np.int32)
        program.a_matrix_.index_ = row[order].astype(np.int32)
        program.a_matrix_.value_ = value[order]
        whole = np.concatenate(self.whole)
        if whole.any() and not relax:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            program.integrality_ = [kinds[int(one)] for one in whole]
        return program


def _join(blocks: list[Floats]) -> Floats:
    return np.concatenate(blocks) if blocks else np.zeros(0)


class QuietHighs(highspy.Highs):
    """HiGHS greets on standard output when its callbacks are enabled in the constructor: silence it before."""

    def enableCallbacks(self) -> None:
        """Called by the constructor."""
        self.silent()
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def quiet_highs(effort: Effort) -> QuietHighs:
    """A HiGHS that prints nothing, runs one thread and is repeatable."""
    highs = QuietHighs()  # type: ignore[no-untyped-call]
    options = {
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": effort.gap,
        "mip_abs_gap": max(effort.gap * 1e-2, 1e-9),
        "mip_feasibility_tolerance": 1e-7,
        "mip_max_nodes": effort.nodes,
        "time_limit": effort.seconds,
    }
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def _run(program: highspy.HighsLp, effort: Effort) -> Outcome:
    highs = quiet_highs(effort)
    whole = len(program.integrality_) > 0
    if not whole:  # few rows, many columns: the primal simplex takes a fifth of the time
        highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        highs.setOptionValue("presolve", "off")
    else:
        checks, started = itertools.count(1), time.process_time()
        highs.cbMipInterrupt.subscribe(lambda event: event.interrupt(_spent(event, next(checks), started, effort)))
    highs.passModel(program)
    highs.run()
    status, info, solution = highs.getModelStatus(), highs.getInfo(), highs.getSolution()
    found = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    return Outcome(
        x=np.array(solution.col_value) if found else None,
        objective=info.objective_function_value if found else -np.inf,
        bound=info.mip_dual_bound if whole else info.objective_function_value,
        infeasible=status in NO_POINT,
        duals=np.array(solution.row_dual),
        reduced=np.abs(np.array(solution.col_dual)),
    )


def _spent(event: highspy.HighsCallbackEvent, checks: int, started: float, effort: Effort) -> bool:
    return (
        time.process_time() - started > effort.cpu_seconds
        or checks > effort.checks
        or bool(event.data_out.mip_primal_bound >= effort.target)
    )
