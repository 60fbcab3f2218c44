"""Inputs to try a variant with: an application's own test data, or random numbers where it has none."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tidewise.core.application import Application, TensorSpec, TestData
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import RepositoryError, reason
from tidewise.worker.tensors import Array, row_count, select

FREE_AXIS = 8  # length given to an axis that a query may choose
RANDOM_SEED = 7


@dataclass(frozen=True, slots=True)
class Samples:
    """Inputs, rows first, with their labels where they have any. ``source`` names them in error texts."""

    inputs: dict[str, Array]
    source: str
    labels: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return row_count(self.inputs)

    def first(self, rows: int) -> Samples:
        """The first rows."""
        labels = None if self.labels is None else self.labels[:rows]
        return Samples(select(self.inputs, slice(rows)), self.source, labels)

    def spread(self, rows: int) -> Samples:
        """At most ``rows`` of them, evenly over the whole."""
        chosen = np.linspace(0, len(self) - 1, min(rows, len(self))).round().astype(np.int64)
        labels = None if self.labels is None else self.labels[chosen]
        return Samples(select(self.inputs, chosen), self.source, labels)

    def queries(self, count: int) -> list[dict[str, Array]]:
        """``count`` queries of one row, starting again at the first when they run out."""
        return [select(self.inputs, slice(index % len(self), index % len(self) + 1)) for index in range(count)]

    def batches(self, size: int) -> Iterator[Samples]:
        """All of them in order, ``size`` rows at a time."""
        for start in range(0, len(self), size):
            labels = None if self.labels is None else self.labels[start : start + size]
            yield Samples(select(self.inputs, slice(start, start + size)), self.source, labels)


def samples_for(application: Application, folder: Path | None, rows: int) -> Samples:
    """``rows`` inputs: from the test data in the application's folder if it is there, else random."""
    if folder is not None and application.test_data is not None:
        return read_samples(application, application.test_data, folder).first(rows)
    return random_samples(application, rows, np.random.default_rng(RANDOM_SEED))


def read_samples(application: Application, data: TestData, folder: Path) -> Samples:
    """The whole test data. Raises RepositoryError naming what is missing or does not fit the signature."""
    path = folder / data.file
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise RepositoryError(f"{path} cannot be read as test data: {reason(error)}") from error
    names = [one.name for one in application.inputs]
    for name in (*names, data.labels):
        if name not in arrays:
            raise RepositoryError(f"{path} holds no array {name!r}; it holds {', '.join(sorted(arrays))}")
    inputs = {one.name: _fitting(one, arrays[one.name], path) for one in application.inputs}
    labels = arrays[data.labels].astype(np.int64)
    for name, value in inputs.items():
        if len(value) != len(labels):
            raise RepositoryError(f"{path}: {name!r} has {len(value)} rows, but {data.labels!r} has {len(labels)}")
    return Samples(inputs, path.name, labels)


def _fitting(spec: TensorSpec, value: Array, path: Path) -> Array:
    if value.dtype != DATATYPES[spec.datatype] or not spec.accepts(value.shape):
        raise RepositoryError(
            f"{path}: {spec.name!r} is {value.dtype} {list(value.shape)}, but the application takes {spec.datatype}"
            f" {['rows', *spec.shape]}"
        )
    return value


def random_samples(application: Application, rows: int, random: np.random.Generator) -> Samples:
    """Random inputs of the right shapes: bytes over their range, real numbers normal, other whole numbers 0 or 1.

    Whole numbers are often indices, and 0 and 1 are valid ones nearly everywhere.
    """
    return Samples({one.name: _random(one, rows, random) for one in application.inputs}, "random inputs")


def _random(spec: TensorSpec, rows: int, random: np.random.Generator) -> Array:
    shape = (rows, *(FREE_AXIS if axis == -1 else axis for axis in spec.shape))
    dtype = DATATYPES[spec.datatype]
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    return random.integers(0, 256 if dtype == np.uint8 else 2, shape).astype(dtype)
