"""Turn trained networks into one served ONNX graph: UINT8 `image` -> FP32 `logits`, free batch axis."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

OPSET = 17


class Served(nn.Module):
    """Average the logits of some networks, each asked about the image and, if told, its mirror too.

    The mirror rides in the same batch, so its weights are stored once.
    """

    def __init__(self, networks: Sequence[nn.Module], mirror: bool) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.mirror = mirror

    def forward(self, image: Tensor) -> Tensor:
        """Return float logits [n, 10] of uint8 images [n, 1, h, w]."""
        pixels = image.float()
        views = torch.cat([pixels, pixels.flip(3)]) if self.mirror else pixels
        voices = [network(views) for network in self.networks]
        logits: Tensor = sum(voices[1:], voices[0])
        if self.mirror:
            logits = logits.reshape(2, -1, 10).sum(0)
        count = len(voices) * (2 if self.mirror else 1)
        return logits / count if count > 1 else logits


def export(served: nn.Module, side: int, path: Path) -> None:
    """Write the graph for images of this side; batch normalisation is folded into the convolutions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    example = torch.zeros((2, 1, side, side), dtype=torch.uint8)
    axes = {"image": {0: "batch"}, "logits": {0: "batch"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracing exporter announces its age on every call
        torch.onnx.export(
            served.eval(),
            (example,),
            str(path),
            input_names=["image"],
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
    onnx.checker.check_model(str(path), full_check=True)
