"""A query somebody waits for, from its place in the queue to its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from tidewise.worker.answer import Answer, Refused
from tidewise.worker.query import Batch, Part, Query
from tidewise.worker.runner import Piece
from tidewise.worker.tensors import Tensors, assemble, select


@dataclass(slots=True)
class Caller:
    """What was asked, the pieces of the answer that are there, and when its first rows ``started``.

    Of the time before that, the device was idle for ``waited`` seconds; it ``computed`` for so many.
    """

    query: Query
    inputs: Tensors
    outputs: Sequence[str]
    future: asyncio.Future[Answer | Refused]
    started: float | None = None
    waited: float = 0.0
    computed: float = 0.0
    pieces: list[Piece] = field(default_factory=list)

    def start(self, started: float, free: float) -> None:
        """Rows of the query are in a batch started now, on a device that was free since ``free``."""
        if self.started is None:
            self.started = started
            self.waited = started - max(self.query.arrived, free)

    def rows_of(self, part: Part) -> Tensors:
        """The tensors of one part of the query."""
        if part.rows == self.query.rows:
            return self.inputs
        return select(self.inputs, slice(part.start, part.start + part.rows))

    def answer(self, batch: Batch) -> Answer:
        """The whole answer, whose last piece came with this batch."""
        joined = self.pieces[0] if len(self.pieces) == 1 else assemble(self.pieces)
        return Answer(
            outputs={name: joined[name] for name in self.outputs},
            variant=batch.servable.model.variant,
            version=batch.servable.version,
            plan_version=batch.plan_version,
            queued=(batch.started if self.started is None else self.started) - self.query.arrived,
            computed=self.computed,
            batch=batch.rows,
            waited=self.waited,
        )
