"""What a caller must not notice of who answers it: C++ or, for whatever is unusual, Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
import pytest
from worker_cluster import (
    BEST,
    LADDER,
    applied,
    client,
    controller,
    digits,
    images,
    patient,
    profile_of,
    request,
    wait_for,
    worker,
)

from tidewise.proto import inference_pb2 as pb
from tidewise.proto.inference_pb2_grpc import GRPCInferenceServiceStub

pytestmark = pytest.mark.usefixtures("way")
WIDE = 9_000  # floats of one row's answer: more than is copied


def wide_digits(folder: Path) -> Path:
    """The digits with answers of 36 kB a row."""
    target = patient(folder)
    file = target / "application.toml"
    file.write_text(file.read_text().replace("shape = [10]", f"shape = [{WIDE}]"))
    return target


@pytest.fixture(scope="module")
def wide(way: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GRPCInferenceServiceStub]:
    """An emulated device whose answers are large."""
    folder = tmp_path_factory.mktemp("wide")
    with (
        controller(wide_digits(folder)) as (pretend, port),
        worker(port, folder, profile_of(digits(), "pretend"), device_type="pretend"),
    ):
        wait_for(lambda: pretend.reports)
        pretend.order(1, *(one.name for one in LADDER))
        applied(pretend, 1)
        wait_for(lambda: len(pretend.device.warm) == len(LADDER))
        with client(pretend) as stub:
            yield stub


@pytest.mark.parametrize("rows", [1, 8, 19])
def test_large_answers_arrive_whole(wide: GRPCInferenceServiceStub, rows: int) -> None:
    answer = wide.ModelInfer(request(images(rows)))
    assert list(answer.outputs[0].shape) == [rows, WIDE]
    assert answer.raw_output_contents[0] == bytes(4 * WIDE * rows)


def test_typed_values_and_named_outputs_are_answered_like_raw_ones(wide: GRPCInferenceServiceStub) -> None:
    x = images(2)
    raw = wide.ModelInfer(request(x, id="7", model_version=BEST.name))
    (spec,) = digits().inputs
    tensor = pb.ModelInferRequest.InferInputTensor(name=spec.name, datatype=spec.datatype, shape=x.shape)
    tensor.contents.uint_contents.extend(x.ravel().tolist())
    outputs = [pb.ModelInferRequest.InferRequestedOutputTensor(name="logits")]
    typed = wide.ModelInfer(
        request(x, id="7", model_version=str(BEST.version), inputs=[tensor], raw_input_contents=[], outputs=outputs)
    )
    for answer in (raw, typed):
        del answer.parameters["queue_us"], answer.parameters["compute_us"]
    assert raw == typed


def test_every_way_of_asking_is_counted(wide: GRPCInferenceServiceStub) -> None:
    def served() -> int:
        found = wide.ModelStatistics(pb.ModelStatisticsRequest(name="digits", version=BEST.name)).model_stats
        return sum(one.inference_stats.success.count for one in found)

    before = served()
    wide.ModelInfer(request(images(1)))
    list(wide.ModelStreamInfer(iter([request(images(1)), request(images(1))])))
    with pytest.raises(grpc.RpcError):
        wide.ModelInfer(request(images(1), model_name="nothing"))
    assert served() == before + 3


def test_many_queries_at_once_are_each_answered_with_their_own_id(wide: GRPCInferenceServiceStub) -> None:
    calls = [wide.ModelInfer.future(request(images(1), id=str(number))) for number in range(100)]
    answers = [call.result() for call in calls]
    assert [one.id for one in answers] == [str(number) for number in range(100)]
    assert {np.frombuffer(one.raw_output_contents[0], np.float32).size for one in answers} == {WIDE}
