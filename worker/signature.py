"""Whether a model file fits the signature its application promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import onnxruntime

from tidewise.core.application import Application, TensorSpec, Variant

_ONNX_TYPES = {
    "BOOL": "tensor(bool)",
    "FP16": "tensor(float16)",
    "FP32": "tensor(float)",
    "FP64": "tensor(double)",
} | {f"{sign}{bits}": f"tensor({sign.lower()}{bits})" for sign in ("INT", "UINT") for bits in (8, 16, 32, 64)}


def signature_faults(model: Path, variant: Variant, application: Application) -> list[str]:
    """One sentence for each way in which the model file breaks the application's signature; empty if it fits.

    A file that is no ONNX model is such a way.
    """
    where = f"{application.name}/{variant.name} ({model})"
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return [f"{where} is not a loadable ONNX model: {str(error).splitlines()[0]}"]
    inputs = _faults(where, "input", application.inputs, session.get_inputs(), complete=True)
    outputs = _faults(where, "output", application.outputs, session.get_outputs(), complete=False)
    return [*inputs, *outputs]


def _faults(
    where: str, kind: str, promised: Sequence[TensorSpec], found: Sequence[Any], *, complete: bool
) -> Iterator[str]:
    """``complete``: the model may have no tensor of this kind beyond those promised."""
    by_name = {one.name: one for one in found}
    for spec in promised:
        if spec.name not in by_name:
            yield f"{where} has no {kind} {spec.name!r}; it has {', '.join(map(repr, by_name))}"
        else:
            yield from _tensor_faults(where, kind, spec, by_name[spec.name])
    for name in set(by_name) - {spec.name for spec in promised} if complete else ():
        yield f"{where} needs {kind} {name!r}, which application.toml does not name"


def _tensor_faults(where: str, kind: str, spec: TensorSpec, found: Any) -> Iterator[str]:
    if found.type != _ONNX_TYPES[spec.datatype]:
        yield f"{where}: {kind} {spec.name!r} is {found.type}, but application.toml says {spec.datatype}"
    batch, *rest = found.shape or [None]
    if isinstance(batch, int):
        yield f"{where}: {kind} {spec.name!r} has the fixed batch axis {batch}; export it with a dynamic first axis"
    if len(rest) != len(spec.shape) or any(
        isinstance(have, int) and want not in (-1, have) for want, have in zip(spec.shape, rest, strict=False)
    ):
        want_shape = list(spec.shape)
        yield f"{where}: {kind} {spec.name!r} is {rest} after the batch axis, but application.toml says {want_shape}"
