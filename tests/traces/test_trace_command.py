"""`tidewise trace` makes, converts and shows traces; bad input is one sentence and exit code 2."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from echo_server import make_repository

from tidewise.cli.trace import command
from tidewise.core.errors import InputError
from tidewise.traces.files import read_trace
from tidewise.traces.statistics import per_second


def trace(*words: object, width: int = 100) -> str:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(command, [str(word) for word in words])
    if result.exception:
        raise result.exception
    return result.output


def test_a_generated_trace_has_the_starter_applications_and_their_slos(tmp_path: Path) -> None:
    said = trace("generate", tmp_path / "t.csv", "--seconds", 20, "--peak-qps", 60)
    found = read_trace(tmp_path / "t.csv")
    assert found.names == ("digits", "garments")
    assert len(set(found.deadline)) <= 2 and found.duration <= 20
    assert f"{len(found):,} arrivals" in said


def test_the_same_seed_writes_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trace("generate", tmp_path / f"{name}.csv", "--seconds", 5, "--seed", seed)
    texts = [(tmp_path / f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_applications_weights_and_deadlines_can_be_given(tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    trace("generate", out, "--shape", "constant", "--seconds", 40, "--cv", 0, "--application", "a=3",
          "--application", "b", "--deadline-ms", 100, "--deadline-ms", "b=50")  # fmt: skip
    found = read_trace(out)
    assert len(found.arrivals_of("a")) == pytest.approx(3000, abs=2)
    assert len(found.arrivals_of("b")) == pytest.approx(1000, abs=2)
    assert set(found.deadline[found.application == 1]) == {0.05}


def test_names_and_slos_come_from_a_repository(tmp_path: Path) -> None:
    trace("generate", tmp_path / "t.csv", "--seconds", 5, "--repository", make_repository(tmp_path / "repository"))
    found = read_trace(tmp_path / "t.csv")
    assert found.names == ("letters",) and set(found.deadline) == {20.0}


def test_spikes_drift_and_noise_shape_a_diurnal_trace(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    trace("generate", out, "--shape", "diurnal", "--seconds", 60, "--peak-qps", 200, "--low", 0.2, "--cv", 0,
          "--spike", "50:6:1", "--drift", 0.2, "--noise", 0.05, "--application", "a")  # fmt: skip
    counts = per_second(read_trace(out))
    assert counts.max() == pytest.approx(200, abs=1)
    assert counts[48:52].max() > 1.8 * counts[44]


def test_counts_become_exactly_as_many_arrivals(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("second,a,b\n0,5,1\n1,0,2\n2,7,0\n")
    trace("convert", tmp_path / "counts.csv", tmp_path / "t.csv", "--deadline-ms", 80)
    found = read_trace(tmp_path / "t.csv")
    assert per_second(found, "a").tolist() == [5, 0, 7]
    assert set(found.deadline) == {0.08}


def test_a_total_is_dealt_by_weight(tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("400\n" * 5)
    trace("convert", tmp_path / "counts.txt", tmp_path / "t.csv", "--application", "a=3", "--application", "b=1")
    found = read_trace(tmp_path / "t.csv")
    assert per_second(found).tolist() == [400] * 5
    assert len(found.arrivals_of("a")) == pytest.approx(1500, abs=90)


def test_lists_are_converted_renamed_cut_scaled_and_repeated(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    for name in ("one", "two"):
        (lists / f"{name}.txt").write_text("".join(f"{10 * number},1,75\n" for number in range(1000)))
    out = tmp_path / "t.csv"
    trace("convert", lists, out, "--rename", "one=a", "--rename", "two=a", "--cut", "2:6", "--peak-qps", 50,
          "--repeat", 2)  # fmt: skip
    found = read_trace(out)
    assert found.names == ("a",) and set(found.deadline) == {0.075}
    assert per_second(found).tolist() == [50] * 8


def test_a_trace_is_converted_between_csv_and_parquet(tmp_path: Path) -> None:
    trace("generate", tmp_path / "t.csv", "--seconds", 3)
    trace("convert", tmp_path / "t.csv", tmp_path / "t.parquet", "--keep", 0.5)
    assert 0 < len(read_trace(tmp_path / "t.parquet")) < len(read_trace(tmp_path / "t.csv"))


def test_show_draws_every_application_and_the_total(tmp_path: Path) -> None:
    trace("generate", tmp_path / "t.csv", "--seconds", 30, "--application", "a", "--application", "b")
    said = trace("show", tmp_path / "t.csv", "--png", tmp_path / "t.png")
    assert "█" in said and "application" in said
    assert all(max(len(line) for line in said.splitlines()) <= 100 for _ in [0])
    assert [line.split()[0] for line in said.splitlines()[-3:]] == ["a", "b", "all"]
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_show_gives_its_figures_as_json(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("arrival_s,application,deadline_ms\n1.5,a,100\n0.25,b,100\n")
    runner = CliRunner().invoke(command, ["show", str(tmp_path / "t.csv"), "--json"])
    values = json.loads(runner.stdout)
    assert (values["arrivals"], values["duration_s"], values["peak_qps"]) == (2, 1.5, 1.0)
    assert values["per_application"]["a"]["arrivals"] == 1
    assert values["per_application"]["a"]["dispersion"] is None
    assert values["notes"] == ["arrivals were not in order of time and have been sorted"]


@pytest.mark.parametrize("seconds", [1, 2])
def test_a_very_short_trace_is_drawn_too(tmp_path: Path, seconds: int) -> None:
    trace("generate", tmp_path / "t.csv", "--seconds", seconds, "--application", "a")
    assert "a" in trace("show", tmp_path / "t.csv", width=40)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["generate", "OUT.csv", "--spike", "5"], "--spike takes AT:HEIGHT:WIDTH"),
        (["generate", "OUT.csv", "--spike", "5:2:0"], "the width above 0"),
        (["generate", "OUT.csv", "--deadline-ms", "soon"], "--deadline-ms takes NAME=NUMBER"),
        (["generate", "OUT.csv", "--deadline-ms", "-5"], "more than 0"),
        (["generate", "OUT.csv", "--application", "a=x"], "--application takes NAME=NUMBER"),
        (["generate", "OUT.csv", "--application", "a=-1"], "must be a number of at least 0"),
        (["generate", "OUT.csv", "--cv", "-1"], "coefficient of variation"),
        (["generate", "OUT.csv", "--peak-qps", "0.0001"], "no arrivals"),
        (["generate", "none/OUT.csv", "--seconds", "2"], "cannot be written"),
        (["convert", "missing", "OUT.csv"], "missing does not exist"),
        (["convert", ".", "OUT.csv"], "holds no lists"),
        (["show", "missing.parquet"], "missing.parquet cannot be read: there is no such file"),
        (["show", "missing.csv"], "missing.csv cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        trace(*words)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_wrong_input_exits_2(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("arrival_s,application,deadline_ms\n-1,a,100\n")
    run = subprocess.run(
        [sys.executable, "-m", "tidewise.cli.main", "trace", "show", str(tmp_path / "t.csv")],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert run.stderr.strip().endswith("t.csv line 2: arrival_s must be a number of at least 0, not '-1'")


@pytest.mark.parametrize("words", [("generate", "t.txt"), ("show", "t.json"), ("convert", "t.csv", "t.parq")])
def test_a_name_that_does_not_say_the_form_of_a_trace_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("arrival_s,application,deadline_ms\n0,a,1\n")
    result = CliRunner().invoke(command, [words[0], *(str(tmp_path / one) for one in words[1:])])
    assert str(result.exception) == f"a trace's name {tmp_path / words[-1]} must end in .csv or .parquet"
    assert not (tmp_path / words[-1]).exists()


def test_a_drawing_of_a_trace_is_a_png(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["show", "t.csv", "--png", str(tmp_path / "t.jpg")])
    assert "t.jpg must end in .png" in str(result.exception)
