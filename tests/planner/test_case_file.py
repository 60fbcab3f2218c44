"""A wrong case is refused with one sentence that names the offender."""

import json
from typing import Any

import pytest

from tidewise.core.case_file import read_case
from tidewise.core.errors import CaseError
from tidewise.core.scenario import ScenarioCase

GOOD: dict[str, Any] = {
    "device_types": {"big": 1},
    "applications": {"a": {"demand_qps": 5}},
    "variants": {"v": {"application": "a", "accuracy": 0.9}},
    "capacity_qps": {"big": {"v": 10}},
    "current": {"big": {"v": 1}},
}


def changed(path: str, value: object) -> str:
    """The good case with one value replaced, as text."""
    case = json.loads(json.dumps(GOOD))
    *parents, last = path.split(".")
    place = case
    for key in parents:
        place = place[key]
    place[last] = value
    return json.dumps(case)


def test_a_good_case_is_read() -> None:
    case = read_case(json.dumps(GOOD))
    assert case.applications["a"].demand == 5.0
    assert case.current == {"big": {"v": 1}}


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("extra", 1, "'extra'"),
        ("applications.a.wieght", 1, "'wieght'"),
        ("applications.a.demand_qps", -1, "demand_qps"),
        ("applications.a.demand_qps", True, "demand_qps"),
        ("applications.a.demand_qps", "5", "demand_qps"),
        ("applications.a.demand_qps", None, "demand_qps"),
        ("applications.a.min_accuracy", 1.5, "min_accuracy"),
        ("device_types.big", 1.5, "big"),
        ("device_types.big", -1, "big"),
        ("device_types", [], "device_types"),
        ("variants.v.accuracy", 93.0, "accuracy"),
        ("variants.v.application", "b", "'b'"),
        ("capacity_qps.small", {"v": 1}, "'small'"),
        ("capacity_qps.big.w", 1, "'w'"),
        ("capacity_qps.big.v", -3, "v"),
        ("current.big.v", 0.5, "v"),
        ("current.huge", {"v": 1}, "'huge'"),
        ("device_types", {}, "device_types is empty; name at least one"),
        ("applications", {}, "applications is empty; name at least one"),
        ("device_types.big", 10**12, "big"),
        ("applications.a.demand_qps", 1e300, "demand_qps must be a finite number, between 0 and 1e+12"),
        ("capacity_qps.big.v", 1e308, "v must be a finite number, between 0 and 1e+12"),
        ("applications.a.weight", 1e300, "weight"),
    ],
)
def test_a_wrong_value_is_named(path: str, value: object, named: str) -> None:
    with pytest.raises(CaseError) as error:
        read_case(changed(path, value))
    assert named in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["device_types", "applications", "variants", "capacity_qps"])
def test_a_table_that_is_missing_is_named(key: str) -> None:
    case = {name: value for name, value in GOOD.items() if name != key}
    with pytest.raises(CaseError, match=f"case: {key} is missing"):
        read_case(json.dumps(case))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "{",
        '{"device_types": {"a": 1, "a": 2}}',
        changed("variants.v.accuracy", float("nan")),
        "[" * 100000,
        changed("capacity_qps.big.v", float("inf")),
        changed("capacity_qps.big.v", 5).replace("5", "1e999"),
    ],
)
def test_text_that_is_no_case_is_refused(text: str) -> None:
    with pytest.raises(CaseError):
        read_case(text)


def scenario_text(**changes: object) -> str:
    """A good scenario case with some of its top keys replaced."""
    case = json.loads(json.dumps(GOOD))
    case["applications"]["a"]["demand_qps"] = [5, 8]
    case["scenario_weights"] = [1, 2]
    return json.dumps({**case, **changes})


def test_a_scenario_case_is_read() -> None:
    asked = read_case(scenario_text(warm_budget_bytes={"big": 100}))
    assert isinstance(asked, ScenarioCase)
    assert asked.demands == ({"a": 5.0}, {"a": 8.0})
    assert asked.case.applications["a"].demand == pytest.approx(7.0)
    assert asked.families() == {"big": {"a": 1}}


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario_weights": [1]},
        {"scenario_weights": [0, 0]},
        {"scenario_weights": [1, -1]},
        {"scenario_weights": 3},
        {"warm_budget_bytes": {"huge": 1}},
        {"extra": 1},
        {"applications": {"a": {"demand_qps": 5}}},
    ],
)
def test_a_wrong_scenario_case_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(CaseError):
        read_case(scenario_text(**changes))
