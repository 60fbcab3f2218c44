"""Tensor values given as typed repeated fields (InferTensorContents) instead of raw bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidewise.core.application import TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.tensors import Array

FIELDS = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
}
MOST = 1 << 20  # values of one tensor: each becomes a Python object, and meanwhile the process answers nobody
WIDE = {"int_contents": np.dtype(np.int32), "uint_contents": np.dtype(np.uint32)}


def typed_values(contents: pb.InferTensorContents, spec: TensorSpec, count: int) -> Array:
    """``count`` values of the input's own type, flat. Raises QueryError naming the input."""
    field = FIELDS.get(spec.datatype)
    if field is None:
        raise QueryError(f"input {spec.name!r} is {spec.datatype}, which travels only in raw_input_contents")
    filled = [name.name for name, _ in contents.ListFields()]
    if any(name != field for name in filled):
        raise QueryError(f"input {spec.name!r} is {spec.datatype}, whose values go into {field}, not {filled[0]}")
    values = getattr(contents, field)
    if len(values) != count:
        raise QueryError(f"input {spec.name!r} must hold {count} values by its shape, not {len(values)}")
    if count > MOST:
        raise QueryError(
            f"input {spec.name!r} holds {count} values; more than {MOST} must travel in raw_input_contents"
        )
    dtype = DATATYPES[spec.datatype]
    given = np.fromiter(values, WIDE.get(field, dtype), count)
    if given.dtype != dtype:
        _refuse_overflow(given, spec)
    return given.astype(dtype, copy=False)


def _refuse_overflow(given: NDArray[Any], spec: TensorSpec) -> None:
    limits = np.iinfo(spec.datatype.lower())
    outside = given[(given < limits.min) | (given > limits.max)]
    if len(outside):
        raise QueryError(
            f"input {spec.name!r} is {spec.datatype}, which holds {limits.min} to {limits.max}, not {outside[0]}"
        )
