from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from simulator_stories import profile, trace

from tidewise.cli.main import cli
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository
from tidewise.core.profile import format_profile
from tidewise.traces.files import write_trace

LADDERS = Path(__file__).parents[2] / "models"
CLUSTER = """
[policies]
allocation = "tidewise"
variant_choice = "anytime"
[device_types.big]
count = 2
batch_sizes = [1, 2, 4, 8]
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A cluster of the starter ladders with made-up latencies, a trace, and the profile."""
    applications = [one for _, _, one in read_repository(LADDERS).values()]
    made = profile(applications)
    entries = [
        one
        for app in applications
        for place, variant in enumerate(app.variants)
        for rung in (list(made.entries.values())[2 * (place % 3)],)
        for one in (rung.__class__(app.name, variant.name, "big", rung.batches, load=0.1, digest=variant.digest),)
    ]
    (tmp_path / "cluster.toml").write_text(CLUSTER, encoding="utf-8")
    (tmp_path / "profile.json").write_text(format_profile(type(made)().with_entries(entries)), encoding="utf-8")
    write_trace(trace({applications[0].name: 20.0}, 4.0, seed=1), tmp_path / "trace.csv")
    return str(tmp_path / "cluster.toml"), str(tmp_path / "trace.csv"), str(tmp_path / "profile.json")


def _simulate(files: tuple[str, str, str], out: Path, *more: str) -> dict[str, object]:
    cluster, demand, measured = files
    arguments = ["simulate", cluster, demand, "--profile", measured, "--out", str(out), "--json", *more]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def test_a_simulated_run_is_kept_and_scored_like_a_replay(files: tuple[str, str, str], tmp_path: Path) -> None:
    found = _simulate(files, tmp_path / "run")
    assert found["scorecard"]["arrivals"] == found["trace_arrivals"] > 0  # type: ignore[index, operator]
    drawn = CliRunner().invoke(cli, ["report", str(tmp_path / "run")], catch_exceptions=False)
    assert drawn.exit_code == 0 and (tmp_path / "run" / "report.html").exists()


def test_two_runs_of_one_seed_say_the_same(files: tuple[str, str, str], tmp_path: Path) -> None:
    first, second = (_simulate(files, tmp_path / name, "--policy", "proteus-mended") for name in ("a", "b"))
    assert first["scorecard"] == second["scorecard"]


def test_an_unknown_policy_is_named_with_the_known_ones(files: tuple[str, str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no policy 'magic'; known: tidewise, proteus"):
        _simulate(files, tmp_path / "run", "--policy", "magic")


def test_the_trace_of_a_run_is_played_again(files: tuple[str, str, str], tmp_path: Path) -> None:
    first = _simulate(files, tmp_path / "a")
    again = _simulate((files[0], str(tmp_path / "a"), files[2]), tmp_path / "b")
    assert first["scorecard"] == again["scorecard"]
