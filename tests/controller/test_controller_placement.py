"""Placement: counts to devices with the fewest loads, shares, spares, and the worth of counts."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from controller_stories import application_of, profile_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.case_builder import Demanded, build_case
from tidewise.controller.greedy import greedy
from tidewise.controller.kinds import Kind
from tidewise.controller.placement import assignments, held_counts, place
from tidewise.controller.shares import shares
from tidewise.controller.spare import filled, reserve, without
from tidewise.controller.warm import WarmSiblings
from tidewise.controller.worth import worth
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.plan import Plan, consistent
from tidewise.core.solution import faults

VARIANTS = ("a/1", "a/2", "b/1")


def loads_of(placed: dict[str, str], held: dict[str, tuple[str, ...]]) -> int:
    return sum(variant not in held[device] for device, variant in placed.items())


def fewest(counts: dict[str, int], held: dict[str, tuple[str, ...]]) -> int:
    wanted = list(Counter(counts).elements())
    ways = itertools.permutations(held, len(wanted))
    return min(loads_of(dict(zip(way, wanted, strict=True)), held) for way in ways)


@st.composite
def placements(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    devices = [f"d{i}" for i in range(draw(st.integers(1, 5)))]
    held = {one: tuple(draw(st.sets(st.sampled_from(VARIANTS), max_size=2))) for one in devices}
    chosen = draw(st.lists(st.sampled_from(VARIANTS), max_size=len(devices)))
    return dict(Counter(chosen)), held


@given(placements())
@settings(max_examples=200, deadline=None)
def test_placement_needs_as_few_loads_as_any(case: tuple[dict[str, int], dict[str, tuple[str, ...]]]) -> None:
    counts, held = case
    placed = place(counts, held, held)
    assert Counter(placed.values()) == Counter(counts)
    assert len(placed) <= len(held)
    assert loads_of(placed, held) == fewest(counts, held)


@given(placements())
@settings(max_examples=100, deadline=None)
def test_holders_of_a_variant_keep_it(case: tuple[dict[str, int], dict[str, tuple[str, ...]]]) -> None:
    counts, held = case
    held = {device: holds[:1] for device, holds in held.items()}
    placed = place(counts, held, held)
    for variant, n in counts.items():
        holders = {device for device, holds in held.items() if variant in holds}
        assert sum(placed.get(one) == variant for one in holders) == min(n, len(holders))


def test_a_device_of_the_same_application_is_first_to_load() -> None:
    held = {"d0": ("b/1",), "d1": (), "d2": ("a/1",)}
    assert place({"a/2": 1}, held, held) == {"d2": "a/2"}
    assert place({"a/2": 2}, held, held) == {"d2": "a/2", "d1": "a/2"}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kinds = {f"k{i}": draw(st.integers(0, 4)) for i in range(draw(st.integers(1, 3)))}
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    variants = {f"{n}/{v}": CaseVariant(n, acc) for n in names for v, acc in (("x", 1.0), ("y", 0.9), ("z", 0.7))}
    rate = st.one_of(st.just(0.0), st.floats(1, 200))
    capacity = {kind: {v: draw(rate) for v in variants} for kind in kinds}
    able = {variants[v].application for kind, row in capacity.items() if kinds[kind] for v, r in row.items() if r > 0}
    demand = st.one_of(st.just(0.0), st.floats(0.01, 500))
    current = {kind: {v: draw(st.integers(0, 1)) for v in variants} for kind in kinds}
    return Case(
        kinds,
        {n: CaseApplication(draw(demand)) for n in names if n in able},
        {v: one for v, one in variants.items() if one.application in able},
        {kind: {v: r for v, r in row.items() if variants[v].application in able} for kind, row in capacity.items()},
        {kind: {v: n for v, n in row.items() if variants[v].application in able} for kind, row in current.items()},
    )


def demand_of(case: Case) -> dict[str, float]:
    return {name: one.demand for name, one in case.applications.items()}


@given(cases())
@settings(max_examples=200, deadline=None)
def test_a_plan_from_any_case_is_whole(case: Case) -> None:
    reserved = reserve(case)
    solution = greedy(without(case, reserved))
    assert next(faults(without(case, reserved), solution), None) is None
    summed = {k: dict(Counter(solution.counts.get(k, {})) + Counter(reserved.get(k, {}))) for k in case.device_types}
    slo = dict.fromkeys(case.applications, 0.2)
    counts = filled(case, summed, demand_of(case), slo)
    for kind, row in counts.items():
        useful = any(case.capacity[kind].get(v, 0) > 0 for v in case.variants)
        assert sum(row.values()) == (case.device_types[kind] if useful else 0)
    share = shares(case, counts, demand_of(case))
    totals: Counter[str] = Counter()
    for (_, variant), part in share.items():
        assert 0 < part <= 1 + 1e-9
        totals[case.variants[variant].application] += part  # type: ignore[assignment]
    assert all(math.isclose(total, 1) for total in totals.values())


def simple_case(**demand: float) -> Case:
    variants = {"a/1": CaseVariant("a", 1.0), "a/2": CaseVariant("a", 0.8), "b/1": CaseVariant("b", 1.0)}
    capacity = {"big": {"a/1": 10.0, "a/2": 40.0, "b/1": 20.0}, "little": {"a/1": 5.0, "a/2": 20.0}}
    applications = {name: CaseApplication(demand.get(name, 0.0)) for name in ("a", "b")}
    return Case({"big": 2, "little": 2}, applications, variants, capacity)


def test_shares_follow_the_capacity_used_and_the_accurate_serve_first() -> None:
    share = shares(simple_case(a=30), {"big": {"a/1": 1, "a/2": 1}}, {"a": 30.0})
    assert share == pytest.approx({("big", "a/1"): 1 / 3, ("big", "a/2"): 2 / 3})


def test_equally_accurate_devices_share_by_capacity() -> None:
    share = shares(simple_case(a=6), {"big": {"a/1": 1}, "little": {"a/1": 1}}, {"a": 6.0})
    assert share == pytest.approx({("big", "a/1"): 2 / 3, ("little", "a/1"): 1 / 3})


def test_a_spare_gets_hardly_anything_but_not_nothing() -> None:
    share = shares(simple_case(a=5), {"big": {"a/1": 1, "a/2": 1}}, {"a": 5.0})
    assert 0 < share["big", "a/2"] < 0.05


def test_the_floor_on_accuracy_stops_an_application_before_its_mean_falls_below() -> None:
    case = simple_case(a=100)
    floored = Case(
        case.device_types,
        {"a": CaseApplication(100, min_accuracy=0.9)},
        {v: one for v, one in case.variants.items() if one.application == "a"},
        {k: {v: r for v, r in row.items() if v != "b/1"} for k, row in case.capacity.items()},
    )
    value = worth(floored, {"big": {"a/1": 1, "a/2": 1}}, {"a": 100.0})
    assert value.rates == pytest.approx({("big", "a/1"): 10.0, ("big", "a/2"): 10.0})


def test_assignments_pass_the_check_before_publishing() -> None:
    application = application_of("pets")
    kinds = {"big": Kind("big", "big", None, frozenset(), ("d0", "d1"))}
    case = build_case({"pets": application}, kinds, profile_of("pets"), {}, {"pets": Demanded(60, 70)}, {})
    held = {"d0": ("pets/small",), "d1": ()}
    warm = WarmSiblings({"pets": application}, profile_of("pets"), siblings=0)
    made = assignments(case, kinds, {"big": {"pets/large": 1, "pets/small": 1}}, {"pets": 70.0}, held, warm)
    consistent(Plan(1, made), {"pets": application}, ["d0", "d1"])
    assert {one.worker: one.ceiling for one in made} == {"d0": "small", "d1": "large"}
    assert held_counts(kinds, held) == {"big": {"pets/small": 1}}


def test_siblings_stop_where_memory_ends() -> None:
    application = application_of("pets")
    pick = WarmSiblings({"pets": application}, profile_of("pets", memory=10), siblings=2)
    for memory, expected in ((None, 3), (30, 3), (29, 2), (19, 1)):
        kind = Kind("big", "big", memory, frozenset(), ("d0",))
        assert len(pick("pets", "large", kind)) == expected
    assert pick("pets", "large", Kind("big", "big", 20, frozenset(), ())) == ("large", "small")
