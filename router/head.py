"""What a router reads of a query and of an answer: the few small fields at the head, never the tensors.

Small messages are parsed whole. Of large ones the top-level fields are stepped over by their lengths and only numbers 1
to 4 (name, version, id, parameters; the same in request and response) are handed to protobuf. Measured: parsing whole
takes 1.4 us at 1 KB and 16 us at 600 KB and copies the tensors; stepping takes 5 us more than parsing at 1 KB and 8 us
in all whatever the size, and its time and memory are bounded for a message made to hurt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb

WHOLE = 64 * 1024  # bytes up to which a message is parsed whole
LAST_FIELD = 4
MAX_FIELDS = 4096  # top-level fields of one message; more is an attack on the reader's time
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Head:
    """What decides a query's way. ``budget`` is its own ``deadline_ms`` in seconds, None if it has none."""

    application: str
    version: str
    id: str
    budget: float | None


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What the worker says of its answer; times in seconds."""

    version: str
    queued: float
    computed: float
    batch: int


def read_head(body: bytes) -> Head:
    """The head of a serialised ModelInferRequest. Raises QueryError saying what is wrong with it."""
    try:
        message = pb.ModelInferRequest.FromString(head_of(body))
    except (ValueError, IndexError, DecodeError) as error:
        raise QueryError(f"the message is not a ModelInferRequest: {error}") from error
    budget = _budget(message) if message.parameters else None
    return Head(message.model_name, message.model_version, message.id, budget)


def read_answer(body: bytes) -> AnswerHead | None:
    """The head of a serialised ModelInferResponse; None if it cannot be read (the caller gets it as it is)."""
    try:
        message = pb.ModelInferResponse.FromString(head_of(body))
    except (ValueError, IndexError, DecodeError):
        return None
    found = message.parameters
    return AnswerHead(
        version=message.model_version,
        queued=found["queue_us"].int64_param / 1e6,
        computed=found["compute_us"].int64_param / 1e6,
        batch=max(1, found["batch_size"].int64_param),
    )


def _budget(message: pb.ModelInferRequest) -> float | None:
    if "deadline_ms" not in message.parameters:
        return None
    parameter = message.parameters["deadline_ms"]
    kind = parameter.WhichOneof("parameter_choice")
    value = getattr(parameter, kind) if kind in ("int64_param", "uint64_param", "double_param") else math.nan
    if not math.isfinite(value):
        raise QueryError("parameter deadline_ms must be a finite number of milliseconds (int64, uint64 or double)")
    return float(value) / 1e3


def head_of(body: bytes, whole: int = WHOLE) -> bytes:
    """At least the bytes of fields 1 to 4, in whatever order. Raises ValueError or IndexError if it is no message."""
    if len(body) <= whole:
        return body
    position, end = 0, len(body)
    kept: list[bytes] = []
    for _ in range(MAX_FIELDS):
        if position == end:
            return b"".join(kept)
        start = position
        key, position = _varint(body, position)
        position = _skip(body, position, key & 7)
        if position > end:
            raise ValueError("it ends inside a field")
        if 0 < key >> 3 <= LAST_FIELD:
            kept.append(body[start:position])
    if position == end:
        return b"".join(kept)
    raise ValueError(f"it has more than {MAX_FIELDS} fields")


def _skip(body: bytes, position: int, wire_type: int) -> int:
    if wire_type == _BYTES:
        size, position = _varint(body, position)
        return position + size
    if wire_type == _VARINT:
        return _varint(body, position)[1]
    if wire_type in (_FIXED64, _FIXED32):
        return position + (8 if wire_type == _FIXED64 else 4)
    raise ValueError(f"it has a field of wire type {wire_type}")


def _varint(body: bytes, position: int) -> tuple[int, int]:
    byte = body[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for shift in range(7, 70, 7):
        position += 1
        byte = body[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
    raise ValueError("it has a number of more than ten bytes")
