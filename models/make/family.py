"""A family of networks: which there are, how each is taught, and the variants made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from network import Dense, Network, Scale, Shape
from parts import Part
from torch import Tensor, nn
from training import Augment, Lesson, Recipe, answers, train


@dataclass(frozen=True, slots=True)
class Member:
    """One network and how it is taught; teachers are names of other members of the family."""

    shape: Shape | Dense
    recipe: Recipe
    augment: Augment
    seed: int
    teachers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """One served model: the mean answer of some members over some views of the image, maybe in INT8.

    `sway` adds the image moved one pixel left and right, `mirror` the mirror image of every view.
    """

    members: tuple[str, ...]
    mirror: bool = False
    sway: bool = False
    int8: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Everything that is made for one application; `symmetric` says that a mirror image keeps its label."""

    application: str
    side: int
    scale: Scale
    symmetric: bool
    members: Mapping[str, Member]
    variants: Mapping[str, Variant]


def load_member(family: Family, name: str, work: Path) -> nn.Module:
    """Return a trained network, ready to answer."""
    network = Network(family.members[name].shape, family.scale)
    network.load_state_dict(torch.load(work / f"{name}.pt", weights_only=True))
    return network.eval()


def teach(family: Family, teachers: tuple[str, ...], images: Tensor, work: Path) -> Tensor | None:
    """Return the teachers' mean logits of the training images, or None without teachers."""
    voices = [_voice(family, name, images, work) for name in teachers]
    return torch.stack(voices).mean(0) if voices else None


def _voice(family: Family, name: str, images: Tensor, work: Path) -> Tensor:
    kept = work / f"{name}.voice.pt"
    if not kept.is_file():
        network = load_member(family, name, work)
        views = (images, images.flip(3)) if family.symmetric else (images,)
        torch.save(torch.stack([answers(network, view) for view in views]).mean(0), kept)
    voice: Tensor = torch.load(kept, weights_only=True)
    return voice


def train_member(family: Family, name: str, part: Part, work: Path) -> nn.Module:
    """Train one member from its seed and keep its weights as `<work>/<name>.pt`."""
    member = family.members[name]
    torch.manual_seed(member.seed)
    images = torch.tensor(part.images)
    lesson = Lesson(images, torch.tensor(part.labels), teach(family, member.teachers, images, work))
    network = train(Network(member.shape, family.scale), lesson, member.recipe, member.augment, member.seed)
    (work / f"{name}.voice.pt").unlink(missing_ok=True)
    torch.save(network.state_dict(), work / f"{name}.pt")
    return network
