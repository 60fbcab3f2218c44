"""The solver's process: reads cases from standard input, writes solutions to standard output, dies with its parent.

Frames are a length (8 bytes, little-endian) and a pickle; both ends are this program, one the child of the other.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import sys
from typing import BinaryIO

LENGTH = struct.Struct("<Q")
PR_SET_PDEATHSIG = 1
NICENESS = 5  # queries come first


def frame(value: object) -> bytes:
    """A value as a frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def main() -> None:
    """Answer cases until standard input ends. Whatever a solver prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the whole group; the parent decides
    _die_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    from tidewise.controller.policies import allocate  # slow to import; the parent waits for the first frame

    _send(answers, "ready")
    while (header := sys.stdin.buffer.read(LENGTH.size)) and len(header) == LENGTH.size:
        case, method, limits = pickle.loads(sys.stdin.buffer.read(LENGTH.unpack(header)[0]))
        try:
            _send(answers, allocate(case, method, limits))
        except Exception as error:  # the parent keeps its last plan and says why
            _send(answers, f"{type(error).__name__}: {error}")


def _die_with_parent() -> None:
    """Without a word, in the midst of a solve too (Linux, prctl(2)); elsewhere at the next read or write."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _send(stream: BinaryIO, value: object) -> None:
    stream.write(frame(value))
    stream.flush()


if __name__ == "__main__":
    main()
