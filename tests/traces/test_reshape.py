"""Traces made from traces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_trace_format import traces

from tidewise.core.errors import TraceError
from tidewise.core.trace import Trace
from tidewise.traces import arrivals, rates, reshape
from tidewise.traces.statistics import dispersion, per_second


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def poisson(rate: float = 100, seconds: int = 60, seed: int = 1) -> Trace:
    curves = {"a": rates.constant(seconds, rate * 0.7), "b": rates.constant(seconds, rate * 0.3)}
    return arrivals.generate(curves, {"a": 0.1, "b": 0.2}, 1.0, generator(seed))


def test_thinning_keeps_the_share_asked_for_in_order() -> None:
    trace = poisson()
    kept = reshape.thinned(trace, 0.3, generator())
    assert len(kept) / len(trace) == pytest.approx(0.3, abs=0.02)
    assert np.isin(kept.arrival, trace.arrival).all() and np.all(np.diff(kept.arrival) >= 0)


@settings(max_examples=50)
@given(trace=traces(), peak=st.integers(1, 200), seed=st.integers(0, 100))
def test_scaling_brings_every_second_in_proportion(trace: Trace, peak: int, seed: int) -> None:
    before = per_second(trace)
    scaled = reshape.scaled(trace, peak, generator(seed))
    after = np.bincount(scaled.arrival.astype(int), minlength=len(before))
    assert after.max() == peak
    assert np.abs(after - before * peak / before.max()).max() < 1 + 1e-9
    assert np.all(np.diff(scaled.arrival) >= 0) and scaled.arrival.min() >= 0


@pytest.mark.parametrize("peak", [40, 400])
def test_scaling_a_poisson_trace_leaves_it_poisson(peak: int) -> None:
    scaled = dispersion(reshape.scaled(poisson(), peak, generator()).arrival)
    assert scaled == pytest.approx(1.0, abs=0.15)


def test_scaling_keeps_the_mix_and_the_deadlines() -> None:
    scaled = reshape.scaled(poisson(), 500, generator())
    assert len(scaled.arrivals_of("a")) / len(scaled) == pytest.approx(0.7, abs=0.03)
    assert set(scaled.deadline[scaled.application == 1]) == {0.2}


def test_a_cut_counts_from_its_own_start() -> None:
    trace = Trace.of([0.5, 1.5, 2.5, 3.5], ["a", "b", "a", "a"], 0.1)
    part = reshape.cut(trace, 1, 3)
    assert part.arrival.tolist() == [0.5, 1.5]
    assert part.names == ("a", "b")


def test_a_repeated_trace_follows_itself_a_whole_second_later() -> None:
    twice = reshape.repeated(Trace.of([0.5, 1.5], ["a", "b"], 0.1), 2)
    assert twice.arrival.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert twice.application.tolist() == [0, 1, 0, 1]


def test_two_applications_may_take_one_name() -> None:
    trace = Trace.of([0.0, 1.0, 2.0], ["a", "b", "c"], 0.1)
    renamed = reshape.renamed(trace, {"a": "z", "c": "z"})
    assert renamed.names == ("b", "z")
    assert renamed.arrivals_of("z").tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    "attempt",
    [
        lambda trace: reshape.thinned(trace, 0.0, generator()),
        lambda trace: reshape.thinned(trace, 1.5, generator()),
        lambda trace: reshape.scaled(trace, 0, generator()),
        lambda trace: reshape.cut(trace, 3, 2),
        lambda trace: reshape.repeated(trace, 0),
        lambda trace: reshape.repeated(trace, 2, period=1.0),
        lambda trace: reshape.renamed(trace, {"nobody": "x"}),
    ],
)
def test_what_cannot_be_done_is_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TraceError):
        attempt(Trace.of([0.5, 1.5], ["a", "b"], 0.1))
