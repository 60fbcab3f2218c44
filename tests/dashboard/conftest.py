import pytest
from synthetic import keep, synthetic_run


@pytest.fixture(scope="session")
def run():
    return synthetic_run()


@pytest.fixture(scope="session")
def bad_run():
    return synthetic_run("clipper-ha")


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [
        keep(synthetic_run(policy, seconds=20), folder / policy) for policy in ("tidewise", "clipper-ha", "clipper-ht")
    ]
