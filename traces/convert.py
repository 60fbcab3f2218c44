"""Demand recorded elsewhere, made into traces: counts per second, and folders with one list for each application."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tidewise.core.errors import TraceError
from tidewise.traces.arrivals import Counts, Times
from tidewise.traces.mix import shares
from tidewise.traces.rates import Generator

TIME_COLUMNS = ("second", "seconds", "time", "time_s", "timestamp", "t")
TOTAL = "count"


def parse_counts(text: str, where: str) -> dict[str, Counts]:
    """Arrivals in each second from a CSV text: one row a second, one column for each application.

    Without a header there must be one column, the total, returned under ``count``. A column named as a time (second,
    timestamp, ...) is left out: rows are taken to be consecutive. Raises TraceError naming the line that is wrong.
    """
    rows = [(number, row) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1) if any(row)]
    if not rows:
        raise TraceError(f"{where} is empty; expected one row of arrival counts a second")
    names = _counted(rows, where)
    width = len(names)
    columns: dict[str, list[int]] = {name: [] for name in names if name.lower() not in TIME_COLUMNS}
    if not columns:
        raise TraceError(f"{where} line 1: no column holds counts, only {', '.join(names)}")
    for number, row in rows:
        if len(row) != width:
            raise TraceError(f"{where} line {number}: expected {width} values, found {len(row)}")
        for name, value in zip(names, row, strict=True):
            if name in columns:
                columns[name].append(_count(value, f"{where} line {number}", name))
    return {name: np.array(values, dtype=np.int64) for name, values in columns.items()}


def _counted(rows: list[tuple[int, list[str]]], where: str) -> list[str]:
    """The columns' names; takes the header off the rows if there is one."""
    first = [value.strip() for value in rows[0][1]]
    if all(_is_number(value) for value in first):
        if len(first) > 1:
            raise TraceError(f"{where} line 1: {len(first)} columns need a header naming the application of each")
        return [TOTAL]
    if len(set(first)) != len(first) or not all(first):
        raise TraceError(f"{where} line 1: every column needs a name of its own, not {','.join(first)}")
    if len(rows) == 1:
        raise TraceError(f"{where} holds only a header; expected one row of arrival counts a second")
    del rows[0]
    return first


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _count(text: str, at: str, name: str) -> int:
    value = float(text) if _is_number(text) else -1.0
    if not 0 <= value < 2**53 or value != int(value):
        raise TraceError(f"{at}: {name} must be a whole number of arrivals, not {text.strip()!r}")
    return int(value)


def shared(total: Counts, weights: Mapping[str, float], rng: Generator) -> dict[str, Counts]:
    """The total of each second dealt to the applications at random in proportion to their weights."""
    dealt = rng.multinomial(total, list(shares(weights).values()))
    return {name: dealt[:, place].astype(np.int64) for place, name in enumerate(weights)}


@dataclass(frozen=True, slots=True)
class ArrivalList:
    """The arrivals of one application: seconds, ascending or not, and each one's deadline in seconds."""

    arrival: Times
    deadline: Times


def parse_list(text: str, where: str, unit: float = 1e-3, deadline: float | None = None) -> ArrivalList:
    """One application's arrivals, a line each: ``arrival`` alone, ``arrival,deadline``, or ``arrival,_,deadline``.

    Times and deadlines are in ``unit`` seconds (milliseconds by default); the middle one of three values, an accuracy
    requirement in published traces, is not used. ``deadline`` (seconds) stands in where, or overrides what, the file
    says. Raises TraceError naming the line that is wrong.
    """
    arrivals: list[float] = []
    deadlines: list[float] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        values = _values(line, f"{where} line {number}")
        if len(values) == 1 and deadline is None:
            raise TraceError(f"{where} line {number}: no deadline; add it to each line or give one for all")
        arrivals.append(values[0] * unit)
        deadlines.append(values[-1] * unit if deadline is None else deadline)
    return ArrivalList(np.array(arrivals, dtype=np.float64), np.array(deadlines, dtype=np.float64))


def _values(line: str, at: str) -> list[float]:
    texts = line.split(",")
    if len(texts) > 3 or not all(_is_number(text) for text in texts):
        raise TraceError(
            f"{at}: expected arrival,deadline or arrival,accuracy,deadline as numbers, not {line.strip()!r}"
        )
    values = [float(text) for text in texts]
    if not 0 <= values[0] < float("inf"):
        raise TraceError(f"{at}: the arrival must be a number of at least 0, not {texts[0].strip()!r}")
    return values
