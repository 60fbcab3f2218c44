"""Which session a device type gets, and what it has been through before it serves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from engine_stories import LARGE, PICTURES, SMALL, entry, text_application

from tidewise.core.application import Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import ConfigError, EngineError
from tidewise.worker.engine.choose import choose_engine, engine_name, native_is_built, session_options
from tidewise.worker.engine.emulated import EmulatedSession, SlowdownSession
from tidewise.worker.engine.loading import load_variant

BIG = DeviceType("big", batch_sizes=(1, 2, 8))
SLOW = DeviceType("slow", provider="slowdown", slowdown=4.0, batch_sizes=(1, 2, 8))
EMULATED = DeviceType("rack", provider="emulated", profile="rack.json", batch_sizes=(1, 2, 8))
PICTURE = {"image": np.full((2, 1, 4, 4), 200, np.uint8)}


def test_the_python_engine_can_be_forced() -> None:
    assert engine_name(environment={"TIDEWISE_ENGINE": "python"}) == "python"
    assert choose_engine(environment={"TIDEWISE_ENGINE": "python"}).name == "python"


def test_the_native_engine_is_chosen_where_it_is_built_and_offers_the_provider() -> None:
    assert engine_name(environment={}) == ("native" if native_is_built() else "python")
    assert engine_name("CUDAExecutionProvider", environment={}) == "python"


def test_forcing_an_engine_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="TIDEWISE_ENGINE must be python or native, not 'rust'"):
        engine_name(environment={"TIDEWISE_ENGINE": "rust"})
    monkeypatch.setattr("tidewise.worker.engine.choose.native_is_built", lambda: False)
    with pytest.raises(ConfigError, match="not built"):
        engine_name(environment={"TIDEWISE_ENGINE": "native"})


def test_threads_never_exceed_the_allotted_cores() -> None:
    assert session_options(DeviceType("big", threads=8), cores=2).threads == 2
    assert session_options(DeviceType("big", threads=1), cores=64).threads == 1


def test_a_variant_is_loaded_checked_and_answers(models: Path) -> None:
    session = load_variant(BIG, PICTURES, LARGE, models / LARGE.model)
    assert session.run(PICTURE, ["logits"])["logits"].shape == (2, 3)


def test_a_variant_that_fails_its_check_is_not_returned(models: Path) -> None:
    with pytest.raises(EngineError, match="'leaky'"):
        load_variant(BIG, PICTURES, Variant("leaky", 3, "leaky_rows.onnx"), models / "leaky_rows.onnx")


def test_a_provider_that_onnxruntime_lacks_is_named(models: Path) -> None:
    missing = DeviceType("gpu", provider="NoSuchExecutionProvider")
    with pytest.raises(EngineError, match="NoSuchExecutionProvider"):
        load_variant(missing, PICTURES, SMALL, models / SMALL.model)


def test_slowed_and_emulated_devices_need_a_profile(models: Path) -> None:
    for device_type in (SLOW, EMULATED):
        with pytest.raises(EngineError, match=f"'small' has no profile on device type '{device_type.name}'"):
            load_variant(device_type, PICTURES, SMALL, models / SMALL.model)


def test_a_slowed_batch_ends_at_its_start_plus_the_profiled_median(models: Path) -> None:
    clock = Clock()
    fast = load_variant(BIG, PICTURES, SMALL, models / SMALL.model)
    session = SlowdownSession(fast, entry(b1=0.2, b2=0.3), clock.read, clock.sleep)
    assert session.run(PICTURE, ["logits"])["logits"].shape == (2, 3)
    assert clock.slept == pytest.approx([0.3 - Clock.TICK])


def test_a_slowed_batch_never_ends_before_its_computation(models: Path) -> None:
    clock = Clock()
    fast = load_variant(BIG, PICTURES, SMALL, models / SMALL.model)
    session = SlowdownSession(fast, entry(b1=0.001, b2=0.001), clock.read, clock.sleep)
    session.run(PICTURE, ["logits"])
    assert clock.slept == [0.0]


def test_loading_for_a_slowed_device_wraps_the_real_session(models: Path) -> None:
    session = load_variant(SLOW, PICTURES, SMALL, models / SMALL.model, entry(device_type="slow", b1=0.001, b8=0.002))
    assert isinstance(session, SlowdownSession)
    assert session.run(PICTURE, ["logits"])["logits"].any()


def test_an_emulated_device_sleeps_as_its_profile_says_and_answers_zeros() -> None:
    clock = Clock()
    session = EmulatedSession(PICTURES.inputs, PICTURES.outputs, entry(b1=0.1, b3=0.3), clock.sleep)
    answer = session.run(PICTURE, ["logits"])["logits"]
    np.testing.assert_array_equal(answer, np.zeros((2, 3), np.float32), strict=True)
    assert clock.slept == pytest.approx([0.2])  # between the profiled 1 and 3 rows


def test_an_emulated_answer_s_free_axes_follow_the_inputs() -> None:
    text = text_application()
    session = EmulatedSession(text.inputs, text.outputs, entry(b8=0.0001))
    ids = np.ones((2, 17), np.int64)
    answer = session.run({"ids": ids, "mask": ids}, ["states", "score"])
    assert answer["states"].shape == (2, 17, 4)
    assert answer["states"].dtype == np.float16
    assert answer["score"].shape == (2,)


def test_nothing_is_invented_beyond_the_largest_profiled_batch() -> None:
    session = EmulatedSession(PICTURES.inputs, PICTURES.outputs, entry(b1=0.001))
    with pytest.raises(EngineError, match="profiled up to 1 rows, not 2"):
        session.run(PICTURE, ["logits"])


def test_an_emulated_device_needs_no_model_file() -> None:
    session = load_variant(EMULATED, PICTURES, SMALL, None, entry(device_type="rack", b8=0.0001))
    assert not session.run(PICTURE, ["logits"])["logits"].any()
    with pytest.raises(EngineError, match="no output 'nonesuch'"):
        session.run(PICTURE, ["nonesuch"])


class Clock:
    """A clock that moves one tick at every reading and notes how long it was slept on."""

    TICK = 0.01

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def read(self) -> float:
        self.now += self.TICK
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
