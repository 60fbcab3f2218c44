"""What the solver's process and its owner say to one another: pickles, each after its length in 8 bytes.

Both ends are this program, one the child of the other.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from typing import BinaryIO

from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import Limits
from tidewise.controller.policies.policy import Answer, Problem

LENGTH = struct.Struct("<Q")
READY = "ready"


@dataclass(frozen=True, slots=True)
class Request:
    """One case to solve."""

    case: Problem
    method: str = "auto"
    limits: Limits = field(default_factory=Limits)
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Reply:
    """A plan, and whether it is the last for this case; or an error text."""

    answer: Answer | None
    final: bool
    error: str = ""


def frame(value: object) -> bytes:
    """A value as a frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def write_frame(stream: BinaryIO, value: object) -> None:
    """Send one value."""
    stream.write(frame(value))
    stream.flush()


def read_frame(stream: BinaryIO) -> object | None:
    """The next value, None at the end of the stream."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    value: object = pickle.loads(stream.read(LENGTH.unpack(head)[0]))
    return value
