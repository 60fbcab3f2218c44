"""Train one network: one-cycle AdamW, smoothed labels, optional teacher, and an average of late weights."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

Augment = Callable[[Tensor, Generator], Tensor]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How long and how hard one network is trained."""

    epochs: int
    peak_rate: float = 6e-3
    batch: int = 128
    weight_decay: float = 0.03
    smoothing: float = 0.05
    averaging: float = 0.997
    teacher_share: float = 0.7
    temperature: float = 2.0
    half_precision: bool = True


@dataclass(frozen=True, slots=True)
class Lesson:
    """Images uint8 [n, 1, h, w], labels [n] and, where there is one, the teacher's logits [n, 10]."""

    images: Tensor
    labels: Tensor
    teacher: Tensor | None = None


def train(network: nn.Module, lesson: Lesson, recipe: Recipe, augment: Augment, seed: int) -> nn.Module:
    """Return the averaged network after the recipe; the same seed gives the same draws."""
    network.train().to(memory_format=torch.channels_last)
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.averaging), use_buffers=True)
    optimizer = torch.optim.AdamW(network.parameters(), recipe.peak_rate / 25, weight_decay=recipe.weight_decay)
    steps = recipe.epochs * (len(lesson.labels) // recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.peak_rate, total_steps=steps)
    generator = Generator().manual_seed(seed)
    started = time.monotonic()
    for step, chosen in enumerate(batches(len(lesson.labels), recipe, generator), start=1):
        loss = batch_loss(network, lesson, chosen, recipe, augment(lesson.images[chosen].float(), generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        averaged.update_parameters(network)
        if step % 100 == 0 or step == steps:
            print(f"  step {step}/{steps} loss {loss.item():.4f} {time.monotonic() - started:.0f} s", flush=True)
    return averaged.module.eval().to(memory_format=torch.contiguous_format)


def batches(count: int, recipe: Recipe, generator: Generator) -> Iterator[Tensor]:
    """Yield the indices of every full batch of every epoch."""
    for _ in range(recipe.epochs):
        order = torch.randperm(count, generator=generator)
        yield from order[: count - count % recipe.batch].split(recipe.batch)


def batch_loss(network: nn.Module, lesson: Lesson, chosen: Tensor, recipe: Recipe, images: Tensor) -> Tensor:
    """Return the loss of one batch: labels, mixed with the teacher's softened answers if there is one."""
    with torch.autocast("cpu", torch.bfloat16, enabled=recipe.half_precision):
        logits = network(images.contiguous(memory_format=torch.channels_last)).float()
    hard = functional.cross_entropy(logits, lesson.labels[chosen], label_smoothing=recipe.smoothing)
    if lesson.teacher is None:
        return hard
    heat = recipe.temperature
    wanted = functional.softmax(lesson.teacher[chosen] / heat, 1)
    soft = functional.cross_entropy(logits / heat, wanted) * heat**2
    return (1 - recipe.teacher_share) * hard + recipe.teacher_share * soft


@torch.no_grad()
def answers(network: nn.Module, images: Tensor, batch: int = 500) -> Tensor:
    """Return the logits of every image, in order."""
    return torch.cat([network(part) for part in images.split(batch)])


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Return the fraction of rows whose largest logit is the label's."""
    return (logits.argmax(1) == labels).float().mean().item()
