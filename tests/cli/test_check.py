"""`tidewise check` names every fault in one sentence and exits 2."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tidewise.cli.check import command
from tidewise.cli.options import STARTER_MODELS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the digits application."""
    return Path(shutil.copytree(STARTER_MODELS / "digits", tmp_path / "digits"))


def check(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def spoil(folder: Path, old: str, new: str) -> None:
    file = folder / "application.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_the_starter_ladders_are_right() -> None:
    result = check(STARTER_MODELS)
    assert result.exit_code == 0, result.output


def test_an_unknown_key_is_named_with_the_known_ones(folder: Path) -> None:
    spoil(folder, "slo_ms", "slo_msec")
    result = check(folder)
    assert result.exit_code == 2
    assert "slo_ms is missing" in result.output or "'slo_msec'" in result.output


def test_an_application_nobody_measured_is_refused_as_apply_would(folder: Path) -> None:
    (folder / "accuracy.json").unlink()
    result = check(folder)
    assert result.exit_code == 2
    assert "no measured accuracy" in result.output and "--application digits" in result.output


def test_a_missing_model_file_is_named(folder: Path) -> None:
    model = next(folder.glob("*/model.onnx"))
    model.unlink()
    result = check(folder)
    assert result.exit_code == 2
    assert f"{model} is missing" in result.output


def test_a_corrupt_model_file_is_named(folder: Path) -> None:
    model = next(folder.glob("*/model.onnx"))
    model.write_bytes(b"not a model")
    result = check(folder)
    assert result.exit_code == 2
    assert str(model) in result.output and "not a loadable ONNX model" in result.output


def test_test_data_that_is_no_archive_are_named(folder: Path) -> None:
    (folder / "test.npz").write_bytes(b"PK\x03\x04cut short")
    result = check(folder)
    assert result.exit_code == 2
    assert str(folder / "test.npz") in result.output


def test_a_wrong_signature_is_named_tensor_by_tensor(folder: Path) -> None:
    spoil(folder, 'datatype = "UINT8"', 'datatype = "FP32"')
    result = check(folder, "--json")
    assert result.exit_code == 2
    faults = json.loads(result.stdout)["faults"]
    assert any("input 'image' is tensor(uint8), but application.toml says FP32" in fault for fault in faults)


def test_test_data_that_does_not_fit_is_named(folder: Path) -> None:
    np.savez(folder / "test.npz", image=np.zeros((4, 3, 8, 8), np.uint8), labels=np.zeros(5))
    result = check(folder)
    assert result.exit_code == 2
    assert "array 'image' is uint8[4, 3, 8, 8]" in result.output
    assert "differ in length" in result.output


def test_an_slo_no_variant_can_meet_says_what_the_fastest_needs(folder: Path) -> None:
    line = next(line for line in (folder / "application.toml").read_text().splitlines() if line.startswith("slo_ms"))
    spoil(folder, line, "slo_ms = 0.001")
    result = check(folder)
    assert result.exit_code == 2
    assert "no variant can meet slo_ms = 0.001" in result.output


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("min_accuracy = 0.999", "min_accuracy = 0.999, and the best variant's accuracy is 0."),
        ("min_replicas = 9", "min_replicas = 9, and the cluster has 4 devices"),
    ],
)
def test_a_term_no_plan_can_keep_is_named(folder: Path, key: str, sentence: str) -> None:
    line = next(line for line in (folder / "application.toml").read_text().splitlines() if line.startswith("slo_ms"))
    spoil(folder, line, f"{line}\n{key}")
    result = check(folder)
    assert result.exit_code == 2
    assert sentence in result.output


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[planner]\nperiods = 3\n", "unknown key 'periods'"),
        ("[planner]\nperiod_s = 0.5\nhold_off_s = 2\n", "hold_off_s 2 exceeds period_s 0.5"),
        ("[device_types.a]\nprovider = 'emulated'\n", "needs profile"),
        ("[device_types.a]\nprovider = 'emulated'\nprofile = 'gone.json'\n", "gone.json cannot be read"),
        ("[device_types.a]\nprovider = 'TpuProvider'\n", "provider 'TpuProvider' is not here"),
        ("[ports]\ngrpc = 70000\n", "grpc must be a whole number between 0 and 65535"),
        ("[policies]\nallocation = 'magic'\n", "allocation 'magic' is unknown"),
        ("[planner\n", "is not valid TOML"),
        ("[planner]\nmax_min = 'yes'\n", "max_min must be true or false"),
        ("[planner]\nsolver = 'magic'\n", "solver 'magic' is unknown; known: auto"),
        (
            "[policies]\nallocation = 'tidewise'\n[planner]\nmax_min = true\n",
            "max_min acts on allocation policies that",
        ),
    ],
)
def test_a_wrong_cluster_file_is_explained(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(text)
    result = check(file)
    assert result.exit_code == 2
    assert sentence in result.output


def test_every_fault_of_a_cluster_file_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(
        "[ports]\ngrpc = 70000\n[planner]\nperiods = 3\nheadroom = 'much'\n[policies]\nrouting = 'magic'\n"
        "[device_types.a]\ncount = -1\nprovider = 'TpuProvider'\n[device_types.b]\nbatch_sizes = []\n[unheard]\n"
    )
    faults = json.loads(check(file, "--json").stdout)["faults"]
    for words in (
        "grpc must be a whole number",
        "unknown key 'periods'",
        "headroom must be a number",
        "'magic' is unknown",
        "[device_types.a]: count must be",
        "'TpuProvider' is not here",
        "[device_types.b]: batch_sizes must not be empty",
        "unknown key 'unheard'",
    ):
        assert sum(words in one for one in faults) == 1, (words, faults)
    assert len(faults) == 8


def test_every_fault_of_an_application_file_is_named_at_once(folder: Path) -> None:
    spoil(folder, "slo_ms", "slo_msec")
    spoil(folder, 'datatype = "UINT8"', 'datatype = "BYTES"')
    faults = json.loads(check(folder, "--json").stdout)["faults"]
    assert len(faults) == 3 and "slo_ms is missing" in faults[0] and "not 'BYTES'" in faults[1]


def test_every_missing_model_file_is_named(folder: Path) -> None:
    models = sorted(folder.glob("*/model.onnx"))
    for one in models:
        one.unlink()
    assert len(json.loads(check(folder, "--json").stdout)["faults"]) == len(models)


def test_every_fault_of_a_profile_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    entry = {"application": "a", "device_type": "d", "memory_mb": -1, "batches": [{"size": 1, "p50_ms": 1}]}
    file.write_text(json.dumps({"schema_version": 1, "entries": [entry]}))
    faults = json.loads(check(file, "--json").stdout)["faults"]
    assert len(faults) == 3, faults


def test_a_file_of_another_kind_is_refused_naming_the_kinds_there_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").touch()
    assert "must be a cluster file (.toml), a profile (.json), or a folder" in check(tmp_path / "t.csv").output


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    result = check(tmp_path / "nothing")
    assert result.exit_code == 2
    assert "does not exist" in result.output
