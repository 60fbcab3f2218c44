"""A dead child is started again, ever more slowly while it keeps dying."""

from tidewise.cli.restarts import SLOWEST, STEADY, Restarts, died, started


def test_a_child_that_dies_once_is_back_within_half_a_second() -> None:
    state = died(started(Restarts(), 10.0), 100.0)
    assert state.again_at is not None and 100.0 < state.again_at <= 100.5


def test_the_wait_doubles_with_each_death_in_a_row_up_to_a_bound() -> None:
    state, now, waits = Restarts(), 0.0, []
    for _ in range(12):
        state = died(started(state, now), now + 0.1)
        assert state.again_at is not None
        waits.append(round(state.again_at - now - 0.1, 6))
        now = state.again_at
    assert waits == sorted(waits)
    assert waits[1] == 2 * waits[0]
    assert waits[-1] == SLOWEST


def test_a_child_that_stayed_up_has_earned_a_fresh_start() -> None:
    state = Restarts(deaths=9, started=0.0)
    assert died(state, STEADY + 1).deaths == 1
