"""The worker's stories are told to every way of serving that is built here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tidewise.worker.stations import BATCHER_VARIABLE, FRONT_VARIABLE, front_is_built, native_is_built

no_batcher = pytest.mark.skipif(not native_is_built(), reason="the C++ batcher is not built")
no_front = pytest.mark.skipif(not front_is_built(), reason="the C++ front is not built")


@pytest.fixture(scope="module", params=["python", pytest.param("native", marks=no_batcher)])
def batcher(request: pytest.FixtureRequest) -> Iterator[None]:
    """The batcher of stations that a test makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BATCHER_VARIABLE, request.param)
        yield


WAYS = [
    pytest.param(("python", "python"), id="python"),
    pytest.param(("native", "python"), id="batcher", marks=no_batcher),
    pytest.param(("native", "native"), id="front", marks=no_front),
]


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Batcher and front of worker processes that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, name in zip((BATCHER_VARIABLE, FRONT_VARIABLE), request.param, strict=True):
            patch.setenv(variable, name)
        yield
