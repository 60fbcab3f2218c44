"""The simulator and a real cluster of emulated devices, on our own generated world."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulator_stories import world

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.outcome import Outcome
from tidewise.core.profile import BatchLatency, VariantProfile
from tidewise.simulator.simulation import Simulation, simulate
from tidewise.simulator.world import Charges
from tidewise.worker.loader import VariantLoader
from tidewise.worker.runner import Done, TimedRunner, Work
from tidewise.worker.sessions import Source
from tidewise.worker.store import ModelStore

ROOT = Path(__file__).parents[2]
AXIS = TensorSpec("x", "FP32", (1,))
VARIANT = Variant("xl", 1, "xl.onnx", 0.9)
CATS = Application("cats", 0.3, (VARIANT,), (AXIS,), (AXIS,))
ENTRY = VariantProfile("cats", "xl", "rack", (BatchLatency(1, 0.02, 0.02),), load=0.2)
RACK = DeviceType("rack", provider="emulated", profile="rack.json")


@pytest.mark.timeout(180)
def test_a_real_cluster_of_emulated_devices_does_what_the_simulator_says() -> None:
    command = "bench/fidelity.py --world --seconds 8 --peak-qps 60 --seeds 1 --within .25 --json"
    done = subprocess.run([sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["cluster"]["arrivals"] == run["simulator"]["arrivals"] > 150


@pytest.mark.parametrize(("factor", "least", "most"), [(1.0, 0.2, 1.2), (0.0, 0.0, 0.15)])
def test_an_emulated_variant_takes_its_load_time(tmp_path: Path, factor: float, least: float, most: float) -> None:
    async def loading() -> float:
        loader = VariantLoader(ModelStore(None, tmp_path, lambda application, variant: None))  # type: ignore[arg-type, return-value]
        loop = asyncio.get_running_loop()
        took = []
        for _ in range(3):  # others may be held up by whatever else runs here
            began = loop.time()
            await loader.load(replace(RACK, load_factor=factor), Source(CATS, VARIANT, ENTRY))
            took.append(loop.time() - began)
        return min(took)

    assert least <= asyncio.run(loading()) < most


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_an_emulated_batch_takes_its_median_give_or_take_the_noise(tmp_path: Path, noise: float) -> None:
    async def seconds(batches: int) -> list[float]:
        loop = asyncio.get_running_loop()
        loader = VariantLoader(ModelStore(None, tmp_path, lambda application, variant: None))  # type: ignore[arg-type, return-value]
        session = await loader.load(replace(RACK, load_factor=0.0), Source(CATS, VARIANT, ENTRY))
        runner = TimedRunner(loop, {session: ENTRY}, noise)
        found: list[asyncio.Future[Done]] = [loop.create_future() for _ in range(batches)]
        for one in found:
            runner.start(Work(session, [{"x": np.zeros((1, 1), np.float32)}], [1], 1, ["x"]), one.set_result)
        return [(await one).seconds for one in found]

    took = asyncio.run(seconds(20))
    assert min(took) >= 0.7 * 0.02 - 0.001  # no batch is faster than that
    assert (max(took) > 1.15 * min(took)) or noise == 0.0


def test_the_controller_hears_of_violations_on_simulated_devices() -> None:
    simulation = Simulation(world("proteus", rates={"cats": 400.0}, seconds=3.0), seed=0)
    heard = []
    reported = simulation.control.workers_reported
    simulation.control.workers_reported = lambda report, now: (heard.append(report), reported(report, now))[1]  # type: ignore[method-assign]
    simulation.play()
    assert any(one.violation_rate > 1 for report in heard for one in report.devices)
    assert any(one.arrival_rate > 1 for report in heard for one in report.devices)


def test_a_reserve_for_the_way_back_is_what_devices_keep() -> None:
    charged = replace(world(), charges=Charges(reply=0.002))
    stations = Simulation(charged, seed=0).site.stations
    assert {one.device.policy.reserve for one in stations.values()} == {0.002}


def test_nobody_waits_for_an_answer_beyond_the_deadline() -> None:
    result = simulate(world("proteus", rates={"cats": 400.0}, seconds=3.0), seed=0)
    reasons = {one.reason for one in result.records if one.outcome is not Outcome.ON_TIME}
    assert "deadline" in reasons and not any(one.outcome is Outcome.LATE for one in result.records)
