"""What reaches a Tidewise log: JSON, and nothing about callers that went away."""

import json
import logging

import pytest
from grpc._cython.cygrpc import ExecuteBatchError

from tidewise.cli.logs import JsonLines, callers_stayed


@pytest.mark.parametrize(
    ("error", "logged"), [(ExecuteBatchError("execute_batch"), False), (ValueError("a fault of ours"), True)]
)
def test_grpcs_word_on_a_caller_that_hung_up_is_not_logged_but_faults_are(error: Exception, logged: bool) -> None:
    exc_info = (type(error), error, None)
    record = logging.LogRecord("grpc._cython.cygrpc", logging.ERROR, __file__, 1, "raised in core", (), exc_info)
    assert callers_stayed(record) is logged


def test_a_record_is_one_json_object_whatever_it_holds() -> None:
    record = logging.LogRecord("tidewise", logging.INFO, __file__, 1, "two\nlines %s", ("here",), None)
    record.worker = object()
    values = json.loads(JsonLines("worker").format(record))
    assert (values["event"], values["part"], values["level"]) == ("two\nlines here", "worker", "info")
