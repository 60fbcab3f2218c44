"""What runs in the solver's own process: read a case, answer with the fast plan, then with the best plan.

Standard output belongs to the answers alone: whatever a solver prints goes to standard error.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from tidewise.controller.allocation.exchange import READY, Reply, Request, read_frame, write_frame
from tidewise.controller.allocation.solve import solve
from tidewise.core.errors import TidewiseError


def answer(request: Request, replies: BinaryIO) -> None:
    """The fast plan at once, the best plan when it is found."""
    try:
        if request.method != "fast":
            write_frame(replies, Reply(solve(request.case, method="fast", terms=request.terms), final=False))
        best = solve(request.case, method=request.method, limits=request.limits, terms=request.terms)
        write_frame(replies, Reply(best, final=True))
    except TidewiseError as error:
        write_frame(replies, Reply(None, final=True, error=str(error)))


def main() -> None:
    """Serve requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    write_frame(replies, READY)
    while isinstance(request := read_frame(sys.stdin.buffer), Request):
        answer(request, replies)
