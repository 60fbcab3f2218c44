"""Trace files and folders: the shell around the formats. A trace's name ends as its form does, .csv or .parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tidewise.core.errors import TraceError, reason
from tidewise.core.suffix import TRACE, require_suffix
from tidewise.core.trace import COLUMNS, Trace, format_trace, parse_trace
from tidewise.traces.convert import parse_list

LIST_SUFFIXES = (".txt", ".csv")


def read_trace(path: Path) -> Trace:
    """The trace in a file. Raises TraceError with one sentence if it cannot be read as one."""
    require_suffix(path, TRACE, "a trace's name", TraceError)
    return _read_parquet(path) if _is_parquet(path) else parse_trace(read_text(path), str(path))


def write_trace(trace: Trace, path: Path) -> None:
    """Write the trace; a file of that name is replaced. Raises TraceError if the name does not say the form."""
    require_suffix(path, TRACE, "a trace's name", TraceError)
    if _is_parquet(path):
        pq.write_table(_table(trace), path, compression="zstd")
    else:
        path.write_text(format_trace(trace), encoding="utf-8")


def read_text(path: Path) -> str:
    """The text of a file. Raises TraceError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TraceError(f"{path} is not UTF-8 text: {error}") from error


def is_trace(path: Path) -> bool:
    """Whether a file looks like a trace: Parquet, or CSV with a column of arrivals in its first line."""
    return _is_parquet(path) or COLUMNS[0] in read_text(path).partition("\n")[0]


def read_lists(
    folder: Path, unit: float = 1e-3, deadline: float | None = None, deadlines: Mapping[str, float] | None = None
) -> Trace:
    """A folder with one NAME.txt or NAME.csv for each application, as one trace (see ``parse_list``).

    ``deadlines`` by name, or else ``deadline`` for all (seconds), replace what the files say.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix in LIST_SUFFIXES)
    if not files:
        raise TraceError(f"{folder} holds no lists; expected a file NAME.txt for each application")
    own = deadlines or {}
    lists = {path.stem: parse_list(read_text(path), str(path), unit, own.get(path.stem, deadline)) for path in files}
    names = np.repeat(np.array(list(lists), dtype=object), [len(one.arrival) for one in lists.values()])
    if not len(names):
        raise TraceError(f"{folder}: none of its {len(files)} lists holds an arrival")
    arrival = np.concatenate([one.arrival for one in lists.values()])
    each = np.concatenate([one.deadline for one in lists.values()])
    order = np.argsort(arrival, kind="stable")
    return Trace.of(arrival[order], names[order].tolist(), each[order], str(folder))


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _table(trace: Trace) -> pa.Table:
    names = pa.DictionaryArray.from_arrays(pa.array(trace.application), pa.array(trace.names, pa.string()))
    return pa.table([pa.array(trace.arrival), names, pa.array(trace.deadline * 1e3)], names=list(COLUMNS))


def _read_parquet(path: Path) -> Trace:
    if not path.is_file():
        raise TraceError(f"{path} cannot be read: there is no such file")
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise TraceError(f"{path} cannot be read as Parquet: {reason(error)}") from error
    if sorted(table.column_names) != sorted(COLUMNS):
        raise TraceError(f"{path} has columns {', '.join(table.column_names)}; expected {', '.join(COLUMNS)}")
    if not table.num_rows:
        raise TraceError(f"{path} holds no arrivals; expected one a row")
    names = table.column("application").cast(pa.string()).to_pylist()
    if None in names:
        raise TraceError(f"{path} row {names.index(None) + 1}: application is empty; name the one this query is for")
    return Trace.of(_floats(table, "arrival_s", path), names, _floats(table, "deadline_ms", path) / 1e3, str(path))


def _floats(table: pa.Table, name: str, path: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        values = table.column(name).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise TraceError(f"{path}: column {name} must hold numbers: {error}") from error
    return np.asarray(values, dtype=np.float64)  # an absent value is NaN, which Trace.of refuses by row
