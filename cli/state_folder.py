"""The state folder of a local cluster: one cluster at a time, known by its process, and what a killed one left.

up.lock     held (flock) by the process that runs the cluster, whose id stands in it; free once that process is gone
up.json     the cluster's addresses and process ids; there without a lock being held, it is of a cluster that was killed
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil

from tidewise.core.errors import InputError, TidewiseError

STATE_FILE = "up.json"
LOCK_FILE = "up.lock"
LOOKS, LOOK_SECONDS = 5, 0.05
ORPHAN_SECONDS = 10.0  # children of a killed cluster drain and end; what has not by then is killed


@contextmanager
def holding(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Keep the folder to this process, after what a killed cluster left in it is put away.

    Raises InputError naming the process that holds it.
    """
    with (folder / LOCK_FILE).open("a+", encoding="utf-8") as lock:
        if not _take(lock):
            raise InputError(_taken(folder))
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        put_away(folder, say)
        try:
            yield
        finally:
            (folder / STATE_FILE).unlink(missing_ok=True)


def _take(lock: IO[str]) -> bool:
    """Take the lock; those who only look whether it is held (``holder``) have it for a moment."""
    for _ in range(LOOKS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_SECONDS)
        else:
            return True
    return False


def refuse_held(folder: Path) -> None:
    """Raise InputError if a process holds the folder."""
    if holder(folder) is not None:
        raise InputError(_taken(folder))


def holder(folder: Path) -> int | None:
    """The process that holds this folder, None if none does. One that holds it has written its id, or is about to."""
    for _ in range(LOOKS):
        try:
            with (folder / LOCK_FILE).open(encoding="utf-8") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    if text := lock.read().strip():
                        return int(text)
                else:
                    return None
        except FileNotFoundError:
            return None
        time.sleep(LOOK_SECONDS)
    raise TidewiseError(f"{folder / LOCK_FILE} is held by a process that does not say which it is; end it first")


def put_away(folder: Path, say: Callable[[str], None]) -> bool:
    """End what a killed cluster left running and forget it; the folder must be nobody's. True if there was one."""
    try:
        values = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    say(f"the last cluster with state folder {folder} (process {values.get('pid')}) was killed; putting away its rest")
    orphans = [found for pid in values.get("children", {}).values() if (found := _orphan(pid, folder)) is not None]
    for one in orphans:
        one.terminate()
    _, left = psutil.wait_procs(orphans, timeout=ORPHAN_SECONDS)
    for one in left:
        one.kill()
    psutil.wait_procs(left, timeout=ORPHAN_SECONDS)
    (folder / STATE_FILE).unlink(missing_ok=True)
    return True


def _orphan(pid: int, folder: Path) -> psutil.Process | None:
    """The process of this id if it is still a child of the folder's cluster; ids are given anew to others."""
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
    except psutil.Error:
        return None
    return process if any(str(folder.resolve()) in word for word in words) else None


def _taken(folder: Path) -> str:
    return (
        f"state folder {folder} is in use by the cluster of process {holder(folder)}; stop it with"
        f" `tidewise down --state {folder}`, or give another --state"
    )
