"""Size and work of an ONNX model: weights, and multiply-adds for one image, by running it once."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import ModelProto, NodeProto, ValueInfoProto

LAYERS = ("Conv", "Gemm", "MatMul")


@dataclass(frozen=True, slots=True)
class Cost:
    """Number of weights and biases, and of floating-point operations for one image."""

    parameters: int
    flops: int


def cost(path: Path) -> Cost:
    """Return the cost of a model that takes one UINT8 `image`."""
    model = onnx.load(path)
    layers = [node for node in model.graph.node if node.op_type in LAYERS]
    shapes = _stored_shapes(model)
    weights = [[_source(model, name) for name in layer.input[1:]] for layer in layers]
    stored = {name: int(np.prod(shapes[name])) for names in weights for name in names}
    outputs = _output_sizes(model, layers)
    works = [
        size * _fan_in(layer, shapes[names[0]]) for layer, size, names in zip(layers, outputs, weights, strict=True)
    ]
    return Cost(sum(stored.values()), 2 * sum(works))


def _stored_shapes(model: ModelProto) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}


def _source(model: ModelProto, name: str) -> str:
    """Follow a weight back through casts and dequantisation to what is stored."""
    makers = {output: node for node in model.graph.node for output in node.output}
    while name in makers:
        name = makers[name].input[0]
    return name


def _fan_in(layer: NodeProto, weight: tuple[int, ...]) -> int:
    if layer.op_type == "Conv":
        return int(np.prod(weight[1:]))
    transposed = any(a.name == "transB" and a.i for a in layer.attribute)
    return weight[1] if transposed else weight[0]


def _output_sizes(model: ModelProto, layers: list[NodeProto]) -> list[int]:
    """Return the number of values each layer answers for one image."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    known = {output.name for output in model.graph.output}
    names = [layer.output[0] for layer in layers]
    probe.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in known)
    running = ort.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    shape = [1, *running.get_inputs()[0].shape[1:]]
    return [int(values.size) for values in running.run(names, {"image": np.zeros(shape, np.uint8)})]
