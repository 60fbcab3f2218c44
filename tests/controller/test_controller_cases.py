"""Planning cases: kinds of devices, reserved devices, policies, and when a plan is worth a change."""

from __future__ import annotations

import pytest
from controller_stories import application_of, profile_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.case_builder import Demanded, build_case
from tidewise.controller.hysteresis import reason_to_keep
from tidewise.controller.kinds import Kind, kinds_of
from tidewise.controller.policies import least_accurate, most_accurate
from tidewise.controller.registry import Device
from tidewise.controller.spare import reserve, without
from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.cluster import PlannerSettings
from tidewise.core.report import DeviceReport


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


@given(cases())
@settings(max_examples=200, deadline=None)
def test_every_application_has_a_device_when_there_are_enough(case: Case) -> None:
    reserved = reserve(case)
    hosted = {case.variants[v].application for row in reserved.values() for v in row}
    idle = {name for name, one in case.applications.items() if one.demand <= 0}
    assert hosted <= idle
    if all(n >= len(case.applications) for n in case.device_types.values()):
        assert hosted == idle
    assert all(n >= 0 for n in without(case, reserved).device_types.values())


def simple_case(**demand: float) -> Case:
    variants = {"a/1": CaseVariant("a", 1.0), "a/2": CaseVariant("a", 0.8), "b/1": CaseVariant("b", 1.0)}
    capacity = {"big": {"a/1": 10.0, "a/2": 40.0, "b/1": 20.0}, "little": {"a/1": 5.0, "a/2": 20.0}}
    applications = {name: CaseApplication(demand.get(name, 0.0)) for name in ("a", "b")}
    return Case({"big": 2, "little": 2}, applications, variants, capacity)


def test_an_idle_application_keeps_the_cheapest_variant_that_is_loaded() -> None:
    case = simple_case(b=10).with_current({"little": {"a/1": 1, "a/2": 1}})
    assert reserve(case) == {"little": {"a/2": 1}}


def test_an_idle_application_nobody_holds_gets_its_best_on_the_slowest_kind() -> None:
    assert reserve(simple_case(b=10)) == {"little": {"a/1": 1}}


def test_accuracies_and_floors_are_normalised_to_the_best_variant() -> None:
    application = application_of("pets", extra="min_accuracy = 0.9")
    kinds = {"big": Kind("big", "big", None, frozenset(), ("d0",))}
    case = build_case({"pets": application}, kinds, profile_of("pets"), {}, {"pets": Demanded(10, 12)}, {})
    assert case.variants["pets/large"].accuracy == 1.0
    assert case.variants["pets/small"].accuracy == pytest.approx(0.80 / 0.95)
    assert case.applications["pets"].min_accuracy == pytest.approx(0.90 / 0.95)
    assert case.applications["pets"].headroom == pytest.approx(1.2)


def test_an_application_too_slow_for_its_slo_is_left_out() -> None:
    application = application_of("pets", slo_ms="1")
    kinds = {"big": Kind("big", "big", None, frozenset(), ("d0",))}
    assert not build_case({"pets": application}, kinds, profile_of("pets"), {}, {}, {}).applications


def test_devices_of_one_type_with_different_memory_pace_or_barred_files_are_different_kinds() -> None:
    def device(name: str, memory: int | None, stretch: float = 1.0) -> Device:
        return Device(DeviceReport(name, "big", memory, stretch=stretch), "p", "h:1", 1)

    devices = {name: device(name, None) for name in ("d0", "d1", "d3")}
    devices |= {"d2": device("d2", 5), "d4": device("d4", None, stretch=1.25)}
    kinds = kinds_of(devices, {("d3", "abc"), ("gone", "abc")})
    assert kinds["big"].devices == ("d0", "d1")
    assert {kinds[f"big~{number}"].devices for number in (2, 3, 4)} == {("d2",), ("d3",), ("d4",)}
    assert {one.stretch for one in kinds.values() if one.devices == ("d4",)} == {1.25}


def test_clipper_policies_leave_one_variant_of_each_application() -> None:
    assert set(most_accurate(simple_case()).variants) == {"a/1", "b/1"}
    assert set(least_accurate(simple_case()).variants) == {"a/2", "b/1"}


def test_a_gain_smaller_than_the_price_of_its_loads_is_not_worth_it() -> None:
    case = simple_case(a=10)
    now, better = {"big": {"a/1": 1}, "little": {"a/2": 1}}, {"big": {"a/1": 2}}
    assert reason_to_keep(case, now, better, {"a": 10.0}, 1, PlannerSettings()) is not None
    assert reason_to_keep(case, now, better, {"a": 20.0}, 1, PlannerSettings()) is None


def test_a_plan_that_leaves_an_application_out_is_never_kept() -> None:
    assert (
        reason_to_keep(simple_case(), {"big": {"a/1": 1}}, {"big": {"a/1": 1, "b/1": 1}}, {}, 1, PlannerSettings())
        is None
    )
