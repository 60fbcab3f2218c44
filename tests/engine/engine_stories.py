"""The characters of the engine stories: an application of two variants on pictures of sixteen pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.profile import BatchLatency, VariantProfile
from tidewise.worker.engine.base import Session, Tensors
from tidewise.worker.tensors import Array

SMALL = Variant("small", 1, "small.onnx")
LARGE = Variant("large", 2, "large.onnx")
PICTURES = Application(
    name="pictures",
    slo=0.1,
    variants=(SMALL, LARGE),
    inputs=(TensorSpec("image", "UINT8", (1, 4, 4)),),
    outputs=(TensorSpec("logits", "FP32", (3,)),),
)


def entry(variant: Variant = SMALL, device_type: str = "big", **seconds: float) -> VariantProfile:
    """A profile with these medians: entry(b1=0.01, b8=0.04)."""
    batches = tuple(BatchLatency(int(size[1:]), p50, p50 * 1.2) for size, p50 in seconds.items())
    return VariantProfile(PICTURES.name, variant.name, device_type, batches)


def text_application() -> Application:
    return replace(
        PICTURES,
        name="text",
        inputs=(TensorSpec("ids", "INT64", (-1,)), TensorSpec("mask", "INT64", (-1,))),
        outputs=(TensorSpec("states", "FP16", (-1, 4)), TensorSpec("score", "FP32", ())),
    )


class Altered:
    """A session whose answers are changed on their way out by ``change(inputs, output)``."""

    def __init__(self, inner: Session, change: Callable[[Tensors, Array], Array]) -> None:
        self.inner = inner
        self.change = change

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, Array]:
        answer = self.inner.run(inputs, outputs)
        return {name: self.change(inputs, value.copy()) for name, value in answer.items()}

    def close(self) -> None:
        self.inner.close()
