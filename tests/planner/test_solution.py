"""The independent check believes no solver."""

from dataclasses import replace

import pytest
from small_cases import small_case

from tidewise.controller.allocation.solve import solve
from tidewise.core.solution import Solution, consistent, faults

CASE = small_case(7, load=3)
HONEST = solve(CASE)

LIES: dict[str, Solution] = {
    "objective": replace(HONEST, objective=HONEST.objective + 0.1, bound=HONEST.bound + 0.1),
    "objective is nan": replace(HONEST, objective=float("nan")),
    "bound": replace(HONEST, bound=HONEST.objective - 0.1),
    "bound is nan": replace(HONEST, bound=float("nan")),
    "phi": replace(HONEST, phi=1.5),
    "loads": replace(HONEST, loads=HONEST.loads + 1),
    "served": replace(HONEST, served={a: 2 * q + 1 for a, q in HONEST.served.items()}),
    "too many": replace(HONEST, counts={t: {v: n + 5 for v, n in row.items()} for t, row in HONEST.counts.items()}),
    "negative": replace(HONEST, counts={t: {v: -n for v, n in row.items()} for t, row in HONEST.counts.items()}),
    "half": replace(HONEST, counts={t: {v: n + 0.5 for v, n in row.items()} for t, row in HONEST.counts.items()}),
    "unknown type": replace(HONEST, counts={"nowhere": {}}),
    "unknown variant": replace(HONEST, busy={next(iter(CASE.device_types)): {"nothing": 1.0}}),
    "nothing hosted": replace(HONEST, counts={}),
    "accuracy": replace(HONEST, effective_accuracy=0.999999),
    "no accuracy": replace(HONEST, effective_accuracy=None),
    "planned": replace(HONEST, planned={a: 2 * one.demand + 1 for a, one in CASE.applications.items()}),
}


def test_an_honest_solution_is_consistent() -> None:
    assert consistent(CASE, HONEST)


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_has_a_name(lie: str) -> None:
    assert not consistent(CASE, LIES[lie])
    assert all(isinstance(fault, str) for fault in faults(CASE, LIES[lie]))
