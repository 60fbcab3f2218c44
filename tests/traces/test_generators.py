"""Rate curves and arrival processes: the shape asked for, the clumping asked for, and nothing but the seed decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.core.errors import TraceError
from tidewise.traces import arrivals, rates
from tidewise.traces.mix import shares, zipf
from tidewise.traces.rates import Spike
from tidewise.traces.statistics import dispersion, per_second


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_diurnal_curve_ebbs_to_low_and_rises_to_high() -> None:
    curve = rates.diurnal(100, low=10, high=50, cycles=2)
    assert curve.min() == pytest.approx(10, abs=0.1)
    assert curve.max() == pytest.approx(50, abs=0.1)
    assert curve[25] == pytest.approx(50, abs=0.1) and curve[50] == pytest.approx(10, abs=0.1)


def test_a_spike_multiplies_the_curve_where_it_stands() -> None:
    curve = rates.with_spikes(rates.constant(60, 10), [Spike(at=30.5, height=3, width=1)])
    assert curve[30] == pytest.approx(30)
    assert curve[0] == pytest.approx(10)


def test_drift_grows_the_curve_to_its_end_and_never_below_zero() -> None:
    assert rates.with_drift(rates.constant(10, 10), 0.5)[-1] == pytest.approx(15)
    assert rates.with_drift(rates.constant(10, 10), -2.0).min() == 0


def test_noise_leaves_the_mean_and_is_smooth() -> None:
    curve = rates.with_noise(rates.constant(5000, 100), spread=0.2, memory=10, rng=generator())
    assert curve.mean() == pytest.approx(100, rel=0.1)
    assert curve.std() == pytest.approx(20, rel=0.3)
    assert np.abs(np.diff(curve)).mean() < curve.std() / 1.5


def test_the_tide_has_two_swells_and_a_sharp_spike_and_reaches_its_peak() -> None:
    curve = rates.tide(90, 300, generator(3))
    assert curve.max() == pytest.approx(300)
    assert curve[15:30].max() > 220 and curve[60:75].max() > 220
    assert curve[43:47].max() > 1.7 * curve[39] and curve[43:47].max() > 1.7 * curve[50]


def test_every_length_of_tide_can_be_made() -> None:
    for seconds in (1, 2, 5, 20, 600):
        assert len(rates.tide(seconds, 10, generator())) == seconds


def test_a_curve_that_is_zero_everywhere_has_no_peak_to_scale() -> None:
    with pytest.raises(TraceError, match="zero everywhere"):
        rates.with_peak(rates.constant(5, 0), 10)


def test_zipf_weights_fall_with_rank_and_sum_to_one() -> None:
    weights = zipf(["a", "b", "c"], 1.0)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["a"] == pytest.approx(2 * weights["b"]) == pytest.approx(3 * weights["c"])


@pytest.mark.parametrize("weights", [{}, {"a": 0.0}, {"a": -1.0, "b": 2.0}, {"a": float("nan")}])
def test_weights_that_cannot_be_shares_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(TraceError):
        shares(weights)


@pytest.mark.parametrize("cv", [0.0, 0.3, 1.0, 2.0, 4.47])
def test_a_renewal_process_has_the_rate_asked_for(cv: float) -> None:
    counts = [len(arrivals.renewal(rates.constant(60, 200), cv, generator(seed))) for seed in range(6)]
    assert np.mean(counts) == pytest.approx(12_000, rel=0.01 + 0.03 * cv)


def test_the_rate_follows_the_curve() -> None:
    curve = rates.diurnal(50, low=20, high=400)
    times = arrivals.renewal(curve, arrivals.POISSON, generator())
    seen = np.bincount(times.astype(int), minlength=50)
    assert np.abs(seen - curve).max() < 5 * np.sqrt(400)
    assert np.corrcoef(seen, curve)[0, 1] > 0.98


@pytest.mark.parametrize("make", ["renewal", "placed"])
def test_clumping_is_none_uniform_one_poisson_and_much_for_gamma(make: str) -> None:
    def clumping(cv: float) -> float:
        if make == "renewal":
            times = arrivals.renewal(rates.constant(100, 200), cv, generator())
        else:
            times = arrivals.placed(np.full(100, 200), cv, generator())
        found = dispersion(times)
        assert found is not None
        return found

    assert clumping(0.0) < 0.1
    assert clumping(0.5) == pytest.approx(0.25, abs=0.15)
    assert clumping(1.0) == pytest.approx(1.0, abs=0.15)
    assert clumping(4.47) > 5


@settings(max_examples=50)
@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=30),
    cv=st.sampled_from([0.0, 0.2, 1.0, 4.47, 15.0]),
    seed=st.integers(0, 1000),
)
def test_placed_arrivals_keep_the_count_of_every_second(counts: list[int], cv: float, seed: int) -> None:
    times = arrivals.placed(np.array(counts), cv, generator(seed))
    assert np.all(np.diff(times) >= 0)
    assert np.bincount(times.astype(int), minlength=len(counts)).tolist() == counts


@settings(max_examples=50)
@given(
    levels=st.lists(st.floats(0, 50), min_size=1, max_size=20),
    cv=st.sampled_from([0.0, 0.2, 1.0, 4.47]),
    seed=st.integers(0, 1000),
)
def test_renewal_arrivals_ascend_within_the_curve(levels: list[float], cv: float, seed: int) -> None:
    times = arrivals.renewal(np.array(levels), cv, generator(seed))
    assert np.all(np.diff(times) >= 0)
    assert not len(times) or (times[0] >= 0 and times[-1] <= len(levels))


def test_the_same_seed_gives_the_same_trace() -> None:
    def made(seed: int) -> list[float]:
        curves = rates.split(rates.tide(20, 50, generator(seed)), {"a": 2, "b": 1})
        return arrivals.generate(curves, {"a": 0.1, "b": 0.2}, 1.0, generator(seed)).arrival.tolist()

    assert made(4) == made(4)
    assert made(4) != made(5)


def test_applications_keep_their_weights_and_deadlines() -> None:
    curves = rates.split(rates.constant(60, 200), {"a": 3, "b": 1})
    trace = arrivals.generate(curves, {"a": 0.1, "b": 0.2}, 1.0, generator())
    assert len(trace.arrivals_of("a")) / len(trace) == pytest.approx(0.75, abs=0.02)
    assert set(trace.deadline[trace.application == trace.names.index("b")]) == {0.2}


def test_an_application_without_a_deadline_is_named() -> None:
    with pytest.raises(TraceError, match="'a' has no deadline"):
        arrivals.generate({"a": rates.constant(5, 10)}, {}, 1.0, generator())


def test_a_trace_without_arrivals_is_refused() -> None:
    with pytest.raises(TraceError, match="no arrivals"):
        arrivals.fill({"a": np.zeros(5, dtype=np.int64)}, {"a": 0.1}, 1.0, generator())


@pytest.mark.parametrize("cv", [-1.0, 0.001, 100.0, float("nan")])
def test_a_clumping_out_of_range_is_refused(cv: float) -> None:
    with pytest.raises(TraceError, match="coefficient of variation"):
        arrivals.renewal(rates.constant(5, 10), cv, generator())


def test_an_exact_fill_has_the_counts_asked_for() -> None:
    trace = arrivals.fill({"a": np.array([3, 0, 5]), "b": np.array([1, 1, 1])}, {"a": 1, "b": 1}, 1.0, generator())
    assert per_second(trace, "a").tolist() == [3, 0, 5]
    assert per_second(trace).tolist() == [4, 1, 6]
