"""Reading a planning case from JSON, strictly: a wrong case is refused with one sentence that names the offender."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from typing import Any, NoReturn

from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.errors import CaseError
from tidewise.core.scenario import ScenarioCase
from tidewise.core.table import Table


def read_case(text: str) -> Case | ScenarioCase:
    """The case in this JSON text, a scenario case if it has scenario_weights. Raises CaseError."""
    table = parse(text)
    return case_from_table(table) if "scenario_weights" not in table.values else scenario_case_from_table(table)


def parse(text: str) -> Table:
    """The top table of a case file: JSON without duplicate keys, NaN or infinities. Raises CaseError."""
    try:
        values = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise CaseError(f"case: not JSON, {error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        raise CaseError("case: nested too deeply to be a planning case") from error
    return Table(values, "case", CaseError)


def case_from_table(table: Table) -> Case:
    """The case in this table; every key is taken. Raises CaseError."""
    _need(table)
    devices = table.table("device_types")
    case = Case(
        device_types={name: devices.integer(name) for name in list(devices.values)},
        applications={name: _application(one) for name, one in table.named_tables("applications").items()},
        variants={name: _variant(one) for name, one in table.named_tables("variants").items()},
        capacity={
            name: {variant: row.number(variant) for variant in list(row.values)}
            for name, row in table.named_tables("capacity_qps").items()
        },
        current=counts_from_table(table, "current"),
    )
    table.done()
    return case


def _need(table: Table) -> None:
    """Refuse a case without its four tables, or with nothing to plan. Raises CaseError."""
    for key in ("device_types", "applications", "variants", "capacity_qps"):
        if key not in table.values:
            raise CaseError(f"{table.where}: {key} is missing; docs/formats.md shows a planning case")
    for key in ("device_types", "applications"):
        if table.values[key] == {}:
            raise CaseError(f"{table.where}: {key} is empty; name at least one")


def scenario_case_from_table(table: Table) -> ScenarioCase:
    """The scenario case in this table: demand_qps is a list per application, as long as scenario_weights.

    Optional: memory_bytes of a variant, and warm_budget_bytes by device type. Raises CaseError.
    """
    values = dict(table.values)
    weights = _numbers(table, "scenario_weights")
    rows = {name: _numbers(one, "demand_qps") for name, one in table.named_tables("applications").items()}
    for name, row in rows.items():
        if len(row) != len(weights):
            raise CaseError(f"application {name!r}: {len(row)} demands for {len(weights)} scenario_weights")
    budgets = table.table("warm_budget_bytes")
    budget = {name: budgets.integer(name) for name in list(budgets.values)}
    memory = {n: one.integer("memory_bytes", 0) for n, one in table.named_tables("variants").items()}
    case = case_from_table(Table(_plain(values, rows, weights), table.where, CaseError))
    demands = tuple({name: row[s] for name, row in rows.items()} for s in range(len(weights)))
    return ScenarioCase(case, demands, weights, memory, budget)


def counts_from_table(table: Table, key: str) -> dict[str, dict[str, int]]:
    """Whole numbers of devices by device type and variant, as under ``current`` and ``counts``."""
    return {
        name: {variant: row.integer(variant) for variant in list(row.values)}
        for name, row in table.named_tables(key).items()
    }


def _application(table: Table) -> CaseApplication:
    application = CaseApplication(
        demand=table.number("demand_qps"),
        weight=table.number("weight", 1.0),
        min_accuracy=table.number("min_accuracy", 0.0, high=1.0),
        min_replicas=table.integer("min_replicas", 0),
        headroom=table.number("headroom", 1.0, low=1.0),
    )
    table.done()
    return application


def _variant(table: Table) -> CaseVariant:
    variant = CaseVariant(table.text("application"), table.number("accuracy", high=1.0))
    table.done()
    return variant


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CaseError(f"case: key {twice!r} appears twice in one table; keep one of them")
    return values


def _refuse_constant(text: str) -> NoReturn:
    raise CaseError(f"case: {text} is not a number a case may hold; write a finite number")


def _numbers(table: Table, key: str) -> tuple[float, ...]:
    """A list of finite numbers of at least 0."""
    values = table.take(key)
    if not isinstance(values, list):
        raise CaseError(f"{table.where}: {key} must be a list of numbers, one for each scenario, not {values!r}")
    entries = Table({str(i): value for i, value in enumerate(values)}, f"{table.where} {key}", CaseError)
    return tuple(entries.number(str(i)) for i in range(len(values)))


def _plain(
    values: Mapping[str, Any], rows: Mapping[str, tuple[float, ...]], weights: tuple[float, ...]
) -> dict[str, Any]:
    """The values of the plain case: weighted mean demands, and without the keys of scenarios."""
    total = sum(weights) or 1.0
    plain = {key: value for key, value in values.items() if key not in ("scenario_weights", "warm_budget_bytes")}
    plain["applications"] = {
        name: {**values["applications"][name], "demand_qps": sum(map(operator.mul, row, weights)) / total}
        for name, row in rows.items()
    }
    plain["variants"] = {
        name: {key: value for key, value in one.items() if key != "memory_bytes"}
        for name, one in values.get("variants", {}).items()
    }
    return plain
