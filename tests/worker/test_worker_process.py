"""Real worker processes over 127.0.0.1, real models, a pretend controller."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np
import onnxruntime
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from worker_cluster import (
    BEST,
    CHEAP,
    DIGITS,
    LADDER,
    PretendController,
    applied,
    client,
    controller,
    digits,
    environment,
    images,
    patient,
    profile_of,
    request,
    wait_for,
    worker,
)

from tidewise.core.outcome import REASON_KEY
from tidewise.proto import inference_pb2 as pb

Served = tuple[PretendController, subprocess.Popen[bytes]]


pytestmark = pytest.mark.usefixtures("way")


@pytest.fixture(scope="module")
def served(way: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One worker that hosts every variant of digits, the most accurate its ceiling."""
    with (
        controller(patient(tmp_path_factory.mktemp("models"))) as (pretend, port),
        worker(port, tmp_path_factory.mktemp("worker"), profile_of(digits(), "real")) as process,
    ):
        wait_for(lambda: pretend.reports)
        pretend.order(1, *(one.name for one in LADDER))
        applied(pretend, 1)
        wait_for(lambda: len(pretend.device.warm) == len(LADDER))
        yield pretend, process


def refused(call: grpc.Future) -> tuple[grpc.StatusCode, str, str]:
    """Status, sentence and reason of a call that fails."""
    with pytest.raises(grpc.RpcError) as error:
        call.result()
    trailing = dict(error.value.trailing_metadata() or ())  # type: ignore[attr-defined]
    return error.value.code(), error.value.details(), trailing.get(REASON_KEY, "")  # type: ignore[attr-defined]


def test_tritonclient_classifies_with_exactly_the_accuracy_of_a_bare_session(served: Served) -> None:
    pretend, _ = served
    words = [sys.executable, str(Path(__file__).with_name("triton_classifies.py")), pretend.reports[-1].address]
    words += [str(DIGITS / "test.npz"), "digits", "image", "logits"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    session = onnxruntime.InferenceSession(DIGITS / BEST.model)
    expected = session.run(["logits"], {"image": images(10_000)})[0].argmax(axis=1).tolist()
    assert outcome["variants"] == {BEST.name: len(expected)}
    assert outcome["unary"] == outcome["streamed"] == expected
    assert outcome["metadata"]["versions"] == sorted(str(one.version) for one in LADDER)
    assert outcome["config"]["max_batch_size"] == 8
    assert outcome["config"]["parameters"]["batching"]["string_value"] == "eager"
    (best,) = (one for one in outcome["statistics"] if one["version"] == str(BEST.version))
    assert int(best["inference_count"]) >= 2 * len(expected)
    assert int(best["inference_stats"]["queue"]["count"]) >= len(expected)


def test_answers_say_who_answered_and_how_fast(served: Served) -> None:
    with client(served[0]) as stub:
        answer = stub.ModelInfer(request(images(3), id="q1"), metadata=[("tidewise-worker", "w0")])
        pinned = stub.ModelInfer(request(images(1), model_version=CHEAP.name))
        numbered = stub.ModelInfer(request(images(1), model_version=str(CHEAP.version)))
    assert (answer.id, answer.model_version) == ("q1", str(BEST.version))
    assert answer.parameters["variant"].string_param == BEST.name
    assert answer.parameters["worker"].string_param == "w0"
    assert answer.parameters["plan_version"].int64_param == 1
    assert answer.parameters["batch_size"].int64_param == 3
    assert answer.parameters["compute_us"].int64_param > 0
    assert pinned.model_version == numbered.model_version == str(CHEAP.version)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model_name": "dogs"}, ("NOT_FOUND", "'dogs'; known: 'digits'", "unknown_application")),
        ({"model_version": "99"}, ("NOT_FOUND", "no variant '99'; known: 1 (", "unknown_variant")),
        ({"raw_input_contents": [b"1"]}, ("INVALID_ARGUMENT", "must hold 64 bytes, not 1", "bad_input")),
        ({"parameters": {"deadline_ms": pb.InferParameter(double_param=1e-6)}}, ("DEADLINE_EXCEEDED", "", "")),
    ],
)
def test_a_wrong_query_gets_a_status_a_sentence_and_a_reason(
    served: Served, changes: dict[str, object], expected: tuple[str, str, str]
) -> None:
    with client(served[0]) as stub:
        code, text, reason = refused(stub.ModelInfer.future(request(images(1), **changes)))
    assert code.name == expected[0]
    assert expected[1] in text
    assert expected[2] in reason


def test_a_worker_that_is_not_here_is_unavailable(served: Served) -> None:
    with client(served[0]) as stub:
        call = stub.ModelInfer.future(request(images(1)), metadata=[("tidewise-worker", "w9")])
        assert refused(call)[0::2] == (grpc.StatusCode.UNAVAILABLE, "no_worker")


def test_eleven_megabytes_pass_and_too_large_a_message_is_told_the_limit(served: Served) -> None:
    with client(served[0]) as stub:
        padded = request(images(1))
        padded.parameters["note"].string_param = "x" * 11_000_000
        assert stub.ModelInfer(padded).model_version == str(BEST.version)
        padded.parameters["note"].string_param = "x" * 70_000_000
        code, text, _ = refused(stub.ModelInfer.future(padded))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(64 * 1024 * 1024) in text


def test_a_failed_query_does_not_end_its_stream(served: Served) -> None:
    queries = [request(images(1), id="a"), request(images(1), id="b", model_version="99"), request(images(1), id="c")]
    with client(served[0]) as stub:
        answers = list(stub.ModelStreamInfer(iter(queries)))
    assert [one.infer_response.id for one in answers] == ["a", "b", "c"]
    assert [bool(one.error_message) for one in answers] == [False, True, False]
    assert answers[1].infer_response.parameters[REASON_KEY].string_param == "unknown_variant"


def test_what_the_client_gives_up_is_never_run(served: Served) -> None:
    """A stream is cancelled with a thousand queries on it; the device is free and well at once."""
    with client(served[0]) as stub:
        go_on = threading.Event()

        def queries() -> Iterator[pb.ModelInferRequest]:
            for _ in range(300):
                yield request(images(8))
            go_on.wait(10)

        call = stub.ModelStreamInfer(queries())
        next(call)
        call.cancel()
        go_on.set()
        wait_for(lambda: served[0].device.queued == 0 and not served[0].device.busy)
        assert stub.ModelInfer(request(images(1))).model_version == str(BEST.version)


def test_health_is_told_for_the_process_and_for_each_application(served: Served) -> None:
    with grpc.insecure_channel(served[0].reports[-1].address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", "digits", "inference.GRPCInferenceService"):
            assert stub.Check(health_pb2.HealthCheckRequest(service=service)).status == 1


def test_an_idle_worker_uses_hardly_any_processor(served: Served) -> None:
    process = psutil.Process(served[1].pid)
    time.sleep(0.25)
    before, began = process.cpu_times(), time.monotonic()
    time.sleep(1.5)
    after, seconds = process.cpu_times(), time.monotonic() - began
    assert (after.user + after.system - before.user - before.system) / seconds < 0.05


def test_files_are_fetched_by_digest_and_kept(served: Served, tmp_path: Path) -> None:
    assert sorted(served[0].fetched) == sorted(one.model for one in LADDER)
    state = tmp_path / "state" / "models"
    state.mkdir(parents=True)
    shutil.copy(DIGITS / CHEAP.model, state / f"{CHEAP.digest}.onnx")
    with controller() as (pretend, port), worker(port, tmp_path, profile_of(digits(), "real")):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        pretend.order(2, BEST.name)
        applied(pretend, 2)
        assert pretend.fetched == [BEST.model]


def test_a_corrupt_model_keeps_the_old_variant_serving_and_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "digits"
    shutil.copytree(DIGITS, folder)
    with controller(folder) as (pretend, port), worker(port, tmp_path, profile_of(digits(), "real")):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        (folder / BEST.model).write_bytes(b"not a model")
        pretend.order(2, BEST.name)
        wait_for(lambda: pretend.device.refused_version == 2)
        assert pretend.device.applied_version == 1
        assert "could not be loaded" in pretend.device.refused_reason
        with client(pretend) as stub:
            assert stub.ModelInfer(request(images(1))).model_version == str(CHEAP.version)
        pretend.order(3, CHEAP.name)
        applied(pretend, 3)


def test_devices_serve_on_without_the_controller_and_introduce_themselves_again(tmp_path: Path) -> None:
    with controller() as (pretend, port), worker(port, tmp_path, profile_of(digits(), "real")):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        pretend.orders.put(None)  # ends the call; the next attach is a new introduction
        wait_for(lambda: sum(bool(report.profiles) for report in pretend.reports) >= 2)
        with client(pretend) as stub:
            assert stub.ModelInfer(request(images(1))).model_version == str(CHEAP.version)
        assert pretend.reports[-1].process == pretend.reports[0].process


def test_sigterm_under_load_costs_a_client_that_honours_readiness_nothing(tmp_path: Path) -> None:
    with (
        controller(patient(tmp_path)) as (pretend, port),
        worker(port, tmp_path, profile_of(digits(), "real")) as process,
    ):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        with client(pretend) as stub, ThreadPoolExecutor(16) as pool:
            calls = []
            for number in range(2000):
                if number == 50:
                    process.send_signal(signal.SIGTERM)
                if number % 10 == 0 and not stub.ServerReady(pb.ServerReadyRequest()).ready:
                    break
                calls.append(pool.submit(stub.ModelInfer, request(images(1))))
                time.sleep(0.01)
            assert {call.result().model_version for call in calls} == {str(CHEAP.version)}
            assert 50 <= len(calls) < 2000
        assert process.wait(60) == 0
        assert pretend.device.draining


def test_forty_emulated_devices_share_one_process(tmp_path: Path) -> None:
    profile = profile_of(digits(), "pretend", seconds=0.02)
    names = tuple(f"pretend-{number}" for number in range(40))
    with (
        controller(patient(tmp_path)) as (pretend, port),
        worker(port, tmp_path, profile, "--count", "40", device_type="pretend") as process,
    ):
        wait_for(lambda: pretend.reports)
        pretend.order(1, BEST.name, workers=names)
        applied(pretend, 1)
        assert pretend.fetched == []
        with client(pretend) as stub:
            assert refused(stub.ModelInfer.future(request(images(1))))[2] == "bad_input"
            calls = [
                stub.ModelInfer.future(request(images(1)), metadata=[("tidewise-worker", names[number % 40])])
                for number in range(200)
            ]
            answers = [call.result() for call in calls]
        assert {one.parameters["worker"].string_param for one in answers} == set(names)
        assert {one.raw_output_contents[0] for one in answers} == {bytes(40)}
        assert psutil.Process(process.pid).num_threads() < 40


def test_a_query_queued_behind_a_long_batch_ends_at_its_own_deadline_and_is_never_run(tmp_path: Path) -> None:
    """By the client's gRPC deadline, by its ``deadline_ms``, and by giving up; the long one is answered."""
    profile = profile_of(digits(), "pretend", seconds=2.0, sizes=(1,))
    with (
        controller(patient(tmp_path)) as (pretend, port),
        worker(port, tmp_path, profile, device_type="pretend"),
    ):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        with client(pretend) as stub:
            long = stub.ModelInfer.future(request(images(1)))
            wait_for(lambda: pretend.device.busy)
            stated = {"deadline_ms": pb.InferParameter(int64_param=150)}
            by_wire = stub.ModelInfer.future(request(images(1)), timeout=0.1)
            by_parameter = stub.ModelInfer.future(request(images(1), parameters=stated))
            given_up = stub.ModelInfer.future(request(images(1)))
            given_up.cancel()
            assert refused(by_wire)[0] is grpc.StatusCode.DEADLINE_EXCEEDED
            assert refused(by_parameter)[0::2] == (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline")
            assert not long.done()
            assert long.result().model_version == str(CHEAP.version)
            statistics = stub.ModelStatistics(pb.ModelStatisticsRequest(name="digits", version=CHEAP.name))
        assert statistics.model_stats[0].execution_count == 1


def test_a_slowed_device_takes_its_profiled_time(tmp_path: Path) -> None:
    profile = profile_of(digits(), "slow", seconds=0.05, sizes=(1,))
    with controller(patient(tmp_path)) as (pretend, port), worker(port, tmp_path, profile, device_type="slow"):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        applied(pretend, 1)
        with client(pretend) as stub:
            answers = [stub.ModelInfer(request(images(1))) for _ in range(5)]
        computed = [one.parameters["compute_us"].int64_param for one in answers]
        assert np.isclose(min(computed), 55_000, atol=10_000)  # others may be held up by whatever else runs here
