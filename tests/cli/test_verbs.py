"""Every verb is there, and a wrong word is told in a sentence before anything is started."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidewise.cli.main import COMMANDS, cli


def tidewise(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidewise.cli.main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_says_what_it_does(verb: str) -> None:
    result = CliRunner().invoke(cli, [verb, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


@pytest.mark.parametrize("verb", ["up", "demo"])
def test_an_unknown_policy_is_refused_before_a_cluster_is_started(verb: str, tmp_path: Path) -> None:
    ended = tidewise(tmp_path, verb, "--policy", "magic")
    assert ended.returncode == 2
    assert ended.stderr.startswith("tidewise: allocation 'magic' is unknown; known: ")
    assert not list(tmp_path.iterdir())


def test_a_state_folder_that_is_a_file_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = tidewise(tmp_path, "up", "--state", "file")
    assert ended.returncode == 2 and "is a file" in ended.stderr


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = tidewise(tmp_path, "profile", "--out", "file/profile.json")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("tidewise: ") and "Traceback" not in ended.stderr


def test_what_grpc_has_to_say_of_a_port_is_not_mixed_into_the_logs(tmp_path: Path) -> None:
    ended = tidewise(tmp_path, "controller", "--listen", "192.0.2.1:9")  # an address of documentation, nobody's
    assert ended.returncode == 2
    assert [json.loads(line)["event"] for line in ended.stderr.splitlines()] == [
        "cannot listen on 192.0.2.1:9: is another controller there?"
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("controller", "--policy", "magic"),
        ("router", "--join", "nowhere"),
        ("worker", "--join", "127.0.0.1:1", "--device-type", "magic"),
    ],
)
def test_a_process_that_cannot_start_says_so_as_a_line_of_its_log(words: tuple[str, ...], tmp_path: Path) -> None:
    ended = tidewise(tmp_path, *words)
    assert ended.returncode == 2
    (line,) = map(json.loads, ended.stderr.splitlines())
    assert (line["part"], line["level"]) == (words[0], "error")
    assert words[-1] in line["event"]
