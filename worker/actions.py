"""What a device machine asks of whoever drives it, real or simulated. Not frozen, since every query makes some."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.outcome import Reason
from tidewise.worker.hosting import Load, Report, Unload
from tidewise.worker.query import Batch, Query


@dataclass(slots=True)
class Start:
    """Run this batch, then say ``batch_done``. At most one runs at a time."""

    batch: Batch


@dataclass(slots=True)
class Answered:
    """The query's last rows came with this batch; send the answer."""

    query: Query
    batch: Batch


@dataclass(slots=True)
class Ended:
    """The query ends without an answer."""

    query: Query
    reason: Reason
    text: str = ""


Action = Start | Answered | Ended | Load | Unload | Report

__all__ = ["Action", "Answered", "Ended", "Load", "Report", "Start", "Unload"]
