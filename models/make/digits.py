"""Make the digits ladder: `python digits.py train --work FOLDER`, then `export` in place of `train`."""

import torch
from augment import shifted, turned
from digits_data import SOURCE, load_split
from family import Family, Member, Variant
from making import MODELS, export_all, options, train_all
from network import Dense, Scale, Shape
from parts import record, write_test_data
from torch import Generator, Tensor
from training import Recipe


def still(images: Tensor, generator: Generator) -> Tensor:
    """Leave the images as they are."""
    return images


def turned_only(images: Tensor, generator: Generator) -> Tensor:
    """Turn and stretch a little: for dense networks, which know no shifts."""
    return turned(images, 0.15, 0.1, generator)


def moved(images: Tensor, generator: Generator) -> Tensor:
    """Turn, stretch and shift a little; never mirror, a mirrored digit is another sign."""
    return shifted(turned(images, 0.2, 0.15, generator), 1, generator)


def recipe(epochs: int) -> Recipe:
    """Return a recipe for 800 images: small batches, full precision, a shorter average."""
    return Recipe(epochs, batch=32, averaging=0.99, half_precision=False)


MEMBERS = {
    "deep": Member(Shape((16, 48, 80), blocks=2, enlarge=4), recipe(50), moved, seed=21),
    "dense": Member(Dense(64, (128,)), recipe(100), turned_only, seed=23),
    "linear": Member(Dense(64), recipe(60), still, seed=24),
}
VARIANTS = {
    "deep": Variant(("deep",)),
    "dense": Variant(("dense",)),
    "linear": Variant(("linear",)),
}
SCALE = Scale(mean=4.88, deviation=6.02)  # of the published pixels, 0..16
DIGITS = Family("digits", 8, SCALE, False, MEMBERS, VARIANTS)


def main() -> None:
    """Train members or export variants; export also writes the test data and the record of the split."""
    chosen = options(DIGITS).parse_intermixed_args()
    torch.set_num_threads(1)
    split = load_split()
    if chosen.step == "train":
        train_all(DIGITS, split, chosen.names, chosen.work)
    else:
        write_test_data(split, record(split, SOURCE, same_source=True), MODELS / "digits")
        export_all(DIGITS, split, chosen.names, chosen.work)


if __name__ == "__main__":
    main()
