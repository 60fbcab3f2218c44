"""The scenario plan: one placement for several demands, the variants as recourse."""

import random
from dataclasses import replace

import pytest
from small_cases import small_case

from tidewise.controller.allocation.ceiling import ceilings
from tidewise.controller.allocation.hull import Rung, hull
from tidewise.controller.allocation.scenario_plan import plan_scenarios, plan_scenarios_fast
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.scenario import ScenarioCase, scenario_faults


def scenario_case(seed: int) -> ScenarioCase:
    draw = random.Random(seed)
    case = small_case(seed, load=draw.choice((3, 6, 12)), terms=seed % 2 == 0)
    base = {name: one.demand for name, one in case.applications.items()}
    demands = tuple({name: d * draw.uniform(0.3, 2) for name, d in base.items()} for _ in range(3))
    return ScenarioCase(case, demands, (1.0, 2.0, 0.5))


def test_highs_equals_pulp() -> None:
    for seed in range(20):
        asked = scenario_case(seed)
        one, two = plan_scenarios(asked, gap=0.0), plan_scenarios(asked, gap=0.0, method="pulp")
        assert one.objective == pytest.approx(two.objective, abs=1e-5), seed
        assert one.gap == pytest.approx(0.0, abs=1e-6)


def test_replicas_are_held_by_both_alike() -> None:
    for seed in range(10):
        asked = scenario_case(seed)
        wanting = {n: replace(one, min_replicas=2) for n, one in asked.case.applications.items()}
        asked = replace(asked, case=replace(asked.case, applications=wanting))
        one, two = plan_scenarios(asked, gap=0.0), plan_scenarios(asked, gap=0.0, method="pulp")
        assert one.objective == pytest.approx(two.objective, abs=1e-5), seed
        assert next(scenario_faults(asked, one), None) is None


def test_replicas_are_held_where_they_cost_little() -> None:
    case = Case(
        {"t": 4},
        {"a": CaseApplication(1.0, min_replicas=2), "b": CaseApplication(9.0)},
        {"av": CaseVariant("a", 0.9), "bv": CaseVariant("b", 0.9), "bw": CaseVariant("b", 0.89)},
        {"t": {"av": 10.0, "bv": 3.0, "bw": 10.0}},
    )
    solution = plan_scenarios(ScenarioCase(case, ({"a": 1.0, "b": 9.0},), (1.0,)), gap=0.0)
    assert solution.families == {"t": {"a": 2, "b": 2}}


def test_no_variant_below_the_accuracy_floor_is_kept_warm() -> None:
    for seed in range(0, 40, 2):
        asked = scenario_case(seed)
        for some in plan_scenarios(asked).warm.values():
            for name, warm in some.items():
                least = asked.case.applications[name].min_accuracy
                assert all(asked.case.variants[v].accuracy >= least for v in warm)


def test_the_fast_plan_keeps_its_promises_and_is_no_better() -> None:
    for seed in range(20):
        asked = scenario_case(seed)
        fast, best = plan_scenarios_fast(asked), plan_scenarios(asked, gap=0.0)
        assert next(scenario_faults(asked, fast), None) is None
        assert fast.objective <= best.bound + 1e-7


def test_one_scenario_with_enough_devices_is_the_best_of_the_hull() -> None:
    case = replace(small_case(3, load=0.1), current={})
    solution = plan_scenarios(ScenarioCase(case, ({n: a.demand for n, a in case.applications.items()},), (1.0,)))
    assert all(value.least_served in (0.0, pytest.approx(1.0)) for value in solution.values)


def test_a_memory_budget_limits_the_warm_set_and_never_helps() -> None:
    for seed in range(10):
        asked = scenario_case(seed)
        memory = dict.fromkeys(asked.case.variants, 10)
        tight = replace(asked, memory=memory, warm_budget=dict.fromkeys(asked.case.device_types, 10))
        free, bound = plan_scenarios(asked, gap=0.0), plan_scenarios(tight, gap=0.0)
        assert all(len(some) <= 1 for row in bound.warm.values() for some in row.values())
        assert bound.objective <= free.objective + 1e-7


def test_hull_drops_what_a_mixture_beats() -> None:
    rungs = [Rung("fast", 10, 0.5), Rung("middle", 5, 0.6), Rung("good", 4, 0.9), Rung("bad", 3, 0.4), Rung("no", 0, 1)]
    assert [rung.variant for rung in hull(rungs)] == ["fast", "good"]


def test_ceilings_carry_the_rate_on_the_more_accurate_side() -> None:
    ladder = hull([Rung("s", 20, 0.6), Rung("m", 10, 0.8), Rung("l", 4, 0.9)])
    assert ceilings({"t": 2}, {"t": ladder}, 5) == {"t": "l"}
    assert ceilings({"t": 2}, {"t": ladder}, 15) == {"t": "l"}  # m carries it; l is one step more accurate
    assert ceilings({"t": 2}, {"t": ladder}, 30) == {"t": "m"}
    assert ceilings({"t": 2}, {"t": ladder}, 99) == {"t": "s"}
    assert ceilings({"t": 0}, {"t": ladder}, 1) == {}
