from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.errors import QueryError
from tidewise.proto import inference_pb2 as pb
from tidewise.router.head import MAX_FIELDS, Head, head_of, read_answer, read_head
from tidewise.router.stream import framed

TEXT = st.text(max_size=40)


@st.composite
def requests(draw: st.DrawFn) -> pb.ModelInferRequest:
    message = pb.ModelInferRequest(model_name=draw(TEXT), model_version=draw(TEXT), id=draw(TEXT))
    if draw(st.booleans()):
        message.parameters["deadline_ms"].int64_param = draw(st.integers(-(2**40), 2**40))
    message.parameters["other"].string_param = draw(TEXT)
    message.inputs.add(name=draw(TEXT), datatype="FP32").contents.fp32_contents.extend(draw(st.lists(st.just(1.5))))
    message.raw_input_contents.extend(draw(st.lists(st.binary(max_size=300), max_size=4)))
    return message


def fields(body: bytes) -> list[bytes]:
    """The top-level fields of a message, split by parsing prefixes."""
    found, start = [], 0
    for end in range(1, len(body) + 1):
        try:
            head_of(body[start:end], whole=0)
        except (ValueError, IndexError):
            continue
        found.append(body[start:end])
        start = end
    return found


@given(requests(), st.randoms())
def test_stepping_over_tensors_reads_the_same_head_in_any_order(message: pb.ModelInferRequest, draw: object) -> None:
    parts = fields(message.SerializeToString())
    draw.shuffle(parts)
    whole = pb.ModelInferRequest.FromString(b"".join(parts))
    head = pb.ModelInferRequest.FromString(head_of(b"".join(parts), whole=0))
    assert (head.model_name, head.model_version, head.id) == (whole.model_name, whole.model_version, whole.id)
    assert head.parameters == whole.parameters
    assert not head.raw_input_contents and not head.inputs


@given(st.binary(max_size=200))
def test_reading_junk_raises_nothing_but_a_query_error(junk: bytes) -> None:
    for body in (junk, junk + b"\x3a\x80\x80\x08" + b"x" * (1 << 17)):  # parsed whole, stepped over
        try:
            read_head(body)
        except QueryError as error:
            assert "not a ModelInferRequest" in str(error) or "deadline_ms" in str(error)
        read_answer(body)


def test_large_bodies_are_read_by_their_head() -> None:
    message = pb.ModelInferRequest(model_name="garments", model_version="2", id="7")
    message.parameters["deadline_ms"].uint64_param = 250
    message.raw_input_contents.append(b"\0" * 600_000)
    assert read_head(message.SerializeToString()) == Head("garments", "2", "7", 0.25)


def test_a_message_of_countless_fields_is_refused() -> None:
    with pytest.raises(QueryError, match=f"more than {MAX_FIELDS} fields"):
        read_head(b"\x2a\x00" * 10_000_000)


def test_a_declared_length_beyond_the_end_is_refused() -> None:
    with pytest.raises(QueryError, match="ends inside a field"):
        read_head(b"\x0a\x01a" + b"\x3a\xff\xff\xff\x7f" + b"x" * 100_000)


@given(st.binary(max_size=70_000))
def test_framing_an_answer_is_what_protobuf_would_write(content: bytes) -> None:
    answer = pb.ModelInferResponse(model_name="garments", raw_output_contents=[content])
    message = pb.ModelStreamInferResponse.FromString(framed(answer.SerializeToString()))
    assert message.infer_response == answer and not message.error_message
