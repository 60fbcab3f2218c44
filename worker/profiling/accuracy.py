"""How often a variant is right on labelled test data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidewise.core.application import Application, TestData, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import RepositoryError
from tidewise.core.repository import MeasuredAccuracy, wilson_interval
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.choose import open_model
from tidewise.worker.profiling.subject import Subject
from tidewise.worker.samples import Samples, read_samples
from tidewise.worker.tensors import assemble

BATCH = 64
QUICK_ROWS = 256


def count_correct(session: Session, data: TestData, samples: Samples, size: int = BATCH) -> int:
    """Samples whose largest output is their label (top 1), run ``size`` at a time."""
    if samples.labels is None:
        raise RepositoryError(f"{samples.source} holds no labels, so no accuracy can be measured")
    correct = 0
    for batch in samples.batches(size):
        scores = session.run(assemble([batch.inputs], pad_to=size), [data.output])[data.output][: len(batch)]
        answers = scores.reshape(len(scores), -1).argmax(axis=1)
        correct += int(np.count_nonzero(answers == batch.labels))
    return correct


def measure_accuracy(subject: Subject) -> Iterator[tuple[str, MeasuredAccuracy]]:
    """Each variant's accuracy on the whole test data, as this host computes it. Raises RepositoryError without data."""
    application = subject.application
    data = application.test_data
    if data is None:
        raise RepositoryError(f"{subject.folder}: application {application.name!r} has no [test_data] to measure on")
    samples = read_samples(application, data, subject.folder)
    for variant in application.variants:
        session = open_model(DeviceType("accuracy"), subject.model(variant))
        try:
            correct = count_correct(session, data, samples, _size(variant))
        finally:
            session.close()
        yield variant.name, MeasuredAccuracy(correct, len(samples), variant.digest)


def _size(variant: Variant) -> int:
    """The largest batch the variant may run."""
    return max(variant.batch_sizes, default=BATCH)


def accuracy_warning(
    session: Session, application: Application, variant: Variant, samples: Samples, stated: MeasuredAccuracy | None
) -> str | None:
    """What to note if this host answers a few samples much less often, or more often, right than was measured.

    Such a gap is known of INT8 models on processors without VNNI instructions. The two Wilson intervals must overlap:
    a sample of a few hundred cannot tell finer.
    """
    data = application.test_data
    if stated is None or data is None or samples.labels is None:
        return None
    correct = count_correct(session, data, samples, _size(variant))
    low, high = wilson_interval(stated.correct, stated.total)
    here_low, here_high = wilson_interval(correct, len(samples))
    if here_low <= high and here_high >= low:
        return None
    return (
        f"accuracy here is {correct / len(samples):.3f} on {len(samples)} samples, but accuracy.json says"
        f" {low:.3f} to {high:.3f}; run: tidewise profile --accuracy"
    )
