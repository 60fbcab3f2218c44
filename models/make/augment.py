"""Random views of a training batch: mirror, shift and cut-out, one draw for each image."""

import torch
from torch import Generator, Tensor


def mirrored(images: Tensor, generator: Generator) -> Tensor:
    """Mirror each image left to right with probability one half."""
    flip = torch.rand(len(images), generator=generator) < 0.5
    return torch.where(flip[:, None, None, None], images.flip(3), images)


def shifted(images: Tensor, reach: int, generator: Generator) -> Tensor:
    """Shift each image by up to `reach` pixels both ways, zeros entering at the border."""
    count, _, height, width = images.shape
    padded = torch.nn.functional.pad(images[:, 0], (reach,) * 4)
    offsets = torch.randint(0, 2 * reach + 1, (2, count), generator=generator)
    rows = offsets[0][:, None] + torch.arange(height)
    columns = offsets[1][:, None] + torch.arange(width)
    return padded[torch.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]][:, None]


def cut_out(images: Tensor, side: int, generator: Generator) -> Tensor:
    """Blacken a square of `side` pixels somewhere in each image, partly outside it at the borders."""
    count, _, height, width = images.shape
    centres = torch.rand((2, count), generator=generator)
    rows = (torch.arange(height) - (centres[0] * height)[:, None]).abs() < side / 2
    columns = (torch.arange(width) - (centres[1] * width)[:, None]).abs() < side / 2
    return images.masked_fill((rows[:, :, None] & columns[:, None, :])[:, None], 0)


def turned(images: Tensor, angle: float, stretch: float, generator: Generator) -> Tensor:
    """Turn each image by up to `angle` radians and stretch it by up to the fraction `stretch`."""
    count = len(images)
    draws = torch.rand((3, count), generator=generator) * 2 - 1
    turn, scales = draws[0] * angle, 1 + draws[1:] * stretch
    cosine, sine, zero = turn.cos(), turn.sin(), torch.zeros(count)
    rows = [[cosine * scales[0], -sine * scales[0], zero], [sine * scales[1], cosine * scales[1], zero]]
    maps = torch.stack([torch.stack(row, 1) for row in rows], 1)
    grid = torch.nn.functional.affine_grid(maps, list(images.shape), align_corners=False)
    return torch.nn.functional.grid_sample(images, grid, align_corners=False)
