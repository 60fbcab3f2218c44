"""Demand recorded elsewhere becomes a trace: counts per second, folders of lists, Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_trace_format import same, traces

from tidewise.core.errors import TraceError
from tidewise.core.trace import Trace
from tidewise.traces.convert import TOTAL, parse_counts, parse_list, shared
from tidewise.traces.files import is_trace, read_lists, read_trace, write_trace


def test_one_column_of_numbers_is_the_total_of_each_second() -> None:
    assert parse_counts("12\n0\n7\n", "c.txt")[TOTAL].tolist() == [12, 0, 7]


def test_columns_with_a_header_are_applications_and_the_time_is_left_out() -> None:
    counts = parse_counts("second,a,b\n0,1,2\n1,3,4\n", "c.csv")
    assert {name: one.tolist() for name, one in counts.items()} == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.csv is empty"),
        ("a,b\n", "holds only a header"),
        ("1,2\n3,4\n", "line 1: 2 columns need a header"),
        ("time\n1\n", "line 1: no column holds counts"),
        ("a,a\n1,2\n", "line 1: every column needs a name of its own"),
        ("a,b\n1,2\n3\n", "line 3: expected 2 values, found 1"),
        ("a\n1\n2.5\n", "line 3: a must be a whole number of arrivals, not '2.5'"),
        ("a\n-1\n", "line 2: a must be a whole number"),
        ("a\nmany\n", "line 2: a must be a whole number of arrivals, not 'many'"),
    ],
)
def test_counts_that_are_wrong_are_named_by_line(text: str, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        parse_counts(text, "c.csv")


@settings(max_examples=40)
@given(st.lists(st.integers(0, 500), min_size=1, max_size=30), st.integers(0, 99))
def test_a_total_dealt_to_applications_still_sums_to_it(total: list[int], seed: int) -> None:
    dealt = shared(np.array(total), {"a": 3, "b": 1}, np.random.default_rng(seed))
    assert (dealt["a"] + dealt["b"]).tolist() == total


def test_lists_are_milliseconds_with_the_deadline_last() -> None:
    found = parse_list("114,1,75\n120,1,75\n", "a.txt")
    assert found.arrival.tolist() == [0.114, 0.12]
    assert found.deadline.tolist() == [0.075, 0.075]


def test_a_list_of_arrivals_alone_takes_the_deadline_given() -> None:
    assert parse_list("1\n2.5\n", "a.txt", unit=1.0, deadline=0.3).deadline.tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n", "line 1: no deadline"),
        ("1,2,3,4\n", "line 1: expected arrival,deadline"),
        ("1,1,75\nx,1,75\n", "line 2: expected arrival,deadline or arrival,accuracy,deadline as numbers"),
        ("-5,1,75\n", "line 1: the arrival must be a number of at least 0"),
    ],
)
def test_lists_that_are_wrong_are_named_by_line(text: str, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        parse_list(text, "a.txt")


def test_a_folder_of_lists_becomes_one_sorted_trace(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("10,1,50\n30,1,50\n")
    (tmp_path / "a.csv").write_text("20,1,70\n")
    (tmp_path / "README.md").write_text("not a list")
    trace = read_lists(tmp_path)
    assert trace.names == ("a", "b")
    assert trace.arrival.tolist() == pytest.approx([0.01, 0.02, 0.03])
    assert trace.application.tolist() == [1, 0, 1]
    assert trace.deadline.tolist() == pytest.approx([0.05, 0.07, 0.05])
    assert trace.notes == ()


def test_deadlines_given_replace_those_of_the_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("10,1,50\n")
    trace = read_lists(tmp_path, deadline=0.2, deadlines={"b": 0.3})
    assert trace.deadline.tolist() == pytest.approx([0.2, 0.3])


def test_a_list_deadline_of_zero_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("10,1,0\n")
    with pytest.raises(TraceError, match="deadline_ms must be a finite number, more than 0"):
        read_lists(tmp_path)


def test_an_empty_folder_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"a file NAME\.txt for each application"):
        read_lists(tmp_path)
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(TraceError, match="none of its 1 lists holds an arrival"):
        read_lists(tmp_path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@settings(max_examples=10)
@given(trace=traces())
def test_a_trace_file_read_back_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, trace: Trace
) -> None:
    path = tmp_path_factory.mktemp("trace") / f"t.{suffix}"
    write_trace(trace, path)
    assert is_trace(path)
    assert same(read_trace(path), trace)


def test_parquet_that_is_no_trace_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("no parquet")
    with pytest.raises(TraceError, match="cannot be read as Parquet"):
        read_trace(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(TraceError, match="has columns a; expected arrival_s"):
        read_trace(path)
    columns = {"arrival_s": [1.0, None], "application": ["a", "a"], "deadline_ms": [1, 2]}
    pq.write_table(pa.table(columns), path)
    with pytest.raises(TraceError, match="row 2: arrival_s must be a finite number"):
        read_trace(path)
    pq.write_table(pa.table({**columns, "arrival_s": [1.0, 2.0], "application": ["a", None]}), path)
    with pytest.raises(TraceError, match="row 2: application is empty"):
        read_trace(path)
    pq.write_table(pa.table({**columns, "arrival_s": ["soon", "later"]}), path)
    with pytest.raises(TraceError, match="column arrival_s must hold numbers"):
        read_trace(path)


def test_a_missing_trace_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read_trace(tmp_path / "none.csv")
