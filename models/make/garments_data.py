"""Fashion-MNIST from the folder of the Debian package dataset-fashion-mnist, and its fixed split."""

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from parts import Part, Split, disjoint_split, whole

FOLDER = Path("/usr/share/datasets/fashion-mnist")
SOURCE = "Fashion-MNIST; test is the published test set, validation a fixed draw from the training set"
SPLIT_SEED = 20240607
VALIDATION_IMAGES = 5000
HINT = "install it with `apt-get install dataset-fashion-mnist`, or name the folder with the four .gz files"


def load_split(folder: Path = FOLDER) -> Split:
    """Return the fixed split: 55,000 training, 5,000 validation and 10,000 test images."""
    published = read_part(folder, "train")
    order = np.random.default_rng(SPLIT_SEED).permutation(len(published.labels))
    validation, train = np.sort(order[:VALIDATION_IMAGES]), np.sort(order[VALIDATION_IMAGES:])
    return disjoint_split(published.take(train), published.take(validation), read_part(folder, "t10k"))


def read_part(folder: Path, stem: str) -> Part:
    """Read `<stem>-images-idx3-ubyte.gz` and its labels from the folder."""
    images = _bytes_after(folder / f"{stem}-images-idx3-ubyte.gz", header=16).reshape(-1, 1, 28, 28)
    return whole(images, _bytes_after(folder / f"{stem}-labels-idx1-ubyte.gz", header=8))


def _bytes_after(path: Path, header: int) -> NDArray[np.uint8]:
    if not path.is_file():
        raise SystemExit(f"{path} is missing: {HINT}")
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)
