"""A wrong case is refused with one sentence that names the offender."""

import json
from typing import Any

import pytest

from tidewise.core.case_file import read_case
from tidewise.core.errors import CaseError

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
    ],
)
def test_a_wrong_value_is_named(path: str, value: object, named: str) -> None:
    with pytest.raises(CaseError) as error:
        read_case(changed(path, value))
    assert named in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
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
