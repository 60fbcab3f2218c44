from __future__ import annotations

import math

import pytest

from tidewise.controller.policies.erlang import erlang_c, wait_bound


def test_with_one_server_a_query_waits_as_often_as_the_server_is_busy() -> None:
    assert erlang_c(1, 0.7) == pytest.approx(0.7)


def test_the_textbook_call_centre() -> None:
    """Ten agents offered eight erlangs: 40.9 % wait."""
    assert erlang_c(10, 8.0) == pytest.approx(0.4092, abs=1e-4)


def test_an_overloaded_pool_makes_everyone_wait_for_ever() -> None:
    assert erlang_c(3, 3.0) == 1.0
    assert wait_bound(3, 31.0, 10.0, 0.99) == math.inf
    assert wait_bound(0, 1.0, 10.0, 0.99) == math.inf


def test_the_bound_is_where_the_tail_of_the_wait_meets_what_certainty_leaves() -> None:
    bound = wait_bound(4, 30.0, 10.0, 0.99)
    assert erlang_c(4, 3.0) * math.exp(-(40.0 - 30.0) * bound) == pytest.approx(0.01)


def test_nobody_waits_where_hardly_anyone_has_to() -> None:
    assert wait_bound(50, 5.0, 10.0, 0.99) == 0.0
