"""Halve a model file: large weights are stored in FP16 and cast back to FP32 when the model is loaded."""

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

SMALLEST = 1024  # elements; below this a cast node costs more than it saves


def store_half(path: Path) -> None:
    """Rewrite the model in place; every arithmetic stays in FP32 (the casts fold away at load)."""
    model = onnx.load(path)
    for tensor in list(model.graph.initializer):
        if tensor.data_type == TensorProto.FLOAT and int(np.prod(tensor.dims)) >= SMALLEST:
            _halve(model, tensor)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def _halve(model: ModelProto, tensor: TensorProto) -> None:
    name, stored = tensor.name, f"{tensor.name}.half"
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), stored))
    model.graph.node.insert(0, helper.make_node("Cast", [stored], [name], f"{name}.cast", to=TensorProto.FLOAT))
