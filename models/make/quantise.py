"""INT8 sibling of an exported variant: static, per channel, calibrated on training images only."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Calibration(CalibrationDataReader):
    """Feeds images in batches of 32."""

    def __init__(self, images: NDArray[np.uint8]) -> None:
        self.batches: Iterator[NDArray[np.uint8]] = iter(np.array_split(images, len(images) // 32))

    def get_next(self) -> dict[str, NDArray[np.uint8]] | None:
        """Return the next batch, or None at the end."""
        batch = next(self.batches, None)
        return None if batch is None else {"image": batch}


def quantise(source: Path, target: Path, images: NDArray[np.uint8]) -> None:
    """Write the INT8 sibling of `source`: convolutions and the head in INT8, the rest as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared))
        quantize_static(
            str(prepared),
            str(target),
            Calibration(images),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            op_types_to_quantize=["Conv", "Add", "Gemm"],
        )
