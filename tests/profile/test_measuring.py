"""How long a batch size is measured, how accuracy is counted, and what is worth a note."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.repository import MeasuredAccuracy
from tidewise.worker.engine.base import SessionOptions, Tensors
from tidewise.worker.engine.onnx import OnnxEngine
from tidewise.worker.profiling.accuracy import accuracy_warning, count_correct, measure_accuracy
from tidewise.worker.profiling.company import slower_in_company
from tidewise.worker.profiling.effort import Effort, enough, uncertainty
from tidewise.worker.profiling.measure import Measured, measure_size, time_in_turn
from tidewise.worker.profiling.subject import Subject, read_subjects
from tidewise.worker.samples import Samples, read_samples
from tidewise.worker.tensors import Array, row_count

EFFORT = Effort("test", least=10, seconds=5.0, precision=0.05)
LATENCIES = st.lists(st.floats(1e-6, 10), min_size=6, max_size=200)


class Stopwatch:
    """A clock that sessions move forward by the time they pretend to take."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Pretend:
    """Takes the next of these seconds for each batch; the last one for ever."""

    def __init__(self, watch: Stopwatch, *seconds: float) -> None:
        self.watch = watch
        self.seconds = list(seconds)

    def run(self, inputs: Tensors, outputs: Sequence[str]) -> dict[str, Array]:
        self.watch.now += self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        return {name: np.zeros(row_count(inputs)) for name in outputs}

    def close(self) -> None:
        """Nothing is held."""


SAMPLES = Samples({"x": np.zeros((3, 2))}, "zeros")


def test_a_steady_batch_is_measured_no_longer_than_needed() -> None:
    watch = Stopwatch()
    found = measure_size(Pretend(watch, 0.01), ["y"], SAMPLES, 4, EFFORT, watch)
    assert len(found.latencies) == EFFORT.least
    assert found.settled
    assert found.summary.p50 == pytest.approx(0.01)


def test_a_restless_batch_is_given_up_in_time_and_says_so() -> None:
    watch = Stopwatch()
    restless = Pretend(watch, *[0.01, 0.1] * 100)
    found = measure_size(restless, ["y"], SAMPLES, 4, EFFORT, watch)
    assert not found.settled
    assert watch.now < EFFORT.seconds + 0.2


def test_even_a_batch_slower_than_the_time_limit_is_measured_six_times() -> None:
    watch = Stopwatch()
    assert len(measure_size(Pretend(watch, 60.0), ["y"], SAMPLES, 1, EFFORT, watch).latencies) == 6


@given(LATENCIES)
def test_more_of_the_same_never_makes_the_median_less_certain(latencies: list[float]) -> None:
    assert uncertainty(latencies * 16) <= uncertainty(latencies) + 1e-9


@given(LATENCIES)
def test_measuring_always_ends_when_time_is_up(latencies: list[float]) -> None:
    assert enough(latencies, EFFORT.seconds, EFFORT)


def test_a_median_of_five_is_not_known_at_all() -> None:
    assert uncertainty([1.0] * 5) == math.inf


def test_in_turn_each_batch_follows_one_of_its_sibling_s() -> None:
    watch = Stopwatch()
    sibling, session = Pretend(watch, 0.5), Pretend(watch, 0.02, 0.04, 0.03)
    assert time_in_turn(sibling, session, ["y"], SAMPLES.queries(2), 3, watch) == pytest.approx(0.03)
    assert watch.now == pytest.approx(3 * 0.5 + 0.09)


def test_a_variant_slowed_by_its_sibling_gets_a_note_and_others_none() -> None:
    watch = Stopwatch()
    alone = [Measured(4, (0.010,) * 10, True), Measured(16, (0.030,) * 10, True)]

    def notes(in_turn: float) -> list[str]:
        sibling, session = Pretend(watch, 0.5), Pretend(watch, in_turn)
        return list(slower_in_company(sibling, session, ["y"], SAMPLES, alone, watch))

    assert notes(0.011) == []
    assert notes(0.020) == ["in turn with a sibling, batch size 4 takes 2.00 times as long as alone"]


@pytest.fixture
def subject(repository: Path) -> Subject:
    return read_subjects(repository)[0]


def test_accuracy_counts_the_samples_whose_largest_output_is_their_label(subject: Subject) -> None:
    found = dict(measure_accuracy(subject))
    assert found["large"].accuracy == 1.0
    assert 0.5 < found["small"].accuracy < 1.0
    assert found["small"].total == 300
    assert found["small"].digest == subject.application.variants[0].digest


def test_accuracy_is_the_same_at_every_batch_size(subject: Subject) -> None:
    variant, data = subject.application.variants[0], subject.application.test_data
    assert data is not None
    samples = read_samples(subject.application, data, subject.folder)
    session = OnnxEngine().load(subject.model(variant), SessionOptions())
    counts = {count_correct(session, data, samples, size) for size in (1, 7, 64, 300, 1000)}
    assert len(counts) == 1


def test_a_host_on_which_a_variant_is_much_less_often_right_is_warned_about(subject: Subject) -> None:
    application, variant, data = subject.application, subject.application.variants[0], subject.application.test_data
    assert data is not None
    samples = read_samples(application, data, subject.folder)
    session = OnnxEngine().load(subject.model(variant), SessionOptions())
    true = count_correct(session, data, samples) / len(samples)
    same = MeasuredAccuracy(round(true * 10_000), 10_000, variant.digest)
    assert accuracy_warning(session, application, variant, samples, same) is None
    assert accuracy_warning(session, application, variant, samples, None) is None
    claimed = replace(same, correct=10_000)
    warning = accuracy_warning(session, application, variant, samples, claimed)
    assert warning is not None
    assert "tidewise profile --accuracy" in warning
