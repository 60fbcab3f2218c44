"""The trace noun and its CSV: what is read is what was written, and what is wrong is named by its line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tidewise.core.errors import TraceError
from tidewise.core.trace import UNSORTED, Trace, format_trace, parse_trace

HEADER = "arrival_s,application,deadline_ms\n"


@st.composite
def traces(draw: DrawFn, most: int = 40) -> Trace:
    """Traces whose times are whole microseconds, as the text keeps them."""
    count = draw(st.integers(1, most))
    arrivals = draw(st.lists(st.integers(0, 20_000_000), min_size=count, max_size=count))
    deadlines = draw(st.lists(st.integers(1, 10_000_000), min_size=count, max_size=count))
    names = draw(st.lists(st.sampled_from(["a", "b b", 'c"d', "e,f"]), min_size=count, max_size=count))
    return Trace.of([one / 1e6 for one in arrivals], names, [one / 1e6 for one in deadlines])


def same(one: Trace, other: Trace) -> bool:
    return (
        one.names == other.names
        and np.allclose(one.arrival, other.arrival, atol=1e-9)
        and np.array_equal(one.application, other.application)
        and np.allclose(one.deadline, other.deadline, atol=1e-9)
    )


@given(traces())
def test_a_trace_written_and_read_is_the_same(trace: Trace) -> None:
    assert same(parse_trace(format_trace(trace), "t.csv"), trace)


@given(traces())
def test_arrivals_ascend_and_every_row_keeps_its_application(trace: Trace) -> None:
    assert np.all(np.diff(trace.arrival) >= 0)
    assert sum(len(trace.arrivals_of(name)) for name in trace.names) == len(trace)


def test_units_are_seconds_and_milliseconds() -> None:
    trace = parse_trace(HEADER + "1.5,garments,200\n", "t.csv")
    assert (trace.arrival[0], trace.deadline[0], trace.names) == (1.5, 0.2, ("garments",))
    assert trace.duration == 1.5


def test_columns_may_stand_in_any_order_and_blank_lines_do_not_matter() -> None:
    trace = parse_trace("application, deadline_ms ,arrival_s\n\ng,100,2\n\n", "t.csv")
    assert (trace.arrival[0], trace.deadline[0]) == (2.0, 0.1)


def test_an_unsorted_trace_is_sorted_with_a_note() -> None:
    trace = parse_trace(HEADER + "2,b,100\n1,a,50\n", "t.csv")
    assert trace.arrival.tolist() == [1.0, 2.0]
    assert [trace.names[code] for code in trace.application] == ["a", "b"]
    assert trace.deadline.tolist() == [0.05, 0.1]
    assert trace.notes == (UNSORTED,)


def test_a_sorted_trace_has_no_note() -> None:
    assert parse_trace(HEADER + "1,a,50\n1,b,50\n", "t.csv").notes == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.csv is empty; expected the header arrival_s,application,deadline_ms"),
        ("\n\n", "t.csv is empty"),
        (HEADER, "t.csv holds no arrivals"),
        ("arrival_s,application\n1,a\n", "line 1: column deadline_ms is missing"),
        ("arrival_s,application,deadline_ms,colour\n1,a,2,red\n", "line 1: unknown column 'colour'"),
        ("arrival_s,arrival_s,application,deadline_ms\n1,1,a,2\n", "line 1: a column is named twice"),
        (HEADER + "1,a,50\n2,a\n", "line 3: expected 3 values, found 2"),
        (HEADER + "1,a,50\n\nsoon,a,50\n", "line 4: arrival_s must be a number of at least 0, not 'soon'"),
        (HEADER + "-1,a,50\n", "line 2: arrival_s must be a number of at least 0, not '-1'"),
        (HEADER + "nan,a,50\n", "line 2: arrival_s must be a number of at least 0, not 'nan'"),
        (HEADER + "inf,a,50\n", "line 2: arrival_s must be a number"),
        (HEADER + "1,a,0\n", "line 2: deadline_ms must be a number of at least 0.001, not '0'"),
        (HEADER + "1,a,\n", "line 2: deadline_ms must be a number of at least 0.001, not ''"),
        (HEADER + "1, ,50\n", "line 2: application is empty; name the application"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_trace(text, "t.csv")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_trace_from_columns_names_the_row_that_is_wrong() -> None:
    with pytest.raises(TraceError, match=r"row 2: deadline_ms must be a finite number, more than 0, not -50"):
        Trace.of([0.0, 1.0], ["a", "a"], [0.1, -0.05])
    with pytest.raises(TraceError, match=r"row 1: arrival_s"):
        Trace.of([float("nan")], ["a"], 0.1)


def test_a_selection_forgets_names_that_no_longer_occur() -> None:
    trace = Trace.of([0.0, 1.0, 2.0], ["a", "b", "c"], 0.1)
    part = trace.select(np.array([True, False, True]))
    assert part.names == ("a", "c")
    assert part.arrivals_of("c").tolist() == [2.0]
    assert part.arrivals_of("b").tolist() == []
