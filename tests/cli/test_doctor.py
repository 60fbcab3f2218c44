"""`tidewise doctor` and `tidewise probe` say what a person can act on."""

import json
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tidewise.cli.doctor import command as doctor
from tidewise.cli.probe import command as probe
from tidewise.cli.requirements import Requirement, requirements

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_every_declared_package_is_listed_with_its_version_and_optional_ones_are_called_so() -> None:
    found = {one["what"]: one for one in json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)["findings"]}
    for text in PROJECT["dependencies"]:
        name = text.partition(">")[0]
        assert found[name]["text"] == metadata.version(name), name
    for text in PROJECT["optional-dependencies"]["dev"]:
        name = text.partition(">")[0].partition("=")[0].partition("[")[0]
        assert found[name]["text"].endswith("(optional: dev)")


def test_an_optional_package_that_is_not_here_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    only = [Requirement("click", "", "8"), Requirement("hypothesis", "dev", None)]
    monkeypatch.setattr("tidewise.cli.doctor.requirements", lambda: only)
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0
    assert "optional hypothesis: not here; to get it: pip install" in result.output


def test_a_needed_package_that_is_not_here_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidewise.cli.doctor.requirements", lambda: [Requirement("click", "", None)])
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 1 and "broken   click: not installed" in result.output


def test_requirements_are_found_in_an_installed_package_and_in_a_bare_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: ["click>=8", "ruff>=0.6; extra == 'dev'"])
    assert [(one.name, one.extra) for one in requirements()] == [("click", ""), ("ruff", "dev")]


@pytest.fixture
def healthy() -> Iterator[str]:
    """HOST:PORT of a health service that serves "", and an application that is not ready."""
    server = grpc.server(ThreadPoolExecutor(2))
    servicer = health.HealthServicer()
    servicer.set("pets", health_pb2.HealthCheckResponse.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 0, "ready"),
        (("--service", "pets"), 1, "application 'pets' at {}: up, but not ready"),
        (("--service", "cars"), 1, "knows no such application"),
    ],
)
def test_a_probe_says_what_it_found(healthy: str, words: tuple[str, ...], code: int, said: str) -> None:
    result = CliRunner().invoke(probe, [healthy, *words])
    assert result.exit_code == code
    assert said.format(healthy) in result.output


def test_a_probe_of_nobody_is_one_sentence_without_the_words_of_a_library() -> None:
    result = CliRunner().invoke(probe, ["127.0.0.1:1"])
    assert result.exit_code == 1
    assert result.output == "127.0.0.1:1: nobody answers there; is it up, and is this its gRPC port?\n"
