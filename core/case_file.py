"""Reading a planning case from JSON, strictly: a wrong case is refused with one sentence that names the offender."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from tidewise.core.case import Case, CaseApplication, CaseVariant
from tidewise.core.errors import CaseError
from tidewise.core.table import Table


def read_case(text: str) -> Case:
    """The case in this JSON text. Raises CaseError."""
    return case_from_table(parse(text))


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
