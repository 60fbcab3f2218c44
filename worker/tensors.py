"""Rows of several queries made into one batch, and a batch's outputs cut back into each query's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import EngineError

Array = NDArray[np.generic]
Tensors = Mapping[str, Array]


def assemble(queries: Sequence[Tensors], pad_to: int = 0) -> dict[str, Array]:
    """The tensors of one batch: the queries' rows in order, then copies of the last row up to ``pad_to`` rows.

    Every query holds the same names, each with rows first and the same trailing shape and type. Copies of a real row
    pad better than zeros, which need not be a valid input. One query that needs no padding is not copied.
    """
    padding = pad_to - sum(map(row_count, queries))
    if len(queries) == 1 and padding <= 0:
        return dict(queries[0])
    return {name: _column([query[name] for query in queries], padding) for name in queries[0]}


def _column(parts: list[Array], padding: int) -> Array:
    if padding > 0:
        parts += [parts[-1][-1:]] * padding
    return np.concatenate(parts)


def split(outputs: Tensors, rows: Sequence[int]) -> list[dict[str, Array]]:
    """Each query's rows of a batch's outputs, as views; padding is left behind.

    ``rows`` are the queries' row counts in the order they were assembled. Raises EngineError if an output has fewer
    rows than the batch.
    """
    total = sum(rows)
    for name, value in outputs.items():
        if value.ndim == 0 or len(value) < total:
            raise EngineError(f"output {name!r} has shape {list(value.shape)} for a batch of {total} rows")
    ends = accumulate(rows)
    return [
        {name: value[end - count : end] for name, value in outputs.items()}
        for end, count in zip(ends, rows, strict=True)
    ]


def row_count(tensors: Tensors) -> int:
    """Rows of one query: the length of its tensors' first axis."""
    return len(next(iter(tensors.values())))


def select(tensors: Tensors, rows: slice | NDArray[np.int64]) -> dict[str, Array]:
    """The same tensors with only these rows."""
    return {name: value[rows] for name, value in tensors.items()}
