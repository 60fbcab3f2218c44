"""How a query ends for its caller: an answer or a refusal, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidewise.core.outcome import Reason
from tidewise.worker.tensors import Array


@dataclass(frozen=True, slots=True)
class Answer:
    """A query's outputs, and how they came about.

    ``queued`` and ``computed`` are seconds; for ``waited`` of the former the device was idle.
    """

    outputs: Mapping[str, Array]
    variant: str
    version: int
    plan_version: int
    queued: float
    computed: float
    batch: int
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer: why, and in a sentence for the caller."""

    reason: Reason
    text: str
