"""A variant that cannot be trusted is refused at load, and the refusal says which variant, output and input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_stories import LARGE, PICTURES, SMALL, Altered

from tidewise.core.application import TensorSpec, Variant
from tidewise.core.errors import EngineError
from tidewise.worker.engine.base import Engine, Session, SessionOptions, Tensors
from tidewise.worker.engine.crosscheck import cross_check
from tidewise.worker.engine.onnx import OnnxEngine
from tidewise.worker.samples import Samples, random_samples
from tidewise.worker.tensors import Array, row_count


@pytest.fixture
def samples() -> Samples:
    return random_samples(PICTURES, 8, np.random.default_rng(3))


@pytest.fixture
def session(engine: Engine, models: Path) -> Session:
    return engine.load(models / "small.onnx", SessionOptions())


@pytest.fixture
def reference(models: Path) -> Session:
    return OnnxEngine().load(models / "small.onnx", SessionOptions())


def test_a_sound_variant_passes(session: Session, reference: Session, samples: Samples) -> None:
    cross_check(session, reference, PICTURES, SMALL, samples)
    cross_check(session, reference, PICTURES, SMALL, samples.first(1))


def test_a_session_of_another_model_is_refused(
    engine: Engine, models: Path, reference: Session, samples: Samples
) -> None:
    other = engine.load(models / "large.onnx", SessionOptions())
    with pytest.raises(EngineError, match=r"'large' of 'pictures'.*'logits' for input 0 of random inputs.*onnxruntime"):
        cross_check(other, reference, PICTURES, LARGE, samples)


def test_the_first_input_that_differs_is_named(session: Session, reference: Session, samples: Samples) -> None:
    def spoil_the_third(_: Tensors, output: Array) -> Array:
        return output + np.float32(0.5) * (np.arange(len(output)) == 2)[:, None]

    with pytest.raises(EngineError, match=r"for input 2 of random inputs differs by 0\.5"):
        cross_check(Altered(session, spoil_the_third), reference, PICTURES, SMALL, samples)


def test_the_variant_s_own_tolerance_decides(session: Session, reference: Session, samples: Samples) -> None:
    shifted = Altered(session, lambda _, output: output + np.float32(0.01))
    with pytest.raises(EngineError, match=r"tolerance 0\.001"):
        cross_check(shifted, reference, PICTURES, SMALL, samples)
    cross_check(shifted, reference, PICTURES, replace(SMALL, tolerance=0.02), samples)


def test_an_answer_that_depends_on_the_batch_size_is_refused(
    session: Session, reference: Session, samples: Samples
) -> None:
    sized = Altered(session, lambda inputs, output: output * np.float32(1 if row_count(inputs) > 1 else 2))
    with pytest.raises(EngineError, match="same row's in a larger batch"):
        cross_check(sized, reference, PICTURES, SMALL, samples)


def test_rows_that_leak_into_each_other_are_refused(engine: Engine, models: Path, samples: Samples) -> None:
    leaky = Variant("leaky", 3, "leaky_rows.onnx")
    faulty, same = (one.load(models / leaky.model, SessionOptions()) for one in (engine, OnnxEngine()))
    with pytest.raises(EngineError, match="'leaky'"):
        cross_check(faulty, same, PICTURES, leaky, samples)


def test_rows_that_leak_only_in_full_batches_are_refused(
    session: Session, reference: Session, samples: Samples
) -> None:
    expected = reference.run(samples.first(4).inputs, ["logits"])["logits"]

    def leak(inputs: Tensors, output: Array) -> Array:
        usual = row_count(inputs) < 4 or np.array_equal(inputs["image"], samples.first(4).inputs["image"])
        return output if usual else output + expected[:1]

    with pytest.raises(EngineError, match=r"input 3 of random inputs.*other company"):
        cross_check(Altered(session, leak), reference, PICTURES, SMALL, samples)


def test_not_a_number_on_both_sides_is_the_same_answer(session: Session, reference: Session, samples: Samples) -> None:
    both = [Altered(one, lambda _, output: output * np.float32(np.nan)) for one in (session, reference)]
    cross_check(both[0], both[1], PICTURES, SMALL, samples)
    with pytest.raises(EngineError, match="differs"):
        cross_check(both[0], reference, PICTURES, SMALL, samples)


def test_a_variant_of_fixed_batch_size_is_checked_at_that_size(
    session: Session, reference: Session, samples: Samples
) -> None:
    seen: list[int] = []

    def note(inputs: Tensors, output: Array) -> Array:
        seen.append(row_count(inputs))
        return output

    cross_check(Altered(session, note), reference, PICTURES, replace(SMALL, batch_sizes=(3,)), samples)
    assert set(seen) == {3}


def test_an_output_of_another_type_or_shape_than_stated_is_refused(
    session: Session, reference: Session, samples: Samples
) -> None:
    four = replace(PICTURES, outputs=(TensorSpec("logits", "FP32", (4,)),))
    with pytest.raises(EngineError, match=r"'small' answers 'logits' as float32 \[4, 3\].*says FP32 \[4\]"):
        cross_check(session, reference, four, SMALL, samples)
    half = replace(PICTURES, outputs=(TensorSpec("logits", "FP16", (3,)),))
    with pytest.raises(EngineError, match="says FP16"):
        cross_check(session, reference, half, SMALL, samples)


@pytest.mark.parametrize("reshaped", [np.sum, lambda output: np.concatenate([output, output])], ids=["one", "twice"])
def test_an_output_without_one_row_for_each_input_is_refused(
    session: Session, reference: Session, samples: Samples, reshaped: Callable[[Array], Array]
) -> None:
    odd = Altered(session, lambda inputs, output: reshaped(output))
    with pytest.raises(EngineError, match=r"answers 'logits' as float32 .* to 4 rows"):
        cross_check(odd, reference, PICTURES, SMALL, samples)
