"""The text formats of a run's folder: run.json says what was run, events.jsonl what changed meanwhile.

    {"at_s": 12.5, "kind": "plan", "version": 4, "trigger": "burst", ..., "assignments": [{"worker": "big-0", ...}]}
    {"at_s": 13.0, "kind": "worker", "worker": "big-0", "device_type": "big", ...}
    {"at_s": 13.0, "kind": "machine", "cpu": 0.43}

The queries themselves travel as Parquet beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tidewise.core.errors import InputError
from tidewise.core.plan import Assignment, Plan
from tidewise.core.run import MachineSample, PlanChange, Run, RunApplication, WorkerSample
from tidewise.core.table import Table

RUN_SCHEMA = 1
Event = PlanChange | WorkerSample | MachineSample


def parse_run(text: str, where: str) -> Run:
    """A run.json as a run that has no records and no events yet. Raises InputError."""
    table = Table(_json(text, where), where)
    table.integer("schema_version", low=RUN_SCHEMA, high=RUN_SCHEMA)
    run = Run(
        name=table.text("name"),
        seconds=table.number("seconds"),
        arrivals=table.integer("arrivals"),
        applications={name: _application(name, one) for name, one in table.named_tables("applications").items()},
        policy=table.text("policy", ""),
        trace=table.text("trace", ""),
        target=table.text("target", ""),
        device_types={name: int(count) for name, count in _numbers(table.table("device_types")).items()},
        cores=table.integer("cores", 0),
        started=table.text("started", ""),
        version=table.text("version", ""),
        notes=table.texts("notes"),
    )
    table.done()
    return run


def _application(name: str, table: Table) -> RunApplication:
    found = RunApplication(name, table.number("slo_ms") / 1e3, _numbers(table.table("variants")))
    table.done()
    return found


def _numbers(table: Table) -> dict[str, float]:
    return {name: table.number(name) for name in tuple(table.values)}


def format_run(run: Run) -> str:
    """The text of a run.json; records and events are not in it."""
    applications = {
        name: {"slo_ms": one.slo * 1e3, "variants": dict(one.variants)} for name, one in run.applications.items()
    }
    values = {
        "schema_version": RUN_SCHEMA,
        "name": run.name,
        "trace": run.trace,
        "target": run.target,
        "policy": run.policy,
        "started": run.started,
        "version": run.version,
        "seconds": run.seconds,
        "arrivals": run.arrivals,
        "cores": run.cores,
        "device_types": dict(run.device_types),
        "applications": applications,
        "notes": list(run.notes),
    }
    return json.dumps(values, indent=2) + "\n"


def with_events(run: Run, text: str, where: str) -> Run:
    """The run with the events of an events.jsonl, each kind in order of time. Raises InputError naming the line."""
    events = [
        _event(Table(_json(line, f"{where} line {number}"), f"{where} line {number}"))
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    events.sort(key=lambda event: event.at)
    return replace(
        run,
        plans=tuple(one for one in events if isinstance(one, PlanChange)),
        workers=tuple(one for one in events if isinstance(one, WorkerSample)),
        machine=tuple(one for one in events if isinstance(one, MachineSample)),
    )


def _event(table: Table) -> Event:
    at = table.number("at_s", low=float("-inf"))
    kind = table.text("kind", choices=("plan", "worker", "machine"))
    event = PlanChange(at, _plan(table)) if kind == "plan" else _sample(at, kind, table)
    table.done()
    return event


def _sample(at: float, kind: str, table: Table) -> Event:
    if kind == "machine":
        return MachineSample(at, table.number("cpu"))
    return WorkerSample(
        at=at,
        worker=table.text("worker"),
        device_type=table.text("device_type"),
        application=table.text("application", ""),
        variant=table.text("variant", ""),
        plan_version=table.integer("plan_version", 0),
        queued=table.integer("queued", 0),
        busy=table.take("busy") is True,
        connected=table.take("connected") is not False,
    )


def _plan(table: Table) -> Plan:
    return Plan(
        version=table.integer("version"),
        trigger=table.text("trigger", ""),
        status=table.text("status", ""),
        phi=table.number("phi", 1.0),
        objective=table.number("objective", 0.0, low=float("-inf")),
        bound=table.number("bound", 0.0, low=float("-inf")),
        gap=table.number("gap", 0.0, low=float("-inf")),
        solve=table.number("solve_s", 0.0),
        demand=_numbers(table.table("demand")),
        served=_numbers(table.table("served")),
        assignments=tuple(_assignment(one) for one in table.tables("assignments")),
    )


def _assignment(table: Table) -> Assignment:
    found = Assignment(
        worker=table.text("worker"),
        application=table.text("application"),
        warm=table.texts("warm"),
        ceiling=table.text("ceiling"),
        share=table.number("share"),
        capacity=table.number("capacity"),
    )
    table.done()
    return found


def format_event(event: Event) -> str:
    """One line of an events.jsonl, newline included."""
    values: Mapping[str, Any] = asdict(event.plan) if isinstance(event, PlanChange) else asdict(event)
    kind = {PlanChange: "plan", WorkerSample: "worker", MachineSample: "machine"}[type(event)]
    named = {"solve_s" if key == "solve" else key: value for key, value in values.items() if key != "at"}
    return json.dumps({"at_s": event.at, "kind": kind, **named}) + "\n"


def _json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where} is not valid JSON: {error}") from error
