"""Open-loop replay against a real server: what is sent, when, and what is kept of each query."""

import asyncio
import contextlib
from pathlib import Path
from types import SimpleNamespace

import grpc
import numpy as np
import pytest
from echo_server import Behaviour, Server, echo, make_repository, refuse, slow

from tidewise.core.errors import TraceError, UnreachableError
from tidewise.core.outcome import Outcome, Reason
from tidewise.core.record import QueryRecord
from tidewise.core.trace import Trace
from tidewise.traces.replay import _connect, replay, send
from tidewise.traces.samples import Samples, load_samples


@pytest.fixture
def samples(tmp_path: Path) -> dict[str, Samples]:
    return load_samples(make_repository(tmp_path), np.random.default_rng(0))


def even(queries: int, seconds: float, deadline: float = 10.0) -> Trace:
    return Trace.of(np.arange(queries) * seconds / queries, ["letters"] * queries, deadline)


def replayed(
    behaviour: Behaviour, samples: dict[str, Samples], trace: Trace, speed: float = 1.0
) -> tuple[list[QueryRecord], Server]:
    with Server(behaviour) as server:
        return asyncio.run(replay(trace, server.target, samples, speed=speed)), server


def test_every_arrival_ends_in_one_record_on_time_and_right(samples: dict[str, Samples]) -> None:
    records, _ = replayed(echo, samples, even(40, 0.4))
    assert len(records) == 40
    assert {one.outcome for one in records} == {Outcome.ON_TIME}
    assert all(one.correct for one in records)
    first = records[0]
    assert (first.variant, first.worker, first.plan_version, first.accuracy) == ("top", "big-0", 7, 0.9)
    assert (first.queued, first.computed) == (0.0015, 0.0025)


def test_a_query_carries_its_sample_its_id_and_what_is_left_of_its_deadline(samples: dict[str, Samples]) -> None:
    _, server = replayed(echo, samples, even(8, 0.1, deadline=3.0))
    assert sorted(one.id for one in server.requests) == [str(number) for number in range(8)]
    sent = sorted(np.frombuffer(one.raw_input_contents[0], np.float32).argmax() for one in server.requests)
    assert sent == [0, 0, 1, 1, 2, 2, 3, 3], "each of the eight samples once"
    assert all(1 <= one.parameters["deadline_ms"].int64_param <= 3000 for one in server.requests)
    assert [one.name for one in server.requests[0].outputs] == ["scores"]


def test_the_call_outlives_the_deadline_so_that_lateness_is_seen(samples: dict[str, Samples]) -> None:
    records, server = replayed(slow(0.2), samples, even(4, 0.1, deadline=0.1))
    assert {one.outcome for one in records} == {Outcome.LATE}
    assert all(one.ended - one.due > 0.1 for one in records)
    assert min(server.timeouts) > 0.1


def test_slow_answers_do_not_slow_the_sender(samples: dict[str, Samples]) -> None:
    records, _ = replayed(slow(1.0), samples, even(30, 0.3))
    assert max(one.sent for one in records) < min(one.ended for one in records)


def test_the_slo_bounds_a_longer_deadline_of_the_trace(samples: dict[str, Samples]) -> None:
    records, _ = replayed(echo, samples, even(1, 0.1, deadline=60.0))
    assert records[0].deadline == 20.0


def test_speed_shortens_the_gaps_and_not_the_deadlines(samples: dict[str, Samples]) -> None:
    records, _ = replayed(echo, samples, even(10, 5.0), speed=20.0)
    assert max(one.due for one in records) == pytest.approx(4.5 / 20)
    assert {one.deadline for one in records} == {10.0}


@pytest.mark.parametrize(
    ("status", "reason", "outcome", "kept"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, "hopeless", Outcome.DROPPED, "hopeless"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "predicted_late", Outcome.REFUSED, "predicted_late"),
        (grpc.StatusCode.UNAVAILABLE, "no_worker", Outcome.REFUSED, "no_worker"),
        (grpc.StatusCode.UNAVAILABLE, "worker_lost", Outcome.FAILED, "worker_lost"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "", Outcome.REFUSED, "queue_full"),
        (grpc.StatusCode.UNAVAILABLE, "", Outcome.FAILED, "unavailable"),
        (grpc.StatusCode.UNIMPLEMENTED, "", Outcome.FAILED, "unimplemented"),
    ],
)
def test_an_error_becomes_its_outcome(
    samples: dict[str, Samples], status: grpc.StatusCode, reason: str, outcome: Outcome, kept: str
) -> None:
    records, _ = replayed(refuse(status, reason, "because"), samples, even(3, 0.05))
    assert {(one.outcome, one.reason, one.message) for one in records} == {(outcome, kept, "because")}


def test_a_silent_server_leaves_no_query_without_an_outcome(samples: dict[str, Samples]) -> None:
    records, _ = replayed(slow(2.0), samples, even(3, 0.05, deadline=0.05))
    assert {(one.outcome, one.reason) for one in records} == {(Outcome.DROPPED, Reason.DEADLINE)}


def test_a_wrong_answer_is_told_from_a_right_one(samples: dict[str, Samples]) -> None:
    def always_a(request):  # type: ignore[no-untyped-def]
        response = echo(request, variant="cheap")
        response.raw_output_contents[0] = np.array([9, 0, 0, 0], dtype=np.float32).tobytes()
        return response

    records, _ = replayed(always_a, samples, even(8, 0.1))
    assert sum(bool(one.correct) for one in records) == 2
    assert {one.accuracy for one in records} == {0.8}


def test_a_server_that_is_no_tidewise_is_understood_by_its_model_version(samples: dict[str, Samples]) -> None:
    def plain(request):  # type: ignore[no-untyped-def]
        response = echo(request)
        response.ClearField("parameters")
        return response

    records, _ = replayed(plain, samples, even(2, 0.05))
    assert {(one.variant, one.accuracy, one.outcome) for one in records} == {("top", 0.9, Outcome.ON_TIME)}


def test_an_interrupted_replay_accounts_for_what_was_in_flight(samples: dict[str, Samples]) -> None:
    records: list[QueryRecord] = []

    async def interrupted(target: str) -> None:
        sending = asyncio.create_task(send(even(1000, 10.0), target, samples, records.append))
        async with asyncio.timeout(60):
            while len(records) < 20:
                await asyncio.sleep(0.01)
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending

    with Server(slow(0.15)) as server:
        asyncio.run(interrupted(server.target))
    reasons = {one.reason for one in records}
    assert reasons == {"", "cancelled"}
    assert len(records) < 1000
    assert {one.outcome for one in records if one.reason} == {Outcome.DROPPED}


@pytest.mark.parametrize("steps", range(5))
def test_an_interruption_at_the_moment_of_connecting_is_not_lost(steps: int) -> None:
    async def interrupted() -> None:
        ready = asyncio.Event()
        channel = SimpleNamespace(channel_ready=ready.wait)

        async def connects_and_sends() -> None:
            await _connect([channel, channel], "somewhere")  # type: ignore[list-item]
            await asyncio.sleep(60)

        sending = asyncio.create_task(connects_and_sends())
        await asyncio.sleep(0)
        ready.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(sending, 30)

    asyncio.run(interrupted())


def test_an_application_that_the_repository_lacks_is_named_before_anything_is_sent(
    samples: dict[str, Samples],
) -> None:
    trace = Trace.of([0.0], ["numbers"], 0.1)
    with pytest.raises(TraceError, match=r"'numbers'.*letters"):
        asyncio.run(replay(trace, "127.0.0.1:1", samples))


def test_a_target_where_nothing_listens_is_an_error_not_a_run(
    samples: dict[str, Samples], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidewise.traces.replay.CONNECT", 0.3)
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1 "):
        asyncio.run(replay(even(1, 0.1), "127.0.0.1:1", samples))
