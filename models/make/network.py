"""The networks both ladders are cut from: one convolutional family, and dense ones for the cheapest rungs."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Shape:
    """One member of the convolutional family.

    `widths` are the channels of the stem and of each stage. The stem moves by `stem_stride`; each stage
    halves the image and adds `blocks` residual blocks. `enlarge` scales the image up first.
    """

    widths: tuple[int, ...]
    blocks: int
    stem_stride: int = 1
    kernel: int = 3
    enlarge: int = 1


@dataclass(frozen=True, slots=True)
class Dense:
    """A network of fully connected layers; no hidden layer makes it a linear softmax."""

    pixels: int
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and deviation of the training pixels (0..255), taken off inside the network."""

    mean: float
    deviation: float


def conv_norm(inputs: int, outputs: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    """Return a convolution with batch normalisation and no activation."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """Two 3x3 convolutions around a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = conv_norm(width, width)
        self.second = conv_norm(width, width)

    def forward(self, values: Tensor) -> Tensor:
        """Return values of the same shape."""
        return torch.relu(values + self.second(torch.relu(self.first(values))))


class Mean(nn.Module):
    """Mean over the image, [n, c, h, w] -> [n, c]."""

    def forward(self, values: Tensor) -> Tensor:
        """Return one value for each channel."""
        return values.mean((2, 3))


def convolutional(shape: Shape) -> nn.Sequential:
    """Return stem and stages, ending in [n, last width]."""
    layers: list[nn.Module] = []
    if shape.enlarge > 1:
        layers.append(nn.Upsample(scale_factor=shape.enlarge, mode="bilinear"))
    layers += [conv_norm(1, shape.widths[0], shape.stem_stride, shape.kernel), nn.ReLU()]
    for inputs, outputs in zip(shape.widths, shape.widths[1:], strict=False):
        layers += [conv_norm(inputs, outputs, 2), nn.ReLU()]
        layers += [Residual(outputs) for _ in range(shape.blocks)]
    return nn.Sequential(*layers, Mean())


def dense(shape: Dense) -> nn.Sequential:
    """Return the hidden layers, ending in [n, last hidden width or pixels]."""
    layers: list[nn.Module] = [nn.Flatten()]
    for inputs, outputs in zip((shape.pixels, *shape.hidden), shape.hidden, strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class Network(nn.Module):
    """Features and a linear head: float pixels [n, 1, h, w] in 0..255 -> logits [n, 10]."""

    def __init__(self, shape: Shape | Dense, scale: Scale) -> None:
        super().__init__()
        self.scale = scale
        self.features = convolutional(shape) if isinstance(shape, Shape) else dense(shape)
        width = shape.widths[-1] if isinstance(shape, Shape) else (shape.pixels, *shape.hidden)[-1]
        self.head = nn.Linear(width, 10)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the logits of a batch."""
        logits: Tensor = self.head(self.features((pixels - self.scale.mean) / self.scale.deviation))
        return logits
