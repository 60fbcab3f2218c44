from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.errors import EngineError
from tidewise.worker.tensors import assemble, row_count, split

ROWS = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def query(rows: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {"x": random.normal(size=(rows, 3)).astype(np.float32), "ids": random.integers(0, 9, (rows, 2))}


@given(rows=ROWS, padding=st.integers(0, 4))
def test_every_query_gets_back_exactly_its_rows(rows: list[int], padding: int) -> None:
    queries = [query(count, seed) for seed, count in enumerate(rows)]
    batch = assemble(queries, pad_to=sum(rows) + padding)
    assert row_count(batch) == sum(rows) + padding
    for sent, got in zip(queries, split(batch, rows), strict=True):
        for name in sent:
            np.testing.assert_array_equal(got[name], sent[name], strict=True)


def test_padding_repeats_the_last_row() -> None:
    batch = assemble([query(2, 0), query(1, 1)], pad_to=5)
    np.testing.assert_array_equal(batch["x"][3:], np.repeat(query(1, 1)["x"], 2, axis=0))


def test_a_lone_query_is_not_copied() -> None:
    lone = query(2, 0)
    assert assemble([lone])["x"] is lone["x"]


def test_an_output_without_a_row_for_each_query_is_an_engine_error() -> None:
    with pytest.raises(EngineError, match=r"'score' has shape \[2\] for a batch of 3 rows"):
        split({"score": np.zeros(2)}, [1, 2])
    with pytest.raises(EngineError, match="'score'"):
        split({"score": np.float32(0.5).reshape(())}, [1])
