"""The handwritten digits that scikit-learn ships (1,797 images of 8x8 pixels), and their fixed split."""

import numpy as np
from parts import Part, Split, disjoint_split, whole
from sklearn.datasets import load_digits

SOURCE = "scikit-learn load_digits; a fixed stratified draw"
SPLIT_SEED = 20240608
TEST_IMAGES, VALIDATION_IMAGES = 797, 200


def load_split() -> Split:
    """Return the fixed split: 800 training, 200 validation and 797 test images, each digit in proportion."""
    published = whole(*_pixels_and_labels())
    rank = stratified_rank(published)
    test, validation = rank < TEST_IMAGES, rank >= len(rank) - VALIDATION_IMAGES
    train = ~test & ~validation
    parts = [published.take(np.flatnonzero(chosen)) for chosen in (train, validation, test)]
    return disjoint_split(*parts)


def _pixels_and_labels() -> tuple[np.ndarray, np.ndarray]:
    digits = load_digits()
    return digits.images.astype(np.uint8)[:, None], digits.target


def stratified_rank(part: Part) -> np.ndarray:
    """Return each image's place in an order in which every stretch holds all labels in proportion."""
    shuffled = np.random.default_rng(SPLIT_SEED).permutation(len(part.labels))
    quantile = np.empty(len(part.labels))
    for label in np.unique(part.labels):
        mine = shuffled[part.labels[shuffled] == label]
        quantile[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.argsort(np.argsort(quantile, kind="stable"), kind="stable")
