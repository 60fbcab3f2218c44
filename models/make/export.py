"""Turn trained networks into one served ONNX graph: UINT8 `image` -> FP32 `logits`, free batch axis."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

OPSET = 17


def views(pixels: Tensor, mirror: bool, sway: bool) -> list[Tensor]:
    """Return the images; if `sway`, also moved a pixel left and right; if `mirror`, each mirrored too."""
    seen = [pixels]
    if sway:
        padded = nn.functional.pad(pixels, (1, 1, 0, 0))
        seen += [padded[..., :-2], padded[..., 2:]]
    return seen + [view.flip(3) for view in seen] if mirror else seen


class Served(nn.Module):
    """Mean logits of some networks over some views of an image.

    The views ride in one batch, so that each network's weights are stored once.
    """

    def __init__(self, networks: Sequence[nn.Module], mirror: bool = False, sway: bool = False) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.mirror, self.sway = mirror, sway

    def forward(self, image: Tensor) -> Tensor:
        """Return float logits [n, 10] of uint8 images [n, 1, h, w]."""
        seen = views(image.float(), self.mirror, self.sway)
        batch = torch.cat(seen) if len(seen) > 1 else seen[0]
        voices = [network(batch) for network in self.networks]
        logits: Tensor = sum(voices[1:], voices[0])
        if len(seen) > 1:
            logits = logits.reshape(len(seen), -1, 10).sum(0)
        count = len(voices) * len(seen)
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
