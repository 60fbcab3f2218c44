"""`tidewise replay` keeps every outcome, says how punctual it was, and ends in good order on Ctrl-C."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import grpc
import numpy as np
import pytest
from click.testing import CliRunner, Result
from echo_server import Server, echo, make_repository, refuse, slow

from tidewise.cli.replay import command
from tidewise.cli.run_folder import run_folder
from tidewise.core.outcome import Outcome
from tidewise.core.trace import Trace
from tidewise.traces.files import write_trace
from tidewise.traces.lateness import Lateness
from tidewise.traces.runs import read_run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a repository and a trace of 40 queries in half a second."""
    make_repository(tmp_path / "repository")
    write_trace(Trace.of(np.arange(40) / 80, ["letters"] * 40, 10.0), tmp_path / "t.csv")
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(echo) as one:
        yield one


def replay(place: Path, target: str, *words: str) -> Result:
    return CliRunner().invoke(command, [*arguments(place, target), *words])


def arguments(place: Path, target: str) -> list[str]:
    paths = ["--repository", str(place / "repository"), "--out", str(place / "run")]
    return [str(place / "t.csv"), "--target", target, *paths]


def test_a_replay_ends_in_a_scorecard_and_a_run_that_can_be_read(place: Path, server: Server) -> None:
    result = replay(place, server.target)
    assert result.exit_code == 0, result.output
    assert "40 arrivals: 40 on time" in result.stdout
    assert "sent late by p50" in result.stdout
    run = read_run(place / "run")
    assert (run.arrivals, len(run.records), run.trace, run.target) == (40, 40, "t.csv", server.target)
    assert run.applications["letters"].variants == {"top": 0.9, "cheap": 0.8}
    assert run.applications["letters"].slo == 20.0
    assert all(one.correct for one in run.records)


def test_a_run_is_not_replaced_unless_forced(place: Path, server: Server) -> None:
    assert replay(place, server.target).exit_code == 0
    before = (place / "run" / "run.json").stat()
    again = replay(place, server.target)
    assert f"{place / 'run'} holds a run already" in str(again.exception) and "--force" in str(again.exception)
    assert (place / "run" / "run.json").stat() == before
    assert replay(place, server.target, "--force").exit_code == 0


def test_runs_without_a_name_do_not_share_a_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    started = datetime(2026, 1, 31, 12, tzinfo=UTC)
    first = run_folder(None, started, force=False)
    first.mkdir(parents=True)
    assert (first.name, run_folder(None, started, force=False).name) == ("20260131-120000", "20260131-120000-2")


def test_json_holds_the_scorecard_and_the_lateness(place: Path, server: Server) -> None:
    values = json.loads(replay(place, server.target, "--json").stdout)
    card = values["scorecard"]
    assert sum(card["outcomes"].values()) == card["arrivals"] == 40
    assert card["queries_per_variant"] == {"letters/top": 40}
    assert card["effective_accuracy"] == 1.0
    assert values["measured_accuracy"] == {"letters": 1.0}
    assert set(values["send_lateness"]) == {"p50_ms", "p99_ms", "worst_ms"}


def test_refusals_are_counted_and_are_no_failure_of_the_command(place: Path, server: Server) -> None:
    server.behaviour = refuse(grpc.StatusCode.RESOURCE_EXHAUSTED, "queue_full")
    result = replay(place, server.target, "--speed", "4")
    assert result.exit_code == 0
    assert "40 arrivals: 40 refused" in result.stdout
    assert "100 % violations" in result.stdout
    assert "4 times as fast" in result.stderr


def test_a_late_sender_says_so(place: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidewise.traces.lateness.LatenessMeter.reading", lambda self: Lateness(0.001, 0.02, 0.03))
    assert "warning: the sender was 20.0 ms late at p99" in replay(place, server.target).stderr


def test_ctrl_c_keeps_what_was_answered_and_accounts_for_the_rest(place: Path, server: Server) -> None:
    write_trace(Trace.of(np.arange(2000) / 50, ["letters"] * 2000, 5.0), place / "t.csv")
    server.behaviour = slow(0.1)
    process = subprocess.Popen(
        [sys.executable, "-m", "tidewise.cli.main", "replay", *arguments(place, server.target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while len(server.requests) < 30 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said, notes = process.communicate(timeout=60)
    assert process.returncode == 130, notes
    run = read_run(place / "run")
    assert len(run.records) == run.arrivals < 2000
    assert f"interrupted: {2000 - run.arrivals:,} of 2,000 arrivals were not sent" in notes
    assert f"{run.arrivals} arrivals: " in said
    ends = {one.outcome for one in run.records}
    assert Outcome.ON_TIME in ends and ends <= {Outcome.ON_TIME, Outcome.LATE, Outcome.DROPPED}


def test_a_target_without_a_port_is_refused(place: Path) -> None:
    result = replay(place, "somewhere")
    assert "--target must be HOST:PORT, not 'somewhere'" in str(result.exception)
    assert not (place / "run").exists()


def test_nothing_is_left_behind_where_nothing_listens(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidewise.traces.replay.CONNECT", 0.2)
    result = replay(place, "127.0.0.1:1")
    assert "nothing answers at 127.0.0.1:1" in str(result.exception)
    assert not (place / "run").exists()
