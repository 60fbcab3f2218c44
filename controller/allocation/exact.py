"""The exact planner: price the devices, list each application's columns near the bound, join them.

At prices mu the Lagrangian bounds every plan by L. A plan's objective is L less the excess losses of its columns and
less the price of its idle devices, so a plan within ``excess`` of L uses only columns within ``excess`` of their
application's best. List those, join them by dynamic programming, and let ``excess`` grow until the best plan found
is no further from L than everything that was looked at: then it is optimal. Stopped early, the bound still holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.kernel import Kernel
from tidewise.controller.allocation.lexicographic import Candidate, fits, rank, score
from tidewise.controller.allocation.prices import best_prices
from tidewise.controller.allocation.problem import Floats, Ints, Problem

FEW_TYPES = 4  # with more device types columns are too many to list


@dataclass(frozen=True, slots=True)
class Work:
    """How hard the exact planner tries, in counted work."""

    price_rounds: int = 40
    price_nodes: int = 20_000
    rounds: int = 12
    most_columns: int = 3_000
    most_nodes: int = 200_000
    beams: tuple[int, ...] = (1_000, 30_000)
    states: int = 3_000_000  # joined in all


@dataclass(slots=True)
class _Proof:
    """Best counts known, the bound, and how far the search has come."""

    bound: float
    ceiling: float  # the price bound L
    counts: Ints | None
    objective: float
    states: int = 0

    def closed(self, gap: float) -> bool:
        """Whether the gap is small enough."""
        return self.counts is not None and self.bound - self.objective <= gap * abs(self.bound) + 1e-12


def suits(problem: Problem, kernel: Kernel) -> bool:
    """Whether the decomposition can prove this problem: no replicas, floors only with weight and no overload."""
    weightless = (problem.floor > 0) & ((problem.weight <= 0) | (problem.least < 1.0))
    return kernel.joinable and not problem.replicas.any() and not weightless.any()


def decompose(
    problem: Problem, kernel: Kernel, first: Candidate, prices: Floats, gap: float, work: Work | None = None
) -> Candidate:
    """Improve and prove a candidate, starting from the relaxation's prices (T), until its relative gap is ``gap``."""
    work = work or Work()
    known = first.assignment.phi >= problem.least
    objective = score(problem, first.assignment) if known else -np.inf
    priced = best_prices(
        kernel,
        problem.devices,
        prices,
        rounds=work.price_rounds,
        nodes=work.price_nodes,
        tolerance=min(2e-5, max(gap / 10, 1e-6)),
        enough=objective * (1 + gap),
    )
    bound = min(first.bound, priced.bound)
    proof = _Proof(bound, priced.bound, first.counts if known else None, objective)
    if not proof.closed(gap):
        _prove(problem, kernel, proof, gap, work)
    if proof.counts is None:
        return replace(first, bound=proof.bound)
    return Candidate(proof.counts, assign(problem, proof.counts), proof.bound, "exact")


def _prove(problem: Problem, kernel: Kernel, proof: _Proof, gap: float, work: Work) -> None:
    """Let the excess grow until the gap is closed or the work is spent."""
    scale = abs(proof.ceiling)
    excess, columns, nodes = 3e-5 * scale, 400, 10_000
    reached, stuck = 0.0, 0
    for _ in range(work.rounds):
        complete = kernel.enumerate(excess, columns, nodes)
        reached, stuck = (complete, 0) if complete > reached else (reached, stuck + 1)
        for beam in work.beams:
            limit = min(excess, proof.ceiling - proof.objective)
            joint = kernel.join(limit, beam)
            proof.states += joint.states
            if joint.found:
                _adopt(problem, proof, np.array(joint.counts, np.int64))
            searched = min(max(complete, 0.0), limit, joint.dropped)
            proof.bound = min(proof.bound, max(proof.objective, proof.ceiling - searched))
            if proof.closed(gap) or joint.dropped >= min(limit, max(complete, 0.0)):
                break
        if proof.closed(gap) or proof.states > work.states or excess > 0.5 * scale or stuck > 1:
            break
        grown = excess * 2.5
        excess = min(grown, proof.ceiling - proof.objective + 1e-9) if proof.counts is not None else grown
        columns, nodes = min(columns * 2, work.most_columns), min(nodes * 2, work.most_nodes)


def _adopt(problem: Problem, proof: _Proof, counts: Ints) -> None:
    """Keep joined counts if they are better; the assignment decides, not the join's own sum."""
    ranked = rank(problem, counts)
    if fits(problem, counts) and ranked.phi >= problem.least and score(problem, ranked) > proof.objective:
        proof.counts, proof.objective = counts, score(problem, ranked)
