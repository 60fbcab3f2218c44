"""Transitions between applications as the text of a file in the state folder, and back.

{"schema_version": 1, "transitions": {"garments": {"kept": ["xl"], "planned": true,
 "before": {"toml": "...", "accuracy_json": "...", "digests": {"xl": "..."}}, "after": {...}}}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tidewise.controller.retiring import Transition
from tidewise.core.errors import ConfigError
from tidewise.core.repository import ApplicationSource
from tidewise.core.table import Table

SCHEMA = 1


def format_transitions(transitions: Mapping[str, Transition]) -> str:
    """The text of the file."""
    each = {
        name: {
            "kept": sorted(one.kept),
            "planned": one.planned,
            "before": _source_values(one.before),
            "after": _source_values(one.after),
        }
        for name, one in transitions.items()
    }
    return json.dumps({"schema_version": SCHEMA, "transitions": each}, indent=1) + "\n"


def parse_transitions(text: str, where: str) -> dict[str, Transition]:
    """The transitions in a text. Raises ConfigError."""
    try:
        table = Table(json.loads(text), where, ConfigError)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where} is not valid JSON: {error}") from error
    table.integer("schema_version", low=SCHEMA, high=SCHEMA)
    found = {name: _transition(one) for name, one in table.named_tables("transitions").items()}
    table.done()
    return found


def _transition(table: Table) -> Transition:
    found = Transition(
        before=_source(table.table("before")),
        after=_source(table.table("after")),
        kept=frozenset(table.texts("kept")),
        planned=table.take("planned") is True,
    )
    table.done()
    return found


def _source(table: Table) -> ApplicationSource:
    digests = table.table("digests")
    found = ApplicationSource(
        toml=table.text("toml"),
        accuracy_json=table.text("accuracy_json", ""),
        digests={name: digests.text(name) for name in tuple(digests.values)},
    )
    table.done()
    return found


def _source_values(source: ApplicationSource) -> dict[str, Any]:
    return {"toml": source.toml, "accuracy_json": source.accuracy_json, "digests": dict(source.digests)}
