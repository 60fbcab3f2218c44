"""JSON lines on standard error, one object a line: what every Tidewise process logs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from types import TracebackType

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, part, event, and whatever was given as ``extra``."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": self.part,
            "event": record.getMessage(),
        }
        values |= {key: value for key, value in vars(record).items() if key not in _OWN}
        if record.exc_info:
            values["error"] = self.formatException(record.exc_info)
        return json.dumps(values, default=str)


def callers_stayed(record: logging.LogRecord) -> bool:
    """False for gRPC's word that an answer could not be sent since its caller had hung up: callers may."""
    if not record.name.startswith("grpc"):
        return True
    from grpc.aio import InternalError  # which must not be imported before its environment is set

    return not (record.exc_info and isinstance(record.exc_info[1], InternalError))


def start_logging(part: str, *, verbose: bool = False) -> None:
    """Send every record of the process to standard error as JSON lines; ``part`` says which process speaks."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(part))
    handler.addFilter(callers_stayed)
    logging.basicConfig(handlers=[handler], level=logging.DEBUG if verbose else logging.INFO, force=True)
    sys.excepthook = _log_fault


def started_logging() -> bool:
    """Whether this process writes JSON lines."""
    return any(isinstance(one.formatter, JsonLines) for one in logging.getLogger().handlers)


def _log_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A fault of ours ends the process: the last line of its log says so, as JSON too."""
    logging.getLogger("tidewise").critical("ended by a fault", exc_info=(kind, error, trace))
