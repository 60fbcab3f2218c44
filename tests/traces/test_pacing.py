"""The pacer: every query once, in order, never before it is due, whatever the clock does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tidewise.traces.pacing import Finished, Pacer, Send, Sleep

times = st.lists(st.floats(0, 10), min_size=0, max_size=60).map(sorted)


def test_it_sleeps_until_the_first_is_due_then_sends_then_finishes() -> None:
    pacer = Pacer(np.array([1.0, 1.5]))
    assert pacer.step(0.0, 10) == Sleep(1.0)
    assert pacer.step(1.0, 10) == Send(0, 1)
    assert pacer.step(1.0, 10) == Sleep(1.5)
    assert pacer.step(9.0, 10) == Send(1, 2)
    assert pacer.step(9.0, 10) == Finished()


def test_after_a_stall_it_sends_what_is_overdue_a_few_at_a_time() -> None:
    pacer = Pacer(np.arange(5.0))
    assert [pacer.step(9.0, 2) for _ in range(4)] == [Send(0, 2), Send(2, 4), Send(4, 5), Finished()]


@given(due=times, steps=st.lists(st.floats(0, 1), min_size=1, max_size=200), most=st.integers(1, 7))
def test_every_query_is_sent_once_in_order_and_never_early(due: list[float], steps: list[float], most: int) -> None:
    pacer, now, sent = Pacer(np.array(due)), 0.0, 0
    for step in [*steps, *[20.0] * (len(due) + 1)]:
        now += step
        match pacer.step(now, most):
            case Send(first, last):
                assert first == sent and first < last <= first + most
                assert all(due[index] <= now for index in range(first, last))
                sent = last
            case Sleep(until):
                assert until == due[sent] > now
            case Finished():
                assert sent == len(due)
    assert sent == pacer.sent == len(due)
