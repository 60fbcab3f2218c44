"""How a task that keeps a call to the controller learns that it is to end."""

from __future__ import annotations

import asyncio


def told_to_end() -> bool:
    """Whether this task was cancelled. A call that breaks at that very moment ends with gRPC's error instead."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
