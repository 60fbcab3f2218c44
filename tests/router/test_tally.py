from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.outcome import Outcome
from tidewise.core.routes import Tally
from tidewise.router.tally import UNKNOWN, TallyBook

NAMES = st.sampled_from(["garments", "digits", "shoes", ""])


@given(st.lists(st.lists(st.tuples(NAMES, st.sampled_from(Outcome)), max_size=20), max_size=6))
def test_windows_sum_to_what_was_counted(windows: list[list[tuple[str, Outcome]]]) -> None:
    book = TallyBook(0.0)
    book.know(["garments", "digits"])
    arrivals: Counter[str] = Counter()
    outcomes: Counter[Outcome] = Counter()
    for now, window in enumerate(windows, start=1):
        for name, outcome in window:
            book.ended(book.arrived(name), outcome)
        for tally in book.close(float(now)):
            assert tally.seconds == 1.0
            assert tally.arrivals == sum(tally.outcomes.values())
            arrivals[tally.application] += tally.arrivals
            outcomes.update({Outcome(name): count for name, count in tally.outcomes.items()})
    sent = [pair for window in windows for pair in window]
    assert arrivals.total() == len(sent)
    assert +outcomes == Counter(outcome for _, outcome in sent)
    assert arrivals[UNKNOWN] == sum(name not in ("garments", "digits") for name, _ in sent)


def test_ten_thousand_invented_names_are_one() -> None:
    book = TallyBook(0.0)
    book.know(["garments"])
    for number in range(10_000):
        book.ended(book.arrived(f"model-{number}"), Outcome.FAILED)
    assert [one.application for one in book.close(1.0)] == [UNKNOWN, "garments"]


def test_an_application_without_queries_is_told_too() -> None:
    book = TallyBook(0.0)
    book.know(["garments"])
    assert book.close(0.25) == (Tally("garments", 0.25, 0),)


def test_variants_that_answered_are_counted() -> None:
    book = TallyBook(0.0)
    book.know(["garments"])
    book.ended(book.arrived("garments"), Outcome.ON_TIME, "fine")
    assert book.close(1.0)[0].variants == {"fine": 1}
