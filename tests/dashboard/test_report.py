"""The report says what happened: it is complete in itself, honest in words, and drawn whatever the run lacks."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner
from synthetic import synthetic_run

from tidewise.cli.report import command
from tidewise.core.outcome import Outcome
from tidewise.core.plan import Plan
from tidewise.core.run import MachineSample, PlanChange, Run, WorkerSample
from tidewise.core.scorecard import effective_accuracy
from tidewise.dashboard import page
from tidewise.dashboard.card import card_of, card_values
from tidewise.dashboard.hosting import stays
from tidewise.dashboard.palette import Palette
from tidewise.dashboard.panels import label_groups
from tidewise.dashboard.series import columns, series
from tidewise.dashboard.verdict import Level, headline, notes


def words(run):
    return " ".join(note.text for note in notes(run, card_of(run)))


@pytest.fixture(scope="module")
def text(run):
    return page.report_page(run)


def test_all_series_sum_to_the_arrivals(run):
    of = series(columns(run))
    ended = np.sum([of.outcomes[outcome] for outcome in Outcome], axis=0)
    variants = np.sum(list(of.variants.values()), axis=0)
    assert np.allclose(ended, of.arrivals)
    assert np.allclose(variants, of.outcomes[Outcome.ON_TIME])
    assert of.arrivals.sum() * of.width == pytest.approx(len(run.records))


def test_accuracy_over_time_is_the_scorecards(run):
    of = series(columns(run), width=10.0)
    third = [one for one in run.records if 20 <= one.due < 30]
    assert of.accuracy[2] == pytest.approx(effective_accuracy(third, run.best))


def test_no_two_colours_are_the_same(run):
    colours = [one.light for one in Palette(run.applications).colours()]
    assert len(set(colours)) == len(colours)


def test_the_page_needs_nothing_else(text):
    assert "<script" not in text
    assert not re.search(r'(src|href)="(?!#)', text.replace("xlink:href", "href"))
    assert "@import" not in text and "url(http" not in text


def test_the_page_is_well_formed_and_has_every_section(text):
    parser = HTMLParser()
    parser.feed(text)
    for name in ("Over time", "Applications", "Workers", "Plans", "Variants"):
        assert f"<h2>{name}</h2>" in text
    assert text.count("<svg") == text.count("</svg>") == 3


def test_every_colour_of_a_drawing_follows_the_theme(text):
    drawings = "".join(re.findall(r"<svg.*?</svg>", text, re.S))
    assert re.findall(r"#[0-9a-f]{6}", drawings) == []


def test_the_same_run_gives_the_same_page(run, text):
    assert page.report_page(run) == text


def test_names_cannot_break_the_page(run):
    named = replace(run, trace="<b>x</b>", name="<b>x</b>", records=run.records[:50], plans=(), workers=())
    assert "<b>x</b>" not in page.report_page(named)


def test_a_bad_outcome_is_called_bad(bad_run):
    said = headline(bad_run, card_of(bad_run))
    assert said.level is Level.BAD
    assert said.text.startswith("Deadlines were missed: ")


def test_a_good_outcome_is_called_good():
    run = synthetic_run("clipper-ht", seconds=20)
    said = headline(run, card_of(run))
    assert said.level is Level.GOOD and said.text.startswith("Deadlines held: all ")


def test_missing_outcomes_are_reported(run):
    assert "outcomes were kept" in words(replace(run, arrivals=run.arrivals + 7))
    assert "outcomes were kept" not in words(run)


def test_a_late_sender_is_reported(run):
    late = tuple(replace(one, sent=one.due + 0.050) for one in run.records)
    assert "The sender was late" in words(replace(run, records=late))
    assert "The sender was late" not in words(run)


def test_a_busy_machine_is_reported(run):
    busy = tuple(MachineSample(float(second), 0.9) for second in range(90))
    assert "90.0 % busy" in words(replace(run, machine=busy))
    assert "busy" not in words(run)


def test_the_worst_application_stands_beside_the_mean(run):
    card = card_of(run)
    worst = min(card.applications.values(), key=lambda one: one.on_time_accuracy_per_arrival)
    assert card.applications[card.worst] == worst
    assert f"Worst application: {card.worst}" in words(run)


def test_the_values_hold_the_scorecards_keys(run):
    found = card_values(run, card_of(run))["scorecard"]
    assert sum(found["outcomes"].values()) == found["arrivals"] == len(run.records)
    assert set(found) >= {
        "violation_ratio",
        "effective_accuracy",
        "accuracy_drop",
        "on_time_accuracy_per_arrival",
        "per_application",
        "plan_versions",
        "queries_per_variant",
    }


def test_a_worker_that_was_away_has_a_gap():
    samples = [
        WorkerSample(0.0, "w", "big", "a", "x"),
        WorkerSample(1.0, "w", "big", "a", "x"),
        WorkerSample(2.0, "w", "big", "a", "x", connected=False),
        WorkerSample(3.0, "w", "big", "a", "y"),
    ]
    found = [(one.variant, one.start, one.end) for one in stays(samples, 4.0)["w"]]
    assert found == [("x", 0.0, 2.0), ("y", 3.0, 4.0)]


@pytest.mark.parametrize(
    "lack",
    [
        {"records": (), "arrivals": 0},
        {"plans": ()},
        {"workers": (), "machine": ()},
        {"seconds": 0.2, "records": (), "plans": (), "workers": (), "arrivals": 0},
    ],
)
def test_a_report_is_drawn_whatever_is_missing(run, lack):
    assert page.report_page(replace(run, **lack)).endswith("</html>\n")


def test_a_picture_of_nothing_can_be_drawn(run):
    assert page.report_png(replace(run, records=(), plans=(), workers=(), arrivals=0)).startswith(b"\x89PNG")


def test_a_run_that_answered_nothing_is_drawn(run):
    failed = [
        replace(one, outcome=Outcome.FAILED, variant="", accuracy=None, reason="no_worker") for one in run.records
    ]
    assert "not answered on time" in page.report_page(replace(run, records=tuple(failed[:200])))


def test_variants_the_run_did_not_know_are_drawn(run):
    unmeasured = {name: replace(one, variants={}) for name, one in run.applications.items()}
    assert page.report_page(replace(run, applications=unmeasured)).endswith("</html>\n")


def test_an_empty_run_says_so():
    empty = Run("empty", 10.0, 0, {})
    assert headline(empty, card_of(empty)).text == "Nothing arrived, so this run shows nothing."


def test_the_command_writes_page_picture_and_words(kept, tmp_path):
    picture = tmp_path / "run.png"
    result = CliRunner().invoke(command, [kept[0], "--out", str(tmp_path / "run.html"), "--png", str(picture)])
    assert result.exit_code == 0 and "Deadlines" in result.output
    assert (tmp_path / "run.html").read_text().startswith("<!DOCTYPE html>")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("option", "name", "ends"), [("--out", "run.pdf", ".html or .htm"), ("--png", "r.jpg", ".png")]
)
def test_a_file_whose_name_says_another_form_is_not_written(kept, tmp_path, option, name, ends):
    result = CliRunner().invoke(command, [kept[0], option, str(tmp_path / name)])
    assert str(result.exception) == f"{option} {tmp_path / name} must end in {ends}"
    assert not (tmp_path / name).exists()


def made(*changes):
    return [PlanChange(at, Plan(number, trigger=trigger)) for number, (at, trigger) in enumerate(changes, 1)]


def test_labels_of_plans_do_not_overlap():
    changes = made((1.0, "devices: x left"), (1.2, "burst: y"), (1.4, "devices: x came"), (5.0, "burst: y"))
    assert label_groups(changes, an_inch=2.0) == [("devices, burst", 1.0, 1.4), ("burst", 5.0, 5.0)]


def test_every_line_of_a_drawing_is_in_its_key(run):
    text = page.report_page(run)
    for words in ("after its period", "at once (burst)", "always the cheapest", "p99", "SLO", "not on time"):
        assert text.count(f">{words}<") >= 1, words
