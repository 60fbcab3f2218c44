"""Demand traces: when each query arrives, for which application, with which deadline; and their text format.

arrival_s,application,deadline_ms
0.012500,garments,200
0.013900,digits,150
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import TraceError

COLUMNS = ("arrival_s", "application", "deadline_ms")
UNSORTED = "arrivals were not in order of time and have been sorted"

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class _Reader(Protocol):
    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Arrivals in order of time, as columns of one length.

    ``arrival`` is seconds since the start, ``deadline`` the seconds each query may take, ``application`` an index into
    ``names``. ``notes`` say what was mended on the way in. Build one with ``of``, which checks and sorts.
    """

    names: tuple[str, ...]
    arrival: Floats
    application: Codes
    deadline: Floats
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.arrival)

    @classmethod
    def of(
        cls,
        arrival: Sequence[float] | Floats,
        applications: Sequence[str],
        deadline: Sequence[float] | Floats | float,
        where: str = "trace",
    ) -> Trace:
        """A checked trace, sorted by arrival, from one application name and one deadline (or the same one) a query.

        Raises TraceError naming the first row (from 1) that is wrong.
        """
        times = np.asarray(arrival, dtype=np.float64)
        deadlines = np.broadcast_to(np.asarray(deadline, dtype=np.float64), times.shape)
        if len(applications) != len(times):
            raise TraceError(f"{where}: {len(times)} arrivals but {len(applications)} application names")
        names = tuple(sorted(set(applications)))
        place = {name: index for index, name in enumerate(names)}
        codes = np.fromiter((place[one] for one in applications), dtype=np.int32, count=len(times))
        return checked(cls(names, times, codes, deadlines), where)

    @property
    def duration(self) -> float:
        """Seconds from the start to the last arrival; 0 without any."""
        return float(self.arrival[-1]) if len(self) else 0.0

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Trace:
        """The arrivals a mask or ascending indexes pick; names that no longer occur go."""
        kept = self.application[chosen]
        present = np.unique(kept)
        return replace(
            self,
            names=tuple(self.names[code] for code in present),
            arrival=self.arrival[chosen],
            application=np.searchsorted(present, kept).astype(np.int32),
            deadline=self.deadline[chosen],
        )

    def arrivals_of(self, name: str) -> Floats:
        """The arrival times of one application; empty if it has none."""
        return self.arrival[self.application == self.names.index(name)] if name in self.names else self.arrival[:0]


def checked(trace: Trace, where: str) -> Trace:
    """The trace, sorted by arrival (with a note if it was not). Raises TraceError on a row no replay could follow."""
    _refuse(trace, where, ~np.isfinite(trace.arrival) | (trace.arrival < 0), "arrival_s", trace.arrival, 1.0)
    bad = ~np.isfinite(trace.deadline) | (trace.deadline <= 0)
    _refuse(trace, where, bad, "deadline_ms", trace.deadline, 1e3)
    for name in trace.names:
        if not name or name != name.strip():
            raise TraceError(
                f"{where}: an application is named {name!r}; give each row a name without spaces around it"
            )
    if np.all(trace.arrival[1:] >= trace.arrival[:-1]):
        return trace
    order = np.argsort(trace.arrival, kind="stable")
    return replace(trace.select(order), notes=(*trace.notes, UNSORTED))


def _refuse(trace: Trace, where: str, bad: NDArray[np.bool_], column: str, values: Floats, unit: float) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        least = "0 or more" if column == "arrival_s" else "more than 0"
        raise TraceError(
            f"{where} row {row + 1}: {column} must be a finite number, {least}, not {values[row] * unit:g}"
        )


def parse_trace(text: str, where: str) -> Trace:
    """The trace in a CSV text with a header; ``where`` names the file in error texts.

    Raises TraceError naming the line that is wrong and what belongs there.
    """
    reader = csv.reader(io.StringIO(text))
    header = [name.strip() for name in next(reader, [])]
    _check_header(header, where)
    lines, rows = _filled(reader, len(header), where)
    if not rows:
        raise TraceError(f"{where} holds no arrivals; expected one a line below the header")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    return Trace.of(
        _numbers(columns["arrival_s"], lines, where, "arrival_s", least=0.0),
        _names(columns["application"], lines, where),
        _numbers(columns["deadline_ms"], lines, where, "deadline_ms", least=1e-3) / 1e3,
        where,
    )


def _check_header(header: list[str], where: str) -> None:
    expected = ",".join(COLUMNS)
    if not any(header):
        raise TraceError(f"{where} is empty; expected the header {expected} and one arrival a line")
    for name in COLUMNS:
        if name not in header:
            raise TraceError(f"{where} line 1: column {name} is missing; expected the header {expected}")
    unknown = [name for name in header if name not in COLUMNS]
    if unknown:
        raise TraceError(f"{where} line 1: unknown column {unknown[0]!r}; expected the header {expected}")
    if len(header) != len(COLUMNS):
        raise TraceError(f"{where} line 1: a column is named twice; expected the header {expected}")


def _filled(reader: _Reader, width: int, where: str) -> tuple[list[int], list[list[str]]]:
    """The rows that are not blank, and their line numbers. Raises TraceError where one is no row of this width."""
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        for values in reader:
            if len(values) == width:
                lines.append(reader.line_num)
                rows.append(values)
            elif any(value.strip() for value in values):
                raise TraceError(f"{where} line {reader.line_num}: expected {width} values, found {len(values)}")
    except csv.Error as error:
        raise TraceError(f"{where} line {reader.line_num} is not valid CSV: {error}") from error
    return lines, rows


def _numbers(texts: Sequence[str], lines: Sequence[int], where: str, column: str, least: float) -> Floats:
    try:
        values = np.array(texts, dtype=np.float64)
    except ValueError:
        values = np.array([_number(text) for text in texts])
    bad = ~((values >= least) & np.isfinite(values))
    if bad.any():
        row = int(np.argmax(bad))
        raise TraceError(
            f"{where} line {lines[row]}: {column} must be a number of at least {least:g}, not {texts[row].strip()!r}"
        )
    return values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _names(texts: Sequence[str], lines: Sequence[int], where: str) -> list[str]:
    names = [text.strip() for text in texts]
    if not all(names):
        line = lines[names.index("")]
        raise TraceError(f"{where} line {line}: application is empty; name the application this query is for")
    return names


def format_trace(trace: Trace) -> str:
    """The CSV text of a trace, times to the microsecond."""
    names = [_quoted(name) for name in trace.names]
    lines = [",".join(COLUMNS)]
    rows = zip(trace.arrival.tolist(), trace.application.tolist(), (trace.deadline * 1e3).tolist(), strict=True)
    lines += [f"{arrival:.6f},{names[code]},{round(deadline, 6):.10g}" for arrival, code, deadline in rows]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set('",\n\r') else name
