"""Every story told on a stage is told of both data planes."""

from collections.abc import Iterator

import pytest
import router_stage
from hypothesis import settings

from tidewise.native.data_plane import find_data_plane
from tidewise.router.plane import PLANES

settings.register_profile("router", deadline=None)  # no promise here is about the speed of one example
settings.load_profile("router")


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
