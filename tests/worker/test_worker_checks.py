from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.datatype import DATATYPES, NAMES
from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.admission import stated_budget
from tidewise.worker.answer import Answer
from tidewise.worker.checks import Decoded, Signature, decode
from tidewise.worker.contents import FIELDS, MOST
from tidewise.worker.replies import encode


def signature(*inputs: TensorSpec) -> Signature:
    outputs = (TensorSpec("a", "FP32", (2,)), TensorSpec("b", "FP16", ()))
    return Signature.of(Application("app", 1.0, (Variant("v", 1, "v.onnx"),), inputs, outputs))


IMAGE = signature(TensorSpec("image", "FP32", (2, 3)))


def raw(name: str, value: np.ndarray, **request: Any) -> pb.ModelInferRequest:
    tensor = pb.ModelInferRequest.InferInputTensor(name=name, datatype=NAMES[value.dtype], shape=value.shape)
    values = {"model_name": "app", "inputs": [tensor], "raw_input_contents": [value.tobytes()], **request}
    return pb.ModelInferRequest(**values)


@pytest.mark.parametrize("datatype", DATATYPES)
def test_every_numeric_type_travels_raw(datatype: str) -> None:
    value = np.arange(6).reshape(2, 3).astype(DATATYPES[datatype])
    decoded = decode(raw("x", value), signature(TensorSpec("x", datatype, (3,))))
    assert np.array_equal(decoded.inputs["x"], value)
    assert decoded.inputs["x"].dtype == value.dtype
    assert decoded.rows == 2


@pytest.mark.parametrize("datatype", FIELDS)
def test_every_type_but_fp16_travels_typed(datatype: str) -> None:
    value = np.arange(6).reshape(2, 3).astype(DATATYPES[datatype])
    request = raw("x", value, raw_input_contents=[])
    getattr(request.inputs[0].contents, FIELDS[datatype]).extend(value.ravel().tolist())
    decoded = decode(request, signature(TensorSpec("x", datatype, (3,))))
    assert np.array_equal(decoded.inputs["x"], value)
    assert decoded.inputs["x"].dtype == value.dtype


def test_a_tensor_too_large_to_be_converted_value_by_value_must_travel_raw() -> None:
    request = raw("x", np.zeros(MOST + 1, np.uint8), raw_input_contents=[])
    request.inputs[0].contents.uint_contents.extend([0] * (MOST + 1))
    with pytest.raises(QueryError, match=r"'x' holds 1048577 values; .* must travel in raw_input_contents"):
        decode(request, signature(TensorSpec("x", "UINT8", ())))


def test_queries_batch_only_with_their_like() -> None:
    value = np.zeros((1, 5, 3), np.float32)
    assert decode(raw("x", value), signature(TensorSpec("x", "FP32", (-1, 3)))).shapes == ((5, 3),)
    assert decode(raw("x", value), signature(TensorSpec("x", "FP32", (5, 3)))).shapes == ()


GOOD = np.zeros((1, 2, 3), np.float32)


def _typed(request: pb.ModelInferRequest, field: str, *values: float) -> pb.ModelInferRequest:
    del request.raw_input_contents[:]
    getattr(request.inputs[0].contents, field).extend(values)
    return request


def _stated(value: np.ndarray, shape: list[int]) -> pb.ModelInferRequest:
    request = raw("image", value)
    del request.inputs[0].shape[:]
    request.inputs[0].shape.extend(shape)
    return request


def _output(name: str, count: int = 1, **parameters: int) -> pb.ModelInferRequest:
    output = pb.ModelInferRequest.InferRequestedOutputTensor(name=name)
    for key, value in parameters.items():
        output.parameters[key].int64_param = value
    return raw("image", GOOD, outputs=[output] * count)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (raw("picture", GOOD), "no input 'picture'; expected 'image' (FP32 [-1, 2, 3])"),
        (raw("image", GOOD.astype(np.float64)), "'image' must be FP32, not 'FP64'"),
        (raw("image", GOOD[0]), "'image' must have shape [-1, 2, 3] (rows first), not [2, 3]"),
        (raw("image", GOOD[:0]), "'image' must have shape [-1, 2, 3] (rows first), not [0, 2, 3]"),
        (_stated(GOOD, [2, 2, 3]), "'image' of shape [2, 2, 3] and type FP32 must hold 48 bytes, not 24"),
        (_stated(GOOD, [2**62, 2, 3]), "must hold"),
        (_stated(GOOD, [-1, 2, 3]), "'image' must have shape"),
        (raw("image", GOOD, raw_input_contents=[]), "'image' must hold 6 values by its shape, not 0"),
        (raw("image", GOOD, raw_input_contents=[b"", b""]), "raw_input_contents holds 2 tensors, but inputs names 1"),
        (raw("image", GOOD, inputs=[], raw_input_contents=[]), "input 'image' is missing; expected 'image'"),
        (_typed(raw("image", GOOD), "int_contents", 1), "whose values go into fp32_contents, not int_contents"),
        (_output("c"), "no output 'c'; it has 'a', 'b'"),
        (_output("a", 2), "output 'a' is asked for twice"),
        (_output("a", classification=3), "output 'a': parameter 'classification' is not supported"),
    ],
)
def test_a_wrong_query_is_told_which_tensor_and_what_was_expected(
    request_: pb.ModelInferRequest, sentence: str
) -> None:
    with pytest.raises(QueryError) as error:
        decode(request_, IMAGE)
    assert sentence in str(error.value)


def test_a_tensor_given_twice_and_unequal_rows_are_told() -> None:
    twice = raw("image", GOOD)
    twice.inputs.append(twice.inputs[0])
    twice.raw_input_contents.append(twice.raw_input_contents[0])
    with pytest.raises(QueryError, match="'image' is given twice"):
        decode(twice, IMAGE)
    pair = signature(TensorSpec("x", "FP32", ()), TensorSpec("y", "FP32", ()))
    uneven = raw("x", np.zeros(2, np.float32))
    uneven.inputs.append(raw("y", np.zeros(3, np.float32)).inputs[0])
    uneven.raw_input_contents.append(bytes(12))
    with pytest.raises(QueryError, match="'x' has 2, 'y' has 3"):
        decode(uneven, pair)


def test_values_that_a_narrow_type_cannot_hold_are_told() -> None:
    request = _typed(raw("x", np.zeros(1, np.uint8)), "uint_contents", 300)
    with pytest.raises(QueryError, match="UINT8, which holds 0 to 255, not 300"):
        decode(request, signature(TensorSpec("x", "UINT8", ())))


def test_fp16_values_go_raw_only() -> None:
    request = _typed(raw("x", np.zeros(1, np.float16)), "fp32_contents", 1.0)
    with pytest.raises(QueryError, match="FP16, which travels only in raw_input_contents"):
        decode(request, signature(TensorSpec("x", "FP16", ())))


@pytest.mark.parametrize("value", [-5, 0])
def test_a_deadline_must_be_positive(value: int) -> None:
    request = pb.ModelInferRequest()
    request.parameters["deadline_ms"].int64_param = value
    with pytest.raises(QueryError, match="deadline_ms"):
        stated_budget(request)
    request.parameters["deadline_ms"].double_param = 12.5
    assert stated_budget(request) == 0.0125


@given(st.integers(1, 4), st.sampled_from(sorted(DATATYPES)))
def test_answers_travel_byte_for_byte(rows: int, datatype: str) -> None:
    value = np.arange(rows * 3).reshape(rows, 3).astype(DATATYPES[datatype])
    response = encode(pb.ModelInferRequest(id="7"), Answer({"a": value}, "v", 4, 9, 0.001, 0.002, rows), "w0")
    (output,) = response.outputs
    assert (response.id, response.model_version, output.datatype, list(output.shape)) == ("7", "4", datatype, [rows, 3])
    assert response.raw_output_contents[0] == value.tobytes()
    assert response.parameters["queue_us"].int64_param == 1000


@given(st.binary(max_size=200))
def test_no_message_breaks_the_checks(junk: bytes) -> None:
    try:
        request = pb.ModelInferRequest.FromString(junk)
    except Exception:  # not a message at all: gRPC refuses it before anything of ours sees it
        return
    try:
        assert isinstance(decode(request, IMAGE), Decoded)
    except QueryError as error:
        assert str(error)
