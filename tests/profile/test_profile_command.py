"""`tidewise profile` as a person and as a script meet it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidewise.cli.profile import command
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository
from tidewise.core.profile import BatchLatency, Profile, VariantProfile, format_profile
from tidewise.worker.profiling.difference import difference
from tidewise.worker.profiling.store import read_profile, write_profile

KEY = ("pictures", "small", "big")


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


@pytest.fixture
def cluster_file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text("[device_types.big]\nbatch_sizes = [1, 8]\n[device_types.odd]\nthreads = 2\n")
    return path


def test_the_table_shows_accuracy_medians_and_capacity(repository: Path, cluster_file: Path, tmp_path: Path) -> None:
    common = ("--repository", repository, "--cluster", cluster_file, "--device-type", "big", "--quick")
    result = invoke(*common, "--accuracy", "--out", tmp_path / "p.json")
    assert result.exit_code == 0, result.output
    assert re.search(r"large +100\.00% +big +[\d.]+ +[\d.]+ +\d+ +[18]", result.stdout)
    assert "odd" not in result.stdout


def test_accuracy_is_written_beside_the_application_with_its_interval(
    repository: Path, cluster_file: Path, tmp_path: Path
) -> None:
    invoke("--repository", repository, "--cluster", cluster_file, "--accuracy", "--quick", "--out", tmp_path / "p.json")
    written = json.loads((repository / "pictures/accuracy.json").read_text())["variants"]
    assert written["large"]["correct"] == written["large"]["total"] == 300
    low, high = written["small"]["ci95"]
    assert low < written["small"]["accuracy"] < high
    application = read_repository(repository)["pictures"][2]
    assert application.best_accuracy() == 1.0


def test_json_is_the_profile_file_itself(repository: Path, cluster_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.json"
    result = invoke("--repository", repository, "--cluster", cluster_file, "--quick", "--json", "--out", out)
    assert json.loads(result.stdout) == json.loads(out.read_text())


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--application", "no application 'x'; known: pictures"),
        ("--device-type", "no device type 'x'; known: big, odd"),
    ],
)
def test_an_unknown_name_is_wrong_input(repository: Path, cluster_file: Path, option: str, sentence: str) -> None:
    result = invoke("--repository", repository, "--cluster", cluster_file, option, "x")
    assert isinstance(result.exception, InputError)
    assert sentence in str(result.exception)


def test_a_file_of_another_machine_is_not_overwritten(repository: Path, cluster_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.json"
    write_profile(out, replace(profile(0.010), host="elsewhere"))
    result = invoke("--repository", repository, "--cluster", cluster_file, "--out", out)
    assert isinstance(result.exception, InputError)
    assert "measured on elsewhere" in str(result.exception)
    assert read_profile(out).host == "elsewhere"


def profile(p50: float) -> Profile:
    batches = (BatchLatency(1, p50, p50), BatchLatency(8, 0.1, 0.1))
    return Profile(host="here").with_entries([VariantProfile(*KEY, batches)])


def write_pair(folder: Path, old: float, new: float) -> tuple[Path, Path]:
    for name, p50 in (("old", old), ("new", new)):
        (folder / name).write_text(format_profile(profile(p50)))
    return folder / "old", folder / "new"


def test_a_regression_beyond_the_tolerance_exits_1_and_names_it(tmp_path: Path) -> None:
    result = invoke("--diff", *write_pair(tmp_path, 0.010, 0.013))
    assert result.exit_code == 1
    assert "+30.0%" in result.stdout
    assert "1 of 2 slower by more than 20%" in result.stdout


def test_a_regression_within_the_tolerance_or_a_gain_exits_0(tmp_path: Path) -> None:
    assert invoke("--diff", *write_pair(tmp_path, 0.010, 0.0115)).exit_code == 0
    assert invoke("--diff", *write_pair(tmp_path, 0.010, 0.001)).exit_code == 0
    assert invoke("--diff", *write_pair(tmp_path, 0.010, 0.013), "--tolerance", "0.5").exit_code == 0


def test_the_comparison_as_json_lists_regressions(tmp_path: Path) -> None:
    result = invoke("--diff", *write_pair(tmp_path, 0.010, 0.013), "--json")
    (found,) = json.loads(result.stdout)["regressions"]
    assert (found["variant"], found["size"]) == ("small", 1)
    assert found["ratio"] == pytest.approx(1.3)


def test_what_only_one_profile_holds_is_listed_and_no_regression() -> None:
    found = difference(profile(0.010), Profile())
    assert found.changes == ()
    assert found.removed == ((KEY, 1), (KEY, 8))
    assert difference(Profile(), profile(0.010)).added == ((KEY, 1), (KEY, 8))


def test_profiles_with_nothing_in_common_are_wrong_input(tmp_path: Path) -> None:
    old, new = write_pair(tmp_path, 0.010, 0.010)
    new.write_text(format_profile(Profile(host="here")))
    result = invoke("--diff", old, new)
    assert isinstance(result.exception, InputError)
    assert f"{old} and {new} measured nothing in common" in str(result.exception)


def test_a_missing_profile_is_wrong_input(tmp_path: Path) -> None:
    result = invoke("--diff", tmp_path / "absent", tmp_path / "absent")
    assert isinstance(result.exception, InputError)
    assert "absent cannot be read as a profile" in str(result.exception)
