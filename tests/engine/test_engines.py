"""What both engines promise alike."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import EngineError
from tidewise.worker.engine.base import Engine, SessionOptions

ONE_THREAD = SessionOptions()


def images(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (rows, 1, 4, 4), np.uint8)


def test_every_numeric_type_passes_through_unchanged(engine: Engine, models: Path) -> None:
    session = engine.load(models / "every_type.onnx", ONE_THREAD)
    random = np.random.default_rng(1)
    inputs = {name.lower(): random.integers(0, 100, (3, 5)).astype(dtype) for name, dtype in DATATYPES.items()}
    outputs = session.run(inputs, [f"{name}_out" for name in inputs])
    for name, value in inputs.items():
        np.testing.assert_array_equal(outputs[f"{name}_out"], value, strict=True)


def test_not_a_number_and_infinity_pass_through(engine: Engine, models: Path) -> None:
    session = engine.load(models / "every_type.onnx", ONE_THREAD)
    inputs = {name.lower(): np.ones((1, 3), dtype) for name, dtype in DATATYPES.items()}
    inputs["fp32"] = np.array([[np.nan, np.inf, -np.inf]], np.float32)
    np.testing.assert_array_equal(session.run(inputs, ["fp32_out"])["fp32_out"], inputs["fp32"])


def test_only_the_outputs_asked_for_are_returned(engine: Engine, models: Path) -> None:
    session = engine.load(models / "masked_sum.onnx", ONE_THREAD)
    inputs = {"values": np.array([[1, 2, 3]], np.float32), "mask": np.array([[1, 0, 1]])}
    assert session.run(inputs, ["count"]) == {"count": np.array([2])}
    assert list(session.run(inputs, ["count", "sum"])) == ["count", "sum"]


def test_batch_and_length_may_change_from_run_to_run(engine: Engine, models: Path) -> None:
    session = engine.load(models / "masked_sum.onnx", ONE_THREAD)
    for rows, length in [(1, 3), (7, 2), (2, 50), (1, 0)]:
        values = np.ones((rows, length), np.float32)
        outputs = session.run({"values": values, "mask": np.ones((rows, length), np.int64)}, ["sum"])
        np.testing.assert_array_equal(outputs["sum"], np.full(rows, length, np.float32))


def test_inputs_that_lie_scattered_in_memory_are_read_right(engine: Engine, models: Path) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    wide = images(8)
    whole = session.run({"image": wide}, ["logits"])["logits"]
    strided = session.run({"image": wide[::2]}, ["logits"])["logits"]
    np.testing.assert_allclose(strided, whole[::2], atol=1e-5)


def test_outputs_outlive_later_runs_and_the_session(engine: Engine, models: Path) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    first = session.run({"image": images(4, seed=1)}, ["logits"])["logits"]
    kept = first.copy()
    for seed in range(20):
        session.run({"image": images(4, seed=seed)}, ["logits"])
    session.close()
    np.testing.assert_array_equal(first, kept)


def test_a_missing_input_is_an_engine_error_naming_it(engine: Engine, models: Path) -> None:
    session = engine.load(models / "masked_sum.onnx", ONE_THREAD)
    with pytest.raises(EngineError, match="mask"):
        session.run({"values": np.ones((1, 3), np.float32)}, ["sum"])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.ones((1, 1, 4, 4), np.float32), "data type"),
        (np.ones((1, 1, 4, 5), np.uint8), "image"),
        (np.ones((1, 4), np.uint8), "image"),
    ],
    ids=["type", "shape", "rank"],
)
def test_an_input_that_does_not_fit_is_an_engine_error(
    engine: Engine, models: Path, value: np.ndarray, reason: str
) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    with pytest.raises(EngineError, match=reason):
        session.run({"image": value}, ["logits"])
    assert session.run({"image": images(2)}, ["logits"])["logits"].shape == (2, 3)


def test_an_unknown_output_is_an_engine_error_naming_it(engine: Engine, models: Path) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    with pytest.raises(EngineError, match="nonesuch"):
        session.run({"image": images(1)}, ["nonesuch"])


def test_a_run_that_fails_is_told_by_its_error_alone(
    engine: Engine, models: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    session = engine.load(models / "masked_sum.onnx", ONE_THREAD)
    with pytest.raises(EngineError):
        session.run({"values": np.ones((1, 3), np.float32), "mask": np.ones((1, 2), np.int64)}, ["sum"])
    assert capfd.readouterr().err == ""  # ONNX Runtime would add a coloured line of its own


def test_text_is_refused(engine: Engine, models: Path) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    with pytest.raises(EngineError, match="type"):
        session.run({"image": np.array([["a"]])}, ["logits"])


def test_a_corrupt_file_is_an_engine_error_naming_the_file(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07not a model")
    with pytest.raises(EngineError, match=r"model\.onnx"):
        engine.load(tmp_path / "model.onnx", ONE_THREAD)


def test_a_missing_file_is_an_engine_error_naming_the_file(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"absent\.onnx"):
        engine.load(tmp_path / "absent.onnx", ONE_THREAD)


def test_an_unknown_provider_is_an_engine_error_naming_it(engine: Engine, models: Path) -> None:
    with pytest.raises(EngineError, match="NoSuchProvider"):
        engine.load(models / "small.onnx", SessionOptions(provider="NoSuchProvider"))


def test_a_closed_session_refuses_to_run(engine: Engine, models: Path) -> None:
    session = engine.load(models / "small.onnx", ONE_THREAD)
    session.close()
    session.close()
    with pytest.raises(EngineError, match="closed"):
        session.run({"image": images(1)}, ["logits"])


def test_threads_that_share_a_session_each_get_their_own_answer(engine: Engine, models: Path) -> None:
    session = engine.load(models / "large.onnx", ONE_THREAD)
    expected = [session.run({"image": images(3, seed)}, ["logits"])["logits"] for seed in range(4)]
    wrong: list[int] = []

    def ask(seed: int) -> None:
        for _ in range(50):
            got = session.run({"image": images(3, seed)}, ["logits"])["logits"]
            if not np.allclose(got, expected[seed], atol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_several_threads_inside_an_operator_give_the_same_answer(engine: Engine, models: Path) -> None:
    x = np.random.default_rng(0).normal(size=(16, 512)).astype(np.float32)
    one, two = (
        engine.load(models / "heavy.onnx", SessionOptions(threads=threads)).run({"x": x}, ["y"])["y"]
        for threads in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-4)
