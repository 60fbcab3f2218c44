"""The solver's process: reads requests from standard input, answers on standard output, dies with its parent.

Every case is answered twice: at once with the fast plan, later with the best one. Whatever a solver prints goes to
standard error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import BinaryIO

PR_SET_PDEATHSIG = 1
NICENESS = 5  # queries come first


def main() -> None:
    """Answer requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the whole group; the parent decides
    _die_with_parent()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    from tidewise.controller.exchange import READY, Request, read_frame, write_frame  # slow: it imports the solvers

    write_frame(replies, READY)  # what the parent waits for
    while isinstance(request := read_frame(sys.stdin.buffer), Request):
        _answer(request, replies)


def _answer(request: object, replies: BinaryIO) -> None:
    from tidewise.controller.exchange import Reply, Request, write_frame
    from tidewise.controller.policies import allocate, allocate_fast

    assert isinstance(request, Request)
    try:
        write_frame(replies, Reply(allocate_fast(request.case, request.terms), final=request.method == "fast"))
        if request.method != "fast":
            best = allocate(request.case, request.method, request.limits, request.terms)
            write_frame(replies, Reply(best, final=True))
    except Exception as error:  # the parent keeps its last plan and says why
        write_frame(replies, Reply(None, final=True, error=f"{type(error).__name__}: {error}"))


def _die_with_parent() -> None:
    """Without a word, in the midst of a solve too (Linux, prctl(2)); elsewhere at the next read or write."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
