"""What the solver's process and its owner say to one another: pickles, each after its length in 8 bytes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import BinaryIO

from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import Limits
from tidewise.core.case import Case
from tidewise.core.solution import Solution

READY = "ready"


@dataclass(frozen=True, slots=True)
class Request:
    """One case to solve."""

    case: Case
    method: str
    limits: Limits
    terms: Terms


@dataclass(frozen=True, slots=True)
class Reply:
    """A plan, and whether it is the last for this case; or an error text."""

    solution: Solution | None
    final: bool
    error: str = ""


def write_frame(stream: BinaryIO, value: object) -> None:
    """Send one value."""
    payload = pickle.dumps(value)
    stream.write(len(payload).to_bytes(8, "big") + payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> object | None:
    """The next value, None at the end of the stream."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    value: object = pickle.loads(stream.read(int.from_bytes(head, "big")))
    return value
