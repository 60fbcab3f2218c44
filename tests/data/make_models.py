"""Makes the tiny models the engine tests run: python tests/data/make_models.py (needs the onnx package)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper, save

FOLDER = Path(__file__).parent / "engine"
TYPES = {
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "fp16": TensorProto.FLOAT16,
    "fp32": TensorProto.FLOAT,
    "fp64": TensorProto.DOUBLE,
}


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: dict[str, np.ndarray] | None = None,
) -> ModelProto:
    weights = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    return made


def tensor(name: str, kind: int, *shape: int | str) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def classifier(hidden: int, noise: float = 0.0) -> ModelProto:
    """Bytes [N, 1, 4, 4] to three logits: which third of the picture is brightest, more or less."""
    random = np.random.default_rng(hidden)
    weight = np.zeros((16, 3), np.float32)
    weight[np.arange(16), np.arange(16) * 3 // 16] = 1 / 255
    weight += random.normal(0, noise, weight.shape).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["image"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["real"], ["flat"]),
        helper.make_node("MatMul", ["flat", "up"], ["wide"]),
        helper.make_node("MatMul", ["wide", "down"], ["back"]),
        helper.make_node("MatMul", ["back", "weight"], ["logits"]),
    ]
    up = np.linalg.qr(random.normal(size=(hidden, 16)))[0].T.astype(np.float32)
    return model(
        nodes,
        [tensor("image", TensorProto.UINT8, "n", 1, 4, 4)],
        [tensor("logits", TensorProto.FLOAT, "n", 3)],
        {"up": up, "down": up.T.copy(), "weight": weight},
    )


def every_type() -> ModelProto:
    """One input and one output of every numeric type, passed through."""
    return model(
        [helper.make_node("Identity", [name], [f"{name}_out"]) for name in TYPES],
        [tensor(name, kind, "n", "length") for name, kind in TYPES.items()],
        [tensor(f"{name}_out", kind, "n", "length") for name, kind in TYPES.items()],
    )


def masked_sum() -> ModelProto:
    """Two inputs with a free axis to two outputs without one: the sum of unmasked values, and how many there are."""
    nodes = [
        helper.make_node("Cast", ["mask"], ["factor"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["values", "factor"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "axis"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "axis"], ["count"], keepdims=0),
    ]
    return model(
        nodes,
        [tensor("values", TensorProto.FLOAT, "n", "length"), tensor("mask", TensorProto.INT64, "n", "length")],
        [tensor("sum", TensorProto.FLOAT, "n"), tensor("count", TensorProto.INT64, "n")],
        {"axis": np.array([1])},
    )


def leaky_rows() -> ModelProto:
    """A faulty classifier: every row's answer depends on the other rows of its batch."""
    nodes = [
        helper.make_node("Cast", ["image"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["real"], ["flat"]),
        helper.make_node("ReduceMean", ["flat"], ["mean"], axes=[0], keepdims=1),
        helper.make_node("Sub", ["flat", "mean"], ["centred"]),
        helper.make_node("MatMul", ["centred", "weight"], ["logits"]),
    ]
    return model(
        nodes,
        [tensor("image", TensorProto.UINT8, "n", 1, 4, 4)],
        [tensor("logits", TensorProto.FLOAT, "n", 3)],
        {"weight": np.eye(16, 3, dtype=np.float32)},
    )


def heavy() -> ModelProto:
    """Two million weights and a large activation, from a file of a few hundred bytes."""
    fill = numpy_helper.from_array(np.array([0.001], np.float32))
    nodes = [
        helper.make_node("ConstantOfShape", ["shape_up"], ["up"], value=fill),
        helper.make_node("ConstantOfShape", ["shape_down"], ["down"], value=fill),
        helper.make_node("MatMul", ["x", "up"], ["wide"]),
        helper.make_node("Relu", ["wide"], ["active"]),
        helper.make_node("MatMul", ["active", "down"], ["y"]),
    ]
    return model(
        nodes,
        [tensor("x", TensorProto.FLOAT, "n", 512)],
        [tensor("y", TensorProto.FLOAT, "n", 512)],
        {"shape_up": np.array([512, 2048]), "shape_down": np.array([2048, 512])},
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    save(classifier(16, noise=0.0015), FOLDER / "small.onnx")
    save(classifier(256), FOLDER / "large.onnx")
    save(every_type(), FOLDER / "every_type.onnx")
    save(masked_sum(), FOLDER / "masked_sum.onnx")
    save(leaky_rows(), FOLDER / "leaky_rows.onnx")
    save(heavy(), FOLDER / "heavy.onnx")
