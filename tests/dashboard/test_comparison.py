"""Runs side by side: named so that a person tells them apart, drawn whole, and never passed off as alike."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from synthetic import keep, synthetic_run

from tidewise.cli.report import command
from tidewise.core.run import Run, RunApplication
from tidewise.dashboard import comparison
from tidewise.dashboard.palette import Palette


def test_the_command_compares_runs(kept):
    result = CliRunner().invoke(command, [kept[0], "--compare", kept[1], "--compare", kept[2], "--json"])
    assert result.exit_code == 0
    assert [one["policy"] for one in json.loads(result.stdout)["runs"]] == ["tidewise", "clipper-ha", "clipper-ht"]
    text = (Path(kept[0]) / "comparison.html").read_text()
    assert "Always the most accurate" in text and "Always the cheapest" in text


def test_runs_of_other_demand_are_not_passed_off_as_comparable(kept, tmp_path):
    other = keep(synthetic_run("clipper-ht", seconds=10), tmp_path / "short")
    CliRunner().invoke(command, [kept[0], "--compare", other, "--out", str(tmp_path / "both.html")])
    assert "did not replay the same demand" in (tmp_path / "both.html").read_text()


def test_runs_of_other_length_are_drawn_whole_and_called_unlike(tmp_path):
    runs = [synthetic_run("tidewise", seconds=20), synthetic_run("clipper-ht", seconds=10)]
    found = comparison.entries(runs)
    drawn = comparison.comparison_figure(found, Palette(runs[0].applications))
    assert {axes.get_xlim() for axes in drawn.axes} == {(0, 20)}
    assert "ended at 10 s" in comparison.comparison_page(runs)
    assert comparison.comparison_headline(found).text.startswith("Not the same demand")


def test_the_command_says_on_the_terminal_that_runs_are_not_alike(kept, tmp_path):
    other = keep(replace(synthetic_run("clipper-ht", seconds=10), trace="another"), tmp_path / "short")
    result = CliRunner().invoke(command, [kept[0], "--compare", other, "--out", str(tmp_path / "both.html")])
    assert "did not replay the same demand" in result.stdout and "of another" in result.stdout


def test_runs_with_no_application_in_common_are_not_compared(kept, tmp_path):
    run = synthetic_run("clipper-ht", seconds=5)
    letters = {"letters": replace(run.applications["digits"], name="letters")}
    named = replace(run, applications=letters, records=(), plans=(), workers=())
    result = CliRunner().invoke(command, [kept[0], "--compare", keep(named, tmp_path / "other")])
    assert "no application in common" in str(result.exception) and "letters" in str(result.exception)
    assert (
        not (Path(kept[0]) / "comparison.html").exists()
        or "letters" not in (Path(kept[0]) / "comparison.html").read_text()
    )


@pytest.mark.parametrize(
    ("policies", "names"),
    [
        (("tidewise", "clipper-ha"), ["Tidewise", "Always the most accurate"]),
        (("ilp", "tidewise"), ["Exact counts for one demand", "Tidewise"]),
        (("tidewise", "tidewise"), ["Tidewise (monday)", "Tidewise (2)"]),
    ],
)
def test_compared_runs_have_names_that_tell_them_apart(policies, names):
    runs = [Run("monday" if not place else "", 10.0, 0, {}, policy=one) for place, one in enumerate(policies)]
    runs = [replace(one, applications={"a": RunApplication("a", 0.1, {})}) for one in runs]
    assert [one.name for one in comparison.entries(runs)] == names


def test_a_simulated_run_is_called_so():
    runs = [
        Run("a", 10.0, 0, {"a": RunApplication("a", 0.1, {})}, policy="tidewise", target=to)
        for to in ("h:1", "simulated")
    ]
    assert [one.name for one in comparison.entries(runs)] == ["Tidewise", "Tidewise, simulated"]
