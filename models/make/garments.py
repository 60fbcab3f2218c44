"""Make the garments ladder: `python garments.py train --work FOLDER`, then `export` in place of `train`."""

from functools import partial
from pathlib import Path

import torch
from augment import cut_out, mirrored, shifted
from family import Family, Member, Variant
from garments_data import FOLDER, SOURCE, load_split
from making import MODELS, export_all, options, train_all
from network import Scale, Shape
from parts import record, write_test_data
from torch import Generator, Tensor
from training import Recipe


def strong(images: Tensor, generator: Generator) -> Tensor:
    """Mirror, shift by up to 2 pixels, cut out an 8-pixel square: for networks that could memorise."""
    return cut_out(shifted(mirrored(images, generator), 2, generator), 8, generator)


def mild(images: Tensor, generator: Generator) -> Tensor:
    """Mirror only: for networks too small to memorise."""
    return mirrored(images, generator)


student = partial(Recipe, teacher_share=0.8, weight_decay=0.01)

MEMBERS = {
    "wide": Member(Shape((24, 48, 96, 128), blocks=1), Recipe(24), strong, seed=1),
    "slim": Member(Shape((16, 32, 64, 96), blocks=1), Recipe(24), strong, seed=2),
    "small": Member(Shape((8, 16, 32, 64), blocks=1), student(8), mild, seed=7, teachers=("slim",)),
    "tiny": Member(Shape((8, 16, 32), blocks=1, stem_stride=2), student(8), mild, seed=8, teachers=("slim",)),
    "nano": Member(Shape((4, 8, 16), blocks=0, stem_stride=2), student(24), mild, seed=9, teachers=("slim",)),
}
VARIANTS = {
    "xl": Variant(("wide", "slim"), mirror=True, sway=True),
    "xl-int8": Variant(("wide", "slim"), mirror=True, sway=True, int8=True),
    "l": Variant(("wide",), mirror=True),
    "ml-int8": Variant(("wide",), int8=True),
    "m-int8": Variant(("slim",), int8=True),
    "s": Variant(("small",)),
    "xs": Variant(("tiny",)),
    "nano": Variant(("nano",)),
}
SCALE = Scale(mean=72.94, deviation=90.02)  # of the published training pixels
GARMENTS = Family("garments", 28, SCALE, True, MEMBERS, VARIANTS)


def main() -> None:
    """Train members or export variants; export also writes the test data and the record of the split."""
    parser = options(GARMENTS)
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder with the four .gz files")
    chosen = parser.parse_intermixed_args()
    torch.set_num_threads(1)
    split = load_split(chosen.data)
    if chosen.step == "train":
        train_all(GARMENTS, split, chosen.names, chosen.work)
    else:
        write_test_data(split, record(split, SOURCE, same_source=False), MODELS / "garments")
        export_all(GARMENTS, split, chosen.names, chosen.work)


if __name__ == "__main__":
    main()
