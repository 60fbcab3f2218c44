"""The honest metrics: worked by hand, and what must hold whatever the records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.record import QueryRecord
from tidewise.core.scorecard import (
    accuracy_drop,
    effective_accuracy,
    on_time_accuracy_per_arrival,
    per_application,
    quantile,
    scorecard,
    violation_ratio,
)

BEST = {"a": 0.9, "b": 0.8}
VARIANTS = {"a": {"top": 0.9, "mid": 0.81, "low": 0.45}, "b": {"top": 0.8, "low": 0.4}}


def record(
    outcome: Outcome = Outcome.ON_TIME,
    variant: str = "top",
    application: str = "a",
    due: float = 0.0,
    latency: float = 0.1,
) -> QueryRecord:
    answered = outcome in (Outcome.ON_TIME, Outcome.LATE)
    return QueryRecord(
        application=application,
        due=due,
        sent=due,
        ended=due + latency,
        deadline=0.2,
        outcome=outcome,
        variant=variant if answered else "",
        accuracy=VARIANTS[application][variant] if answered else None,
    )


@st.composite
def any_record(draw: st.DrawFn) -> QueryRecord:
    application = draw(st.sampled_from(["a", "b"]))
    return record(
        outcome=draw(st.sampled_from(Outcome)),
        variant=draw(st.sampled_from(sorted(VARIANTS[application]))),
        application=application,
        due=draw(st.floats(0, 100)),
        latency=draw(st.floats(0, 2)),
    )


runs = st.lists(any_record(), max_size=60)


def test_a_small_run_worked_by_hand() -> None:
    run = [
        record(),
        record(variant="mid"),
        record(Outcome.LATE, variant="low", latency=0.5),
        record(Outcome.DROPPED),
        record(Outcome.REFUSED),
    ]
    card = scorecard(run, BEST)
    assert card.arrivals == 5
    assert card.outcomes == {"on_time": 2, "late": 1, "dropped": 1, "refused": 1, "failed": 0}
    assert card.violation_ratio == 0.6
    assert card.effective_accuracy == pytest.approx((1.0 + 0.9) / 2)
    assert card.on_time_accuracy_per_arrival == pytest.approx(0.95 * 0.4)
    assert card.queries_per_variant == {"a/low": 1, "a/mid": 1, "a/top": 1}
    assert (card.latency_p50, card.latency_p99) == (0.1, 0.5)


def test_a_late_answer_is_a_violation_and_its_accuracy_does_not_count() -> None:
    card = scorecard([record(Outcome.LATE, variant="low"), record()], BEST)
    assert (card.violation_ratio, card.effective_accuracy) == (0.5, 1.0)


def test_accuracy_is_normalised_to_each_applications_best() -> None:
    assert effective_accuracy([record(), record(application="b")], BEST) == pytest.approx(1.0)
    assert effective_accuracy([record(variant="low"), record(application="b", variant="low")], BEST) == 0.5


def test_the_drop_is_that_of_the_worst_ten_seconds_by_when_queries_were_due() -> None:
    run = [record(due=1.0), record(due=9.9), record(due=12.0, variant="low"), record(due=19.0), record(due=21.0)]
    assert accuracy_drop(run, BEST) == pytest.approx(1 - (0.5 + 1.0) / 2)
    assert accuracy_drop(run, BEST, window=30.0) == pytest.approx(1 - (4 + 0.5) / 5)


def test_windows_without_a_timely_answer_do_not_count_for_the_drop() -> None:
    assert accuracy_drop([record(), record(Outcome.DROPPED, due=15.0)], BEST) == 0.0


def test_a_run_without_any_query_has_no_accuracy_and_no_violations() -> None:
    card = scorecard([], BEST)
    assert (card.arrivals, card.violation_ratio, card.effective_accuracy, card.accuracy_drop) == (0, 0.0, None, None)
    assert (card.latency_p50, card.on_time_accuracy_per_arrival) == (None, 0.0)


def test_a_run_without_a_timely_answer_is_worth_nothing() -> None:
    card = scorecard([record(Outcome.FAILED)], BEST)
    assert (card.violation_ratio, card.effective_accuracy, card.on_time_accuracy_per_arrival) == (1.0, None, 0.0)


def test_a_variant_of_unknown_accuracy_counts_as_served_but_not_for_accuracy() -> None:
    card = scorecard([replace(record(), accuracy=None), record(variant="mid")], BEST)
    assert card.effective_accuracy == pytest.approx(0.9)
    assert card.queries_per_variant == {"a/mid": 1, "a/top": 1}


@given(runs)
def test_outcomes_sum_to_arrivals_and_ratios_are_fractions(run: list[QueryRecord]) -> None:
    card = scorecard(run, BEST)
    assert sum(card.outcomes.values()) == card.arrivals == len(run)
    assert 0 <= card.violation_ratio <= 1
    assert 0 <= card.on_time_accuracy_per_arrival <= 1 + 1e-12
    if card.effective_accuracy is not None and card.accuracy_drop is not None:
        assert 0 <= card.effective_accuracy <= 1 + 1e-12
        assert -1e-12 <= card.accuracy_drop <= 1
        assert 1 - card.accuracy_drop <= card.effective_accuracy + 1e-12, "the worst window is no better than the mean"


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(run: list[QueryRecord], random: object) -> None:
    shuffled = list(run)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert scorecard(shuffled, BEST) == scorecard(run, BEST)


@given(runs)
def test_dropping_queries_cannot_improve_on_time_accuracy_per_arrival(run: list[QueryRecord]) -> None:
    served = [one for one in run if one.outcome is Outcome.ON_TIME]
    if served:
        worst = min(served, key=lambda one: (one.accuracy or 0) / BEST[one.application])
        less = [record(Outcome.DROPPED, application=one.application) if one is worst else one for one in run]
        before, after = scorecard(run, BEST), scorecard(less, BEST)
        assert after.on_time_accuracy_per_arrival <= before.on_time_accuracy_per_arrival + 1e-12
        assert after.violation_ratio > before.violation_ratio


@given(runs)
def test_on_time_accuracy_per_arrival_is_the_timely_accuracy_over_all_arrivals(run: list[QueryRecord]) -> None:
    earned = sum((one.accuracy or 0) / BEST[one.application] for one in run if one.outcome is Outcome.ON_TIME)
    expected = earned / len(run) if run else 0.0
    assert scorecard(run, BEST).on_time_accuracy_per_arrival == pytest.approx(expected)


@given(runs)
def test_applications_add_up_to_the_whole(run: list[QueryRecord]) -> None:
    whole, each = scorecard(run, BEST), per_application(run, BEST)
    assert set(each) == {one.application for one in run}
    for outcome in Outcome:
        assert sum(card.outcomes[outcome] for card in each.values()) == whole.outcomes[outcome]
    assert sum(card.arrivals for card in each.values()) == whole.arrivals


def test_violations_are_exact_where_they_can_be() -> None:
    assert violation_ratio({"on_time": 97, "late": 3}) == 0.03
    assert violation_ratio({}) == 0.0
    assert violation_ratio({"on_time": 5}) == 0.0


def test_no_accuracy_is_worth_nothing_per_arrival() -> None:
    assert on_time_accuracy_per_arrival(None, 0.0) == 0.0


@given(st.lists(st.floats(0, 10), min_size=1, max_size=300).map(sorted), st.integers(1, 100))
def test_a_quantile_is_the_smallest_value_with_its_share_at_or_below(values: list[float], percent: int) -> None:
    found = quantile(values, percent / 100)
    assert found is not None
    assert 100 * sum(value <= found for value in values) >= percent * len(values)
    below = [value for value in values if value < found]
    assert 100 * len(below) < percent * len(values)


def test_a_quantile_is_not_moved_by_how_fractions_are_stored() -> None:
    assert quantile([float(number) for number in range(1, 101)], 0.55) == 55.0


def test_there_is_no_quantile_of_nothing() -> None:
    assert quantile([], 0.5) is None


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_for_no_answer_has_an_outcome_that_is_a_violation(reason: Reason) -> None:
    assert OUTCOME_OF_REASON[reason] in (Outcome.DROPPED, Outcome.REFUSED, Outcome.FAILED)
