"""A ModelInferRequest into tensors, checked against the application's signature.

Every error names the tensor, says what was expected, and is a QueryError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidewise.core.application import Application, TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.contents import typed_values
from tidewise.worker.tensors import Array

Input = pb.ModelInferRequest.InferInputTensor
IGNORED_PARAMETERS = frozenset({"binary_data", "binary_data_size"})  # of the HTTP form; without meaning here
SHOWN = 80  # characters of a caller's text that an error message repeats


@dataclass(frozen=True, slots=True)
class Signature:
    """An application's signature, made ready for checking many queries."""

    application: str
    inputs: Mapping[str, TensorSpec]
    outputs: tuple[str, ...]
    free: tuple[str, ...]  # inputs with an axis whose length a query may choose

    @classmethod
    def of(cls, application: Application) -> Signature:
        """The application's signature."""
        return cls(
            application=application.name,
            inputs={one.name: one for one in application.inputs},
            outputs=tuple(one.name for one in application.outputs),
            free=tuple(one.name for one in application.inputs if -1 in one.shape),
        )


@dataclass(frozen=True, slots=True)
class Decoded:
    """A query's tensors by name, its rows, and the outputs it wants.

    ``shapes`` are the trailing shapes of the inputs with a free axis: queries batch only with their like.
    """

    inputs: dict[str, Array]
    rows: int
    outputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]


def decode(request: pb.ModelInferRequest, signature: Signature) -> Decoded:
    """The request's tensors. Raises QueryError."""
    given: Sequence[Input] = request.inputs
    raw: Sequence[bytes] = request.raw_input_contents
    if raw and len(raw) != len(given):
        raise QueryError(
            f"raw_input_contents holds {len(raw)} tensors, but inputs names {len(given)}; give all inputs raw or none"
        )
    inputs: dict[str, Array] = {}
    for place, tensor in enumerate(given):
        spec = _spec_of(tensor, signature)
        if tensor.name in inputs:
            raise QueryError(f"input {tensor.name!r} is given twice")
        inputs[tensor.name] = _value(tensor, spec, raw[place] if raw else None)
    if len(inputs) < len(signature.inputs):
        raise QueryError(f"input {_missing(inputs, signature)} is missing; {_expected_inputs(signature)}")
    rows = _common_rows(inputs)
    shapes = tuple(inputs[name].shape[1:] for name in signature.free)
    return Decoded(inputs, rows, _outputs(request, signature), shapes)


def _spec_of(tensor: Input, signature: Signature) -> TensorSpec:
    spec = signature.inputs.get(tensor.name)
    if spec is None:
        raise QueryError(
            f"application {signature.application!r} has no input {tensor.name[:SHOWN]!r}; {_expected_inputs(signature)}"
        )
    if tensor.datatype != spec.datatype:
        raise QueryError(f"input {spec.name!r} must be {spec.datatype}, not {tensor.datatype[:SHOWN]!r}")
    _refuse_parameters(tensor.parameters, f"input {spec.name!r}")
    return spec


def _value(tensor: Input, spec: TensorSpec, raw: bytes | None) -> Array:
    shape = tuple(tensor.shape)
    if not spec.accepts(shape):
        expected = [-1, *spec.shape]
        raise QueryError(f"input {spec.name!r} must have shape {expected} (rows first), not {list(shape)}")
    if raw is None:
        return typed_values(tensor.contents, spec, math.prod(shape)).reshape(shape)
    if tensor.HasField("contents"):
        raise QueryError(f"input {spec.name!r} is given both in contents and in raw_input_contents; give it once")
    return _raw_value(raw, spec, shape)


def _raw_value(raw: bytes, spec: TensorSpec, shape: tuple[int, ...]) -> Array:
    dtype = DATATYPES[spec.datatype]
    expected = math.prod(shape) * dtype.itemsize
    if len(raw) != expected:
        raise QueryError(
            f"input {spec.name!r} of shape {list(shape)} and type {spec.datatype} must hold {expected} bytes, not"
            f" {len(raw)}"
        )
    if spec.datatype == "BOOL":  # any byte but 0 is true; other values would be undefined behind numpy
        return np.not_equal(np.frombuffer(raw, np.uint8), 0).reshape(shape)
    value: Array = np.frombuffer(raw, dtype)
    return value.reshape(shape)


def _common_rows(inputs: Mapping[str, Array]) -> int:
    if len(inputs) == 1:
        return len(next(iter(inputs.values())))
    lengths = {name: len(value) for name, value in inputs.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {rows}" for name, rows in lengths.items())
        raise QueryError(f"all inputs must have the same number of rows, but {listed}")
    return next(iter(lengths.values()))


def _outputs(request: pb.ModelInferRequest, signature: Signature) -> tuple[str, ...]:
    if not request.outputs:
        return signature.outputs
    names: list[str] = []
    for output in request.outputs:
        if output.name not in signature.outputs:
            known = ", ".join(map(repr, signature.outputs))
            raise QueryError(
                f"application {signature.application!r} has no output {output.name[:SHOWN]!r}; it has {known}"
            )
        if output.name in names:
            raise QueryError(f"output {output.name!r} is asked for twice")
        _refuse_parameters(output.parameters, f"output {output.name!r}")
        names.append(output.name)
    return tuple(names)


def _refuse_parameters(parameters: Mapping[str, pb.InferParameter], where: str) -> None:
    for name in parameters:
        if name not in IGNORED_PARAMETERS:
            raise QueryError(f"{where}: parameter {name[:SHOWN]!r} is not supported (nor are shared memory regions)")


def _missing(inputs: Mapping[str, Array], signature: Signature) -> str:
    return next(repr(name) for name in signature.inputs if name not in inputs)


def _expected_inputs(signature: Signature) -> str:
    return "expected " + ", ".join(_described(signature))


def _described(signature: Signature) -> Iterator[str]:
    for spec in signature.inputs.values():
        yield f"{spec.name!r} ({spec.datatype} {[-1, *spec.shape]})"
