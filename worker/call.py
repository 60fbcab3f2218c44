"""What a query's caller says beside the query: which device it wants, and by what name it can be found again."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import grpc

from tidewise.core.loss import REQUEST_ID, TRACE_PARENT, Loss
from tidewise.core.outcome import OUTCOME_OF_REASON
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.admission import WORKER_KEY
from tidewise.worker.answer import Refused

Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """``device`` is the one named, None if none is; ``metadata`` is the call's own."""

    device: str | None
    metadata: Iterable[tuple[str, str | bytes]] = ()

    @classmethod
    def of(cls, context: Context) -> Call:
        """What this call says."""
        metadata = context.invocation_metadata() or ()
        for key, value in metadata:
            if key == WORKER_KEY:
                return cls(value if isinstance(value, str) else value.decode(errors="replace"), metadata)
        return cls(None, metadata)

    def value(self, key: str) -> str:
        """The metadata's value, "" if there is none."""
        return next((str(value) for name, value in self.metadata if name == key), "")

    def loss(self, request: pb.ModelInferRequest, refused: Refused, label: str, worker: str) -> Loss:
        """Its query's end without an answer, for the log."""
        return Loss(
            label=label,
            application=request.model_name,
            outcome=OUTCOME_OF_REASON[refused.reason],
            reason=refused.reason,
            sentence=refused.text,
            request_id=self.value(REQUEST_ID) or request.id or uuid.uuid4().hex[:12],
            query_id=request.id,
            worker=worker,
            traceparent=self.value(TRACE_PARENT),
        )
