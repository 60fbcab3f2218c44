"""Processes that must not outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PARENT = "TIDEWISE_PARENT"
_PR_SET_PDEATHSIG = 1


def follow_parent() -> None:
    """If the environment names a parent, ask the kernel for SIGTERM when it dies, and leave if it is already gone.

    Linux only (prctl(2)); elsewhere the supervisor's own shutdown has to do.
    """
    parent = os.environ.pop(PARENT, "")
    if not parent or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit(1)
