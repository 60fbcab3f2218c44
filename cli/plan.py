"""`tidewise plan CASE.json`: solve a planning case without a cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tidewise.cli.plan_text import plan_text, scenario_text, swaps_text
from tidewise.controller.allocation.explain import explain
from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.scenario_plan import plan_scenarios
from tidewise.controller.allocation.solve import Limits, solve
from tidewise.controller.allocation.strategy import METHODS
from tidewise.core.case import Case
from tidewise.core.case_file import counts_from_table, parse, read_case
from tidewise.core.errors import CaseError, InputError, reason
from tidewise.core.scenario import ScenarioCase
from tidewise.core.table import Table


@click.command(name="plan", short_help="Solve a planning case without a cluster.")
@click.argument("case_file", metavar="CASE.json", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the solution as JSON.")
@click.option("--solver", type=click.Choice(METHODS), default="auto", show_default=True, help="How to solve.")
@click.option("--gap", type=click.FloatRange(0, 1), help="Relative gap to stop at  [default: by size]")
@click.option("--swap-cost", type=click.FloatRange(0), default=0.0, help="Objective given up per load.")
@click.option("--max-min", is_flag=True, help="Lift the worst application's accuracy before the mean.")
@click.option(
    "--against", metavar="CURRENT", type=click.Path(path_type=Path), help="Counts hosted now: show the swaps."
)
def command(
    case_file: Path,
    as_json: bool,
    solver: str,
    gap: float | None,
    swap_cost: float,
    max_min: bool,
    against: Path | None,
) -> None:
    """Plan which device types host which variants, for the case in a JSON file (- for standard input)."""
    try:
        case = read_case(_text(case_file))
        if isinstance(case, ScenarioCase):
            _plan_scenarios(case, as_json, solver, gap)
        else:
            case = case if against is None else case.with_current(_current(_text(against)))
            _plan(
                case, as_json, solver, Limits(gap=gap), Terms(swap_cost=swap_cost, max_min=max_min), against is not None
            )
    except InputError as error:
        click.echo(f"tidewise: {error}", err=True)
        sys.exit(2)


def _plan(case: Case, as_json: bool, solver: str, limits: Limits, terms: Terms, swaps: bool) -> None:
    solution = solve(case, method=solver, limits=limits, terms=terms)
    if as_json:
        click.echo(json.dumps(solution.as_json(), indent=2))
        return
    click.echo(plan_text(case, solution, explain(case, solution)))
    if swaps or case.current:
        click.echo("\n" + swaps_text(case, solution))


def _plan_scenarios(case: ScenarioCase, as_json: bool, solver: str, gap: float | None) -> None:
    method = "pulp" if solver == "pulp" else "highs"
    solution = plan_scenarios(case, method=method) if gap is None else plan_scenarios(case, method=method, gap=gap)
    click.echo(json.dumps(solution.as_json(), indent=2) if as_json else scenario_text(solution))


def _current(text: str) -> dict[str, dict[str, int]]:
    """Counts by device type and variant: a bare table, or an earlier plan's JSON with its ``counts``."""
    table = parse(text)
    counts = table.values.get("counts", table.values)
    return counts_from_table(Table({"current": counts}, "current plan", CaseError), "current")


def _text(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"{path} cannot be read: {reason(error)}") from error
