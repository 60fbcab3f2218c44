"""Policy terms: what each asks for is kept, and costs only accuracy."""

from dataclasses import replace

import pytest
from small_cases import all_counts, brute_force, small_case, value

from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import Limits, solve
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.solution import Solution, Status, consistent

EXACT = Limits(gap=0.0)


def one_type(devices: int, *demands: float, **terms: float) -> Case:
    """Applications a0, a1, ... with a slow exact and a fast poor variant on one device type."""
    names = [f"a{i}" for i in range(len(demands))]
    variants = {f"{n}-{size}": CaseVariant(n, acc) for n in names for size, acc in (("good", 0.9), ("fast", 0.6))}
    rates = {name: 4.0 if name.endswith("good") else 10.0 for name in variants}
    applications = {n: CaseApplication(d, **terms) for n, d in zip(names, demands, strict=True)}
    return Case({"t": devices}, applications, variants, {"t": rates})


def worst(case: Case, solution: Solution) -> float:
    """The lowest mean accuracy of an application with demand."""
    earned = dict.fromkeys(case.applications, 0.0)
    for device_type, row in solution.busy.items():
        for name, busy in row.items():
            variant = case.variants[name]
            earned[variant.application] += busy * case.capacity[device_type][name] * variant.accuracy
    return min(earned[n] / a.demand for n, a in case.applications.items() if a.demand > 0)


def test_max_min_protects_the_small_application() -> None:
    case = one_type(5, 12.0, 6.0)
    mean, fair = solve(case, limits=EXACT), solve(case, limits=EXACT, terms=Terms(max_min=True))
    assert worst(case, fair) >= worst(case, mean)
    assert fair.objective <= mean.objective + 1e-9
    assert consistent(case, fair)


def test_max_min_is_the_best_worst_of_all_counts() -> None:
    for seed in range(40, 60):
        case = small_case(seed, load=3)
        fair = solve(case, limits=EXACT, terms=Terms(max_min=True))
        if fair.status is Status.OVERLOAD or not any(a.demand for a in case.applications.values()):
            continue
        best = 0.0
        for counts in all_counts(case):
            alone = [relative_accuracy(case, counts, name) for name, a in case.applications.items() if a.demand > 0]
            best = max(best, min(alone))
        tops = {n: max(v.accuracy for v in case.variants.values() if v.application == n) for n in case.applications}
        got = min(
            relative_accuracy(case, fair.counts, n) for n, a in case.applications.items() if a.demand > 0 and tops[n]
        )
        assert got == pytest.approx(best, abs=1e-5), seed


def relative_accuracy(case: Case, counts: dict, name: str) -> float:  # type: ignore[type-arg]
    """Mean accuracy over demand of one application alone, relative to its best variant; 0 if it is not all served."""
    alone = replace(
        case, applications={n: a if n == name else replace(a, demand=0.0) for n, a in case.applications.items()}
    )
    _, served, objective = value(alone, counts)
    top = max(v.accuracy for v in case.variants.values() if v.application == name)
    return objective / top if served >= case.applications[name].demand - 1e-9 else 0.0


def test_headroom_is_kept_where_it_can_be_afforded() -> None:
    case = one_type(6, 10.0, headroom=1.5)
    solution = solve(case)
    assert solution.planned == {"a0": 15.0}
    assert solution.status is Status.OPTIMAL
    assert consistent(case, solution)


def test_headroom_shrinks_before_anything_is_shed() -> None:
    case = one_type(2, 18.0, headroom=1.5)  # the cluster carries 20
    solution = solve(case)
    assert solution.phi == 1.0
    assert 18.0 <= solution.planned["a0"] <= 20.0
    assert solution.planned["a0"] > 19.5
    assert consistent(case, solution)


def test_no_headroom_is_left_under_overload() -> None:
    solution = solve(one_type(2, 30.0, headroom=1.5))
    assert solution.status is Status.OVERLOAD
    assert solution.planned == {"a0": 30.0}
    assert solution.phi == pytest.approx(20 / 30)


def test_replicas_are_hosted_as_long_as_demand_allows() -> None:
    solution = solve(one_type(4, 1.0, 8.0, min_replicas=2), limits=EXACT)
    hosts = {n: sum(c for v, c in solution.counts["t"].items() if v.startswith(n)) for n in ("a0", "a1")}
    assert min(hosts.values()) >= 2
    crowded = solve(one_type(2, 8.0, 8.0, min_replicas=2))
    assert crowded.phi == 1.0


def test_an_idle_application_keeps_its_replicas() -> None:
    solution = solve(one_type(3, 0.0, 4.0, min_replicas=1))
    assert any(v.startswith("a0") for v in solution.counts["t"])


def test_swap_cost_keeps_what_is_hosted() -> None:
    case = one_type(3, 4.0, 4.0).with_current({"t": {"a0-good": 1, "a1-fast": 1}})
    assert solve(case, limits=EXACT).loads == 1
    assert solve(case, limits=EXACT, terms=Terms(swap_cost=0.5)).loads == 0


def test_exact_agrees_with_brute_force_under_all_terms() -> None:
    for seed in range(5000, 5080):
        case = small_case(seed, load=4, terms=True)
        _, served, objective = brute_force(case, 0.02)
        solution = solve(case, method="exact", limits=EXACT, terms=Terms(swap_cost=0.02))
        assert sum(solution.served.values()) == pytest.approx(served, abs=1e-5), seed
        assert solution.objective == pytest.approx(objective, abs=1e-5), seed
