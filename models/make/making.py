"""The two steps of making a ladder, shared by garments.py and digits.py: `train` and `export`."""

import argparse
import time
from pathlib import Path

import torch
from export import Served, export
from family import Family, Variant, load_member, train_member
from parts import Part, Split
from quantise import quantise
from storage import store_half
from training import accuracy, answers

MODELS = Path(__file__).resolve().parents[1]
CALIBRATION_IMAGES = 512


def options(family: Family) -> argparse.ArgumentParser:
    """Return the command line; `--work` keeps trained weights between the steps."""
    parser = argparse.ArgumentParser(description=f"Make the {family.application} ladder.")
    parser.add_argument("step", choices=["train", "export"])
    parser.add_argument("names", nargs="*", help="members to train or variants to export; all by default")
    parser.add_argument("--work", type=Path, required=True, help="folder of trained weights")
    return parser


def train_all(family: Family, split: Split, names: list[str], work: Path) -> None:
    """Train members in order and print each one's validation accuracy."""
    work.mkdir(parents=True, exist_ok=True)
    for name in names or list(family.members):
        started = time.monotonic()
        network = train_member(family, name, split.train, work)
        share = on_part(network, split.validation)
        print(f"{name}: validation {share:.4f}, {time.monotonic() - started:.0f} s", flush=True)


def export_all(family: Family, split: Split, names: list[str], work: Path) -> None:
    """Write every variant's model.onnx and print the validation accuracy of its FP32 form."""
    for name in names or list(family.variants):
        variant = family.variants[name]
        networks = [load_member(family, member, work) for member in variant.members]
        served = Served(networks, variant.mirror, variant.sway)
        write_variant(family, variant, served, split.train, MODELS / family.application / name / "model.onnx")
        print(f"{name}: validation {on_part(served, split.validation):.4f} (FP32)", flush=True)


def write_variant(family: Family, variant: Variant, served: Served, train: Part, target: Path) -> None:
    """Export one variant; INT8 is calibrated on the first training images."""
    export(served, family.side, target)
    if variant.int8:
        quantise(target, target, train.images[:CALIBRATION_IMAGES])
    else:
        store_half(target)


def on_part(network: torch.nn.Module, part: Part) -> float:
    """Return the accuracy of a network on a part."""
    return accuracy(answers(network, torch.tensor(part.images)), torch.tensor(part.labels))
