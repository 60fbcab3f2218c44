"""What a router claims is believed only as far as it can be true."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.controller.credible import MOST_AT_ONCE, MOST_PER_SECOND, credible
from tidewise.core.report import RouterReport
from tidewise.core.routes import Tally


def told(seconds: float, arrivals: int, revision: int = 7) -> RouterReport:
    return credible(RouterReport("r", "127.0.0.1:1", revision, (Tally("a", seconds, arrivals), Tally("b", 0.25, 10))))


def test_a_busy_routers_report_is_believed_as_it_is() -> None:
    report = RouterReport("r", "127.0.0.1:1", 7, (Tally("a", 0.25, 25_000, {"on_time": 25_000}), Tally("b", 0.0, 3)))
    assert credible(report) is report


@pytest.mark.parametrize(
    ("seconds", "arrivals"),
    [(-0.25, 10), (math.nan, 10), (math.inf, 10), (0.25, 2**64 - 1), (0.25, -5), (1e-300, 10_000), (1e300, 10**18)],
)
def test_a_tally_that_cannot_be_is_left_out_and_the_others_stay(seconds: float, arrivals: int) -> None:
    found = told(seconds, arrivals)
    assert [one.application for one in found.tallies] == ["b"]
    assert found.applied_revision == 7


def test_a_revision_that_no_controller_has_given_is_not_gone_on_from() -> None:
    found = told(0.25, 10, revision=2**64 - 1)
    assert found.applied_revision == 0
    assert len(found.tallies) == 2


@given(seconds=st.floats(), arrivals=st.integers())
def test_what_is_believed_bounds_the_rate(seconds: float, arrivals: int) -> None:
    for one in told(seconds, arrivals).tallies:
        assert 0 <= one.arrivals <= MOST_PER_SECOND * one.seconds + MOST_AT_ONCE
