"""Telling a story of both data planes: used by the conftest of every folder whose tests start routers."""

from collections.abc import Iterator

import pytest
import router_stage

from tidewise.native.data_plane import find_data_plane
from tidewise.router.plane import PLANES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if hasattr(metafunc.module, "Client") or hasattr(metafunc.module, "stage"):
        metafunc.parametrize("plane", PLANES, indirect=True)


@pytest.fixture(autouse=True)
def plane(request: pytest.FixtureRequest) -> Iterator[str]:
    """The data plane of this test's routers; "python" where a test starts none."""
    name = getattr(request, "param", "python")
    if name == "native" and find_data_plane() is None:
        pytest.skip("the C++ data plane is not built")
    token = router_stage.PLANE.set(name)
    yield name
    router_stage.PLANE.reset(token)
