"""`tidewise plan CASE.json`: solve a planning case without a cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tidewise.controller.allocation.scenario_plan import plan_scenarios
from tidewise.controller.allocation.solve import solve
from tidewise.controller.allocation.strategy import METHODS
from tidewise.core.case import Case
from tidewise.core.case_file import read_case
from tidewise.core.errors import CaseError, InputError
from tidewise.core.scenario import ScenarioCase, ScenarioSolution
from tidewise.core.solution import Solution


@click.command()
@click.argument("case_file", metavar="CASE.json", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the solution as JSON.")
@click.option("--solver", type=click.Choice(METHODS), default="auto", show_default=True, help="How to solve.")
def plan(case_file: Path, as_json: bool, solver: str) -> None:
    """Plan which device types host which variants, for the case in a JSON file (- for standard input)."""
    try:
        solution = _solve(read_case(_text(case_file)), solver)
    except InputError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    if as_json:
        click.echo(json.dumps(solution.as_json(), indent=2))
    else:
        click.echo(f"{solution.status}: objective {solution.objective:.6f}, gap {solution.gap:.2e}")


def _solve(case: Case | ScenarioCase, solver: str) -> Solution | ScenarioSolution:
    if isinstance(case, ScenarioCase):
        return plan_scenarios(case, method="pulp" if solver == "pulp" else "highs")
    return solve(case, method=solver)


def _text(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"cannot read the case {path}: {error}") from error
