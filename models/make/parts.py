"""Images with labels, and the split into training, validation and test that may never overlap."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.uint8]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Images as uint8 [n, 1, h, w] and labels as int64 [n]; `indices` are their places in the source."""

    images: Images
    labels: Labels
    indices: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> "Part":
        """Return the part made of these places, in their order."""
        return Part(self.images[places], self.labels[places], self.indices[places])

    def digest(self) -> str:
        """Return the SHA-256 of the pixels and labels, in order."""
        return hashlib.sha256(self.images.tobytes() + self.labels.astype(np.uint8).tobytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Split:
    """Learn on `train`, choose on `validation`, report on `test`."""

    train: Part
    validation: Part
    test: Part


def whole(images: Images, labels: Labels) -> Part:
    """Return a part that holds a source entirely."""
    return Part(images, labels.astype(np.int64), np.arange(len(labels)))


def disjoint_split(train: Part, validation: Part, test: Part) -> Split:
    """Return the split after dropping from training what occurs elsewhere, pixel for pixel."""
    split = Split(_without(train, (validation, test)), _without(validation, (test,)), test)
    assert_disjoint(split)
    return split


def _without(part: Part, others: tuple[Part, ...]) -> Part:
    seen = set().union(*(image_digests(other.images) for other in others))
    kept = [place for place, digest in enumerate(image_digests(part.images)) if digest not in seen]
    return part.take(np.array(kept))


def image_digests(images: Images) -> list[bytes]:
    """Return one digest of each image's pixels."""
    return [hashlib.blake2b(image.tobytes(), digest_size=16).digest() for image in images]


def assert_disjoint(split: Split) -> None:
    """Raise AssertionError when an image occurs in two parts."""
    sets = [set(image_digests(part.images)) for part in (split.train, split.validation, split.test)]
    assert not sets[0] & sets[1], "training images also occur in validation"
    assert not sets[0] & sets[2], "training images also occur in test"
    assert not sets[1] & sets[2], "validation images also occur in test"


def record(split: Split, source: str, same_source: bool) -> dict[str, object]:
    """Return what `split.json` holds: sizes, digests, and the indices that tell the parts apart.

    Training indices are what the other parts of the same source leave over, so they are not listed.
    """
    indices = {"validation": split.validation.indices.tolist()}
    if same_source:
        indices["test"] = split.test.indices.tolist()
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    described = {name: {"count": len(part.labels), "sha256": part.digest()} for name, part in parts.items()}
    return {"schema_version": 1, "source": source, "parts": described, "indices": indices}


def write_test_data(split: Split, described: dict[str, object], folder: Path) -> None:
    """Write `test.npz` and `split.json` into an application's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = split.test.labels.astype(np.uint8)
    np.savez_compressed(folder / "test.npz", image=split.test.images, labels=labels)
    (folder / "split.json").write_text(json.dumps(described) + "\n")
