"""A run's folder: written while the run goes on, read back as one Run.

run.json          what was run (core/run_file.py)          queries.parquet   one row a query, in the order they ended
events.jsonl      plans and samples, appended as they come
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidewise.core.errors import InputError, TraceError, reason
from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.run import Run
from tidewise.core.run_file import Event, format_event, format_run, parse_run, with_events
from tidewise.core.trace import Trace

RUN_FILE = "run.json"
QUERIES_FILE = "queries.parquet"
EVENTS_FILE = "events.jsonl"
ROWS = 2048  # records kept in memory before they are written

_TEXT = pa.dictionary(pa.int32(), pa.string())
_COLUMNS = (  # column, field of QueryRecord, type; times are seconds since the start of the run
    ("application", "application", _TEXT),
    ("due_s", "due", pa.float64()),
    ("sent_s", "sent", pa.float64()),
    ("ended_s", "ended", pa.float64()),
    ("deadline_s", "deadline", pa.float64()),
    ("outcome", "outcome", _TEXT),
    ("reason", "reason", _TEXT),
    ("variant", "variant", _TEXT),
    ("worker", "worker", _TEXT),
    ("plan_version", "plan_version", pa.int64()),
    ("queued_s", "queued", pa.float64()),
    ("computed_s", "computed", pa.float64()),
    ("accuracy", "accuracy", pa.float64()),
    ("correct", "correct", pa.bool_()),
    ("message", "message", _TEXT),
)
SCHEMA = pa.schema([(column, kind) for column, _, kind in _COLUMNS])


def holds_run(folder: Path) -> bool:
    """Whether the folder holds a run, whole or broken off."""
    return any((folder / name).exists() for name in (RUN_FILE, QUERIES_FILE))


def refuse_kept(folder: Path) -> None:
    """Raise InputError if the folder holds a run already."""
    if holds_run(folder):
        raise InputError(f"{folder} holds a run already; name another folder with --out, or replace it with --force")


class RunWriter:
    """Writes a run's folder as the run goes on; a context manager, so that an interrupted run is kept too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / RUN_FILE).unlink(missing_ok=True)  # of an earlier run, which ends here
            self._events: IO[str] = (folder / EVENTS_FILE).open("w", encoding="utf-8")
            self._queries = pq.ParquetWriter(folder / QUERIES_FILE, SCHEMA, compression="zstd")
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
        records_table([])  # Arrow loads pandas at its first conversion, which would stall the first queries
        self._rows: list[QueryRecord] = []
        self._used = False

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        self._queries.close()
        self._events.close()
        if not self._used:
            self._discard()

    def add(self, record: QueryRecord) -> None:
        """Keep one query's end."""
        self._used = True
        self._rows.append(record)
        if len(self._rows) >= ROWS:
            self._flush()

    def note(self, event: Event) -> None:
        """Append one event at once, so that it can be read while the run goes on."""
        self._used = True
        self._events.write(format_event(event))
        self._events.flush()

    def describe(self, run: Run) -> None:
        """Write run.json; records and events in ``run`` are not looked at. May be called again."""
        self._used = True
        (self.folder / RUN_FILE).write_text(format_run(run), encoding="utf-8")

    def _discard(self) -> None:
        """Leave no folder behind of a run that never began."""
        for name in (QUERIES_FILE, EVENTS_FILE):
            (self.folder / name).unlink()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _flush(self) -> None:
        if self._rows:
            self._queries.write_table(records_table(self._rows))
            self._rows.clear()


def records_table(records: list[QueryRecord]) -> pa.Table:
    """The records as an Arrow table of ``SCHEMA``."""
    columns = [pa.array([getattr(one, field) for one in records], kind) for _, field, kind in _COLUMNS]
    return pa.table(columns, schema=SCHEMA)


def table_records(table: pa.Table) -> list[QueryRecord]:
    """The records in an Arrow table of ``SCHEMA``."""
    columns: dict[str, list[Any]] = {field: table.column(column).to_pylist() for column, field, _ in _COLUMNS}
    columns["outcome"] = [Outcome(value) for value in columns["outcome"]]
    return [QueryRecord(*values) for values in zip(*columns.values(), strict=True)]


def read_run(folder: Path) -> Run:
    """The run kept in a folder, records in the order in which they were due.

    Raises InputError with one sentence if a file is missing or is not what it should be.
    """
    run = parse_run(_read(folder / RUN_FILE), str(folder / RUN_FILE))
    events = folder / EVENTS_FILE
    if events.exists():
        run = with_events(run, _read(events), str(events))
    records = sorted(read_records(folder), key=lambda one: one.due)
    return replace(run, records=tuple(records))


def read_records(folder: Path) -> list[QueryRecord]:
    """The records of a run's folder, in the order in which they ended. Raises InputError."""
    file = folder / QUERIES_FILE
    try:
        return table_records(pq.read_table(file, schema=SCHEMA))
    except (OSError, ValueError, KeyError) as error:  # Arrow's own errors are ValueErrors
        raise InputError(f"{file} cannot be read as the queries of a run: {error}") from error


def trace_of(run: Run) -> Trace:
    """The trace a run was offered, as far as it was sent. Raises TraceError if that was nothing."""
    due, names, deadlines = ([getattr(one, key) for one in run.records] for key in ("due", "application", "deadline"))
    if not due:
        raise TraceError(f"run {run.name!r} holds no queries")
    return Trace.of(due, names, deadlines, run.name)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path.parent} is not the folder of a run: {path.name} cannot be read ({reason(error)})"
        ) from error
