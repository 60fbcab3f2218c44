import pytest
from synthetic import synthetic_run


@pytest.fixture(scope="session")
def run():
    return synthetic_run()


@pytest.fixture(scope="session")
def bad_run():
    return synthetic_run("clipper-ha")
