"""A run's folder holds the whole run: what is read is what was written."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.core.errors import InputError
from tidewise.core.outcome import Outcome
from tidewise.core.plan import Assignment, Plan
from tidewise.core.record import QueryRecord
from tidewise.core.run import MachineSample, PlanChange, Run, RunApplication, WorkerSample
from tidewise.core.run_file import Event, format_event, format_run, parse_run, with_events
from tidewise.traces.lateness import Lateness, LatenessMeter
from tidewise.traces.runs import EVENTS_FILE, ROWS, RunWriter, read_run

times = st.floats(0, 1e4)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
records = st.builds(
    QueryRecord,
    application=st.sampled_from(["a", "b"]),
    due=times,
    sent=times,
    ended=times,
    deadline=times,
    outcome=st.sampled_from(Outcome),
    reason=texts,
    variant=texts,
    worker=texts,
    plan_version=st.integers(0, 2**60),
    queued=times,
    computed=times,
    accuracy=st.none() | st.floats(0, 1),
    correct=st.none() | st.booleans(),
    message=texts,
)
RUN = Run(
    name="r",
    seconds=90.5,
    arrivals=3,
    applications={"a": RunApplication("a", 0.2, {"top": 0.9, "cheap": 0.8})},
    policy="ilp",
    trace="tide.csv",
    target="127.0.0.1:8001",
    device_types={"big": 2},
    cores=2,
    started="2026-01-31T12:00:00+00:00",
    version="0.1.0",
    notes=("one", "two"),
)
PLAN = Plan(
    version=3,
    assignments=(Assignment("big-0", "a", ("top", "cheap"), "top", 1.0, 120.5),),
    demand={"a": 12.5},
    served={"a": 1.0},
    trigger="burst",
    status="optimal",
    phi=0.9,
    objective=0.97,
    bound=0.98,
    gap=0.01,
    solve=0.03,
)
EVENTS: list[Event] = [
    PlanChange(-1.5, PLAN),
    WorkerSample(1.0, "big-0", "big", "a", "top", 3, 4, True, True),
    WorkerSample(2.0, "big-1", "big", connected=False),
    MachineSample(2.5, 0.43),
]


@settings(max_examples=30)
@given(kept=st.lists(records, max_size=20))
def test_records_read_back_are_those_written_in_the_order_they_were_due(
    tmp_path_factory: pytest.TempPathFactory, kept: list[QueryRecord]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    with RunWriter(folder) as writer:
        for one in kept:
            writer.add(one)
        writer.describe(RUN)
    assert read_run(folder) == replace(RUN, records=tuple(sorted(kept, key=lambda one: one.due)))


def test_events_read_back_are_those_written(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.describe(RUN)
        for event in reversed(EVENTS):
            writer.note(event)
    found = read_run(tmp_path)
    assert [*found.plans, *found.workers, *found.machine] == EVENTS


def test_events_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.note(EVENTS[0])
        assert (tmp_path / EVENTS_FILE).read_text() == format_event(EVENTS[0])


def test_more_records_than_are_held_in_memory_are_all_kept(tmp_path: Path) -> None:
    one = QueryRecord("a", 0.0, 0.0, 0.1, 0.2, Outcome.ON_TIME)
    with RunWriter(tmp_path) as writer:
        for number in range(2 * ROWS + 5):
            writer.add(replace(one, due=float(number)))
        assert len(writer._rows) == 5
        writer.describe(RUN)
    assert [record.due for record in read_run(tmp_path).records] == [float(number) for number in range(2 * ROWS + 5)]


def test_a_run_that_broke_off_keeps_its_records(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), RunWriter(tmp_path) as writer:
        writer.describe(RUN)
        writer.add(QueryRecord("a", 0.0, 0.0, 0.1, 0.2, Outcome.LATE))
        raise RuntimeError("broke")
    assert len(read_run(tmp_path).records) == 1


def test_a_run_that_never_began_leaves_nothing_behind(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "runs" / "first"):
        pass
    assert not (tmp_path / "runs" / "first").exists()


def test_the_text_of_a_run_reads_back() -> None:
    assert parse_run(format_run(RUN), "run.json") == RUN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "run.json is not valid JSON"),
        ("{}", "schema_version is missing"),
        (format_run(RUN).replace('"schema_version": 1', '"schema_version": 9'), "schema_version must be"),
        (format_run(RUN).replace('"policy"', '"polity"'), "unknown key 'polity'"),
    ],
)
def test_a_wrong_run_file_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_run(text, "run.json")


def test_a_wrong_event_is_named_by_its_line() -> None:
    text = format_event(EVENTS[3]) + '{"at_s": 1, "kind": "party"}\n'
    with pytest.raises(InputError, match=r"events\.jsonl line 2: kind must be one of plan, worker, machine"):
        with_events(RUN, text, "events.jsonl")


def test_a_folder_that_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not the folder of a run: run\.json"):
        read_run(tmp_path)
    with RunWriter(tmp_path) as writer:
        writer.describe(RUN)
    (tmp_path / "queries.parquet").write_text("no parquet")
    with pytest.raises(InputError, match=r"queries\.parquet cannot be read as the queries of a run"):
        read_run(tmp_path)


def test_lateness_is_of_sending_and_says_when_it_is_too_much() -> None:
    meter = LatenessMeter()
    assert meter.reading() == Lateness()
    for number in range(100):
        meter.add(QueryRecord("a", 1.0, 1.0 + number / 1e4, 9.0, 0.2, Outcome.ON_TIME))
    found = meter.reading()
    assert found.p50 == pytest.approx(0.00495) and found.worst == pytest.approx(0.0099) and found.tolerable
    assert not Lateness(0.001, 0.011, 0.02).tolerable
