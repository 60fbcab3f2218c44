"""`tidewise plan` prints the solution of a case and refuses a wrong one with exit code 2."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_case_file import GOOD, changed

from tidewise.cli.plan import command


def run(tmp_path: Path, text: str, *options: str) -> tuple[int, str]:
    """Exit code and standard output of the command on a case with this text."""
    (tmp_path / "case.json").write_text(text)
    result = CliRunner().invoke(command, [str(tmp_path / "case.json"), *options])
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
    assert CliRunner().invoke(command, [str(tmp_path / "absent.json")]).exit_code == 2
