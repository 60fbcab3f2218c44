"""Requests joined from pieces, samples and labels, and the verdict on every kind of end."""

from pathlib import Path

import numpy as np
import pytest
from echo_server import APPLICATION, echo, make_repository

from tidewise.core.errors import RepositoryError
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.core.repository import parse_application
from tidewise.proto import inference_pb2 as pb
from tidewise.traces import wire
from tidewise.traces.query import Destination, Query, answer_record
from tidewise.traces.samples import Samples, load_samples, samples_of
from tidewise.traces.verdict import answered, unanswered


@pytest.fixture
def letters(tmp_path: Path) -> Samples:
    return load_samples(make_repository(tmp_path), np.random.default_rng(0))["letters"]


def query(samples: Samples, due: float = 1.0, sent: float = 1.001, deadline: float = 0.2) -> Query:
    return Query(Destination.of("letters", samples), samples.sample(0), due, sent, deadline)


def test_the_joined_pieces_are_one_request_with_its_fields_in_order(letters: Samples) -> None:
    one = query(letters)
    data = one.request("q-7")
    request = pb.ModelInferRequest.FromString(data)
    assert (request.model_name, request.id, request.parameters["deadline_ms"].int64_param) == ("letters", "q-7", 199)
    assert request.inputs[0].shape == [1, 4]
    assert np.frombuffer(request.raw_input_contents[0], np.float32).sum() == 1
    assert request.SerializeToString(deterministic=True) == data


def test_the_deadline_sent_is_what_is_left_of_it_and_at_least_a_millisecond(letters: Samples) -> None:
    late = pb.ModelInferRequest.FromString(query(letters, due=1.0, sent=3.0).request("1"))
    assert late.parameters["deadline_ms"].int64_param == 1


def test_an_answer_in_typed_contents_is_read_too() -> None:
    response = pb.ModelInferResponse(model_version="3")
    tensor = response.outputs.add(name="scores", datatype="FP32", shape=(1, 2))
    tensor.contents.fp32_contents.extend([0.0, 1.0])
    answer = wire.read_answer(response.SerializeToString(), "scores")
    assert answer.scores is not None and answer.scores.tolist() == [[0.0, 1.0]]
    assert answer.variant == "3"


def test_an_answer_of_the_wrong_size_or_without_the_output_is_not_compared(letters: Samples) -> None:
    request = pb.ModelInferRequest.FromString(query(letters).request("1"))
    short, other = echo(request), echo(request)
    short.raw_output_contents[0] = b"\0" * 8
    other.outputs[0].name = "else"
    for response in (short, other):
        record = answer_record(query(letters), 1.1, response.SerializeToString())
        assert record.correct is None and record.outcome is Outcome.ON_TIME


def test_bytes_that_are_no_answer_are_a_failure(letters: Samples) -> None:
    record = answer_record(query(letters), 1.1, b"\xff\xff\xff")
    assert (record.outcome, record.reason) == (Outcome.FAILED, "internal")


def test_a_deadline_counts_from_when_the_query_was_due(letters: Samples) -> None:
    assert answered(due=1.0, ended=1.2, deadline=0.25) is Outcome.ON_TIME
    assert answered(due=1.0, ended=1.3, deadline=0.25) is Outcome.LATE


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_of_tidewise_decides_whatever_the_status(reason: Reason) -> None:
    assert unanswered("UNKNOWN", reason.value) == (OUTCOME_OF_REASON[reason], reason.value)


def test_a_reason_from_a_later_version_is_kept_as_it_is() -> None:
    assert unanswered("ABORTED", "moon_phase") == (Outcome.FAILED, "moon_phase")


def test_each_sample_is_sent_once_before_any_is_sent_again(letters: Samples) -> None:
    order = [letters.sample(nth) for nth in range(16)]
    assert sorted(order[:8]) == list(range(8)) and order[:8] == order[8:]


def test_the_order_of_samples_comes_from_the_seed(tmp_path: Path) -> None:
    make_repository(tmp_path, samples=64)
    orders = [load_samples(tmp_path, np.random.default_rng(seed))["letters"].order.tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_requests_kept_ready_are_bounded(letters: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidewise.traces.samples.CACHE_LIMIT", 1)
    bodies = [letters.body(sample) for sample in range(8)]
    assert bodies == [letters.body(sample) for sample in range(8)]
    assert len(letters._ready) == 1


def test_an_application_without_test_data_sends_zeros_and_compares_nothing(tmp_path: Path) -> None:
    text = APPLICATION.split("[test_data]")[0].replace("[4]", "[-1, 4]") + '[[variants]]\nname = "v"\nversion = 1\n'
    samples = samples_of(parse_application(text, "t"), tmp_path, np.random.default_rng(0))
    request = pb.ModelInferRequest.FromString(samples.body(samples.sample(3)))
    assert request.inputs[0].shape == [1, 1, 4]
    assert samples.correct(0, np.zeros((1, 4))) is None


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"labels": [1, 2]}, "lacks the array 'x'"),
        ({"x": np.zeros((2, 4))}, "lacks the array 'labels'"),
        ({"x": np.zeros((2, 5)), "labels": [1, 2]}, r"'x' has shape \[2, 5\]; expected \[2, 4\]"),
        ({"x": np.zeros((3, 4)), "labels": [1, 2]}, "one row for each label"),
    ],
)
def test_test_data_that_does_not_fit_is_named(tmp_path: Path, arrays: dict[str, object], said: str) -> None:
    make_repository(tmp_path)
    np.savez(tmp_path / "letters" / "test.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(RepositoryError, match=said):
        load_samples(tmp_path, np.random.default_rng(0))


def test_a_test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path)
    (tmp_path / "letters" / "test.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(RepositoryError, match=r"test\.npz cannot be read as test data"):
        load_samples(tmp_path, np.random.default_rng(0))
