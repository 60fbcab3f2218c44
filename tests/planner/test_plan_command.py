"""`tidewise plan` prints the solution of a case and refuses a wrong one with exit code 2."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_case_file import GOOD, changed

from tidewise.cli.plan import command as plan


def run(tmp_path: Path, text: str, *options: str) -> tuple[int, str]:
    """Exit code and standard output of the command on a case with this text."""
    (tmp_path / "case.json").write_text(text)
    result = CliRunner().invoke(plan, [str(tmp_path / "case.json"), *options])
    return result.exit_code, result.stdout


@pytest.mark.parametrize("solver", ["auto", "exact", "highs", "pulp", "fast"])
def test_json_holds_what_is_promised(tmp_path: Path, solver: str) -> None:
    code, text = run(tmp_path, json.dumps(GOOD), "--json", "--solver", solver)
    found = json.loads(text)
    assert code == 0
    assert found["status"] == "optimal"
    assert found["counts"] == {"big": {"v": 1}}
    assert found["served_qps"] == {"a": 5.0}
    assert (found["phi"], found["loads"], found["gap"]) == (1.0, 0, 0.0)
    assert found["effective_accuracy"] == pytest.approx(0.9)


def test_overload_is_a_plan_not_an_error(tmp_path: Path) -> None:
    code, text = run(tmp_path, changed("applications.a.demand_qps", 20), "--json")
    found = json.loads(text)
    assert code == 0
    assert found["status"] == "overload"
    assert found["phi"] == pytest.approx(0.5)
    assert found["objective"] == pytest.approx(0.45)


def test_no_demand_is_a_plan(tmp_path: Path) -> None:
    code, text = run(tmp_path, changed("applications.a.demand_qps", 0), "--json")
    assert code == 0
    assert json.loads(text)["effective_accuracy"] is None


def test_a_wrong_case_exits_2(tmp_path: Path) -> None:
    assert run(tmp_path, "{}{")[0] == 2
    assert run(tmp_path, changed("variants.v.accuracy", -1), "--json")[0] == 2
    assert CliRunner().invoke(plan, [str(tmp_path / "absent.json")]).exit_code == 2


def test_nothing_to_plan_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text("{}")
    result = CliRunner().invoke(plan, [str(tmp_path / "case.json")])
    assert result.exit_code == 2
    assert result.stderr.startswith("tidewise: case: device_types is missing")


def test_a_person_is_told_what_would_help(tmp_path: Path) -> None:
    code, text = run(tmp_path, changed("applications.a.demand_qps", 25))
    assert code == 0
    assert "overload" in text
    assert "2 more big" in text  # 3 devices of 10 queries/s carry 25
    assert "40.0%" in text


def test_hopeless_applications_are_named(tmp_path: Path) -> None:
    code, text = run(tmp_path, changed("applications.a.min_accuracy", 0.95))
    assert code == 0
    assert "No device can serve a at its accuracy floor 0.95" in text


def test_swaps_are_shown_against_an_earlier_plan(tmp_path: Path) -> None:
    _, earlier = run(tmp_path, json.dumps(GOOD), "--json")
    (tmp_path / "earlier.json").write_text(earlier)
    case = json.loads(json.dumps(GOOD))
    case["variants"]["w"] = {"application": "a", "accuracy": 0.95}
    case["capacity_qps"]["big"]["w"] = 9
    code, text = run(tmp_path, json.dumps(case), "--against", str(tmp_path / "earlier.json"))
    assert code == 0
    assert "1 load:" in text
    assert "+1" in text
    assert run(tmp_path, json.dumps(case), "--against", str(tmp_path / "absent"))[0] == 2


def test_a_scenario_case_is_planned(tmp_path: Path) -> None:
    case = json.loads(json.dumps(GOOD))
    case["applications"]["a"]["demand_qps"] = [5, 20]
    case["scenario_weights"] = [3, 1]
    code, text = run(tmp_path, json.dumps(case), "--json")
    found = json.loads(text)
    assert code == 0
    assert found["families"] == {"big": {"a": 1}}
    assert found["warm"] == {"big": {"a": ["v"]}}
    assert [one["least_served"] for one in found["scenarios"]] == pytest.approx([1.0, 0.5])
    assert "kept warm" in run(tmp_path, json.dumps(case))[1]
