"""The live view: the same frame gives the same text, on a screen and in one line."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tidewise.cli.live import LiveView
from tidewise.core.live import LiveApplication, LiveFrame, LiveWorker
from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.run import RunApplication
from tidewise.dashboard.tally import LiveTally
from tidewise.dashboard.terminal import plain_line, screen, sparkline

FRAME = LiveFrame(
    title="Tidewise demo",
    elapsed=42.4,
    total=90.0,
    plan_version=7,
    plan_trigger="burst: garments at 150.0 queries/s, 93.0 planned",
    plan_age=3.2,
    phi=0.93,
    applications=(
        LiveApplication("digits", 0.150, 31, (10, 20, 31), 33, 0.972, 0.987, 0.0, 0.041, 0.098),
        LiveApplication("garments", 0.200, 150, (60, 90, 150), 168, 0.915, 0.978, 0.121, 0.056, 0.213),
    ),
    workers=(
        LiveWorker("big-0", "big", "garments", "m", 2, 3, True),
        LiveWorker("big-1", "big", "garments", "xl", 0, 0, False),
        LiveWorker("small-0", "small", "digits", "medium", 1, 1, True, connected=False),
        LiveWorker("small-1", "small"),
    ),
    outcomes={"on_time": 5_000, "late": 30, "dropped": 70, "refused": 0, "failed": 0},
    normalised=0.981,
)

SCREEN = """\
Tidewise demo  ━━━━━━━━━━━━━━                  42 of 90 s  5,100 queries ended
plan 7  burst: garments at 150.0 queries/s, 93.0 planned, 3 s old  overload: 93.0 % of the demand can be served

application  demand                      now  planned  accuracy  of best  missed    p50     p99     SLO
digits       ▃▆█                        31/s     33/s    97.2 %   98.7 %     0 %  41 ms   98 ms  150 ms
garments     ▄▅█                       150/s    168/s    91.5 %   97.8 %  12.1 %  56 ms  213 ms  200 ms

worker   device  hosts          queue
big-0    big     garments/m         3  busy
big-1    big     garments/xl        0  idle
small-0  small   digits/medium      1  not connected
small-1  small   nothing            0  idle

so far  98.1 % effective accuracy  2.0 % not on time  (on time 5,000, late 30, dropped 70)
"""


def drawn(frame, width=120):
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(screen(frame))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def test_the_screen():
    assert drawn(FRAME) == SCREEN


def test_a_narrow_terminal_keeps_every_figure():
    text = drawn(FRAME, width=80)
    for figure in ("garments", "150/s", "168/s", "91.5 %", "97.8 %", "12.1 %", "56 ms", "213 ms", "200 ms"):
        assert figure in text


def test_the_plain_line():
    assert plain_line(FRAME) == (
        "42 of 90 s | plan 7"
        " | digits 31/s, accuracy 98.7 %, not on time 0 %, p50 41 ms p99 98 ms"
        " | garments 150/s, accuracy 97.8 %, not on time 12.1 %, p50 56 ms p99 213 ms"
        " | hosting digits/medium, garments/m, garments/xl, nothing"
    )


def test_a_large_cluster_is_shown_by_what_it_hosts():
    workers = [LiveWorker(f"w{number}", "big", "garments", "m" if number % 4 else "xl", 2) for number in range(40)]
    text = drawn(LiveFrame("up", 1.0, workers=tuple(workers)))
    assert "30       big     garments/m" in text and "10       big     garments/xl" in text
    assert len(text.splitlines()) < 12


def test_an_empty_cluster_can_be_shown():
    assert "no plan yet" in drawn(LiveFrame("up", 0.0))
    assert plain_line(LiveFrame("up", 0.0)) == "0 s | plan 0 | no workers"


@pytest.mark.parametrize(("values", "text"), [((), ""), ((0, 0), "▁▁"), ((1, 2, 4), "▃▅█"), ((9, 1, 3, 8), "▇█")])
def test_a_sparkline_shows_values_against_their_highest(values, text):
    assert sparkline(values, width=3) == text


def test_a_sparkline_keeps_to_its_width():
    assert [len(sparkline(range(1, size), width=24)) <= 24 for size in (10, 25, 30, 1_000)] == [True] * 4


def test_without_a_terminal_lines_come_once_a_period():
    console = Console(file=io.StringIO(), force_terminal=False, width=200)
    with LiveView(console, plain_every=5.0) as view:
        for tenth in range(120):
            view.show(LiveFrame("demo", tenth / 10))
    assert [line.split(" | ")[0] for line in console.file.getvalue().splitlines()] == ["0 s", "5 s", "10 s"]


def test_in_a_terminal_the_last_frame_stays():
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with LiveView(console) as view:
        view.show(LiveFrame("demo", 0.0))
        view.show(FRAME)
    assert "garments/xl" in console.file.getvalue()


# What callers saw, as figures of now

GARMENTS = {"garments": RunApplication("garments", 0.2, {"xl": 0.9, "s": 0.81})}


def ended(due, variant="xl", outcome=Outcome.ON_TIME):
    accuracy = GARMENTS["garments"].variants[variant]
    return QueryRecord("garments", due, due, due + 0.05, 0.2, outcome, variant=variant, accuracy=accuracy)


def test_the_tally_gives_recent_figures_and_totals():
    tally = LiveTally(GARMENTS)
    for number in range(100):
        tally.add(ended(number / 10, "s" if number >= 50 else "xl"))
    (now,) = tally.applications(10.5, {"garments": 12.0})
    assert now.history == (10.0,) * 10
    assert now.demand == 10.0 and now.planned == 12.0
    assert now.normalised == pytest.approx(0.9)
    assert now.accuracy == pytest.approx(0.81)
    assert tally.normalised == pytest.approx(0.95)
    assert now.latency_p99 == pytest.approx(0.05)


def test_violations_leave_the_view_when_they_are_old():
    tally = LiveTally(GARMENTS)
    tally.add(ended(0.0, outcome=Outcome.LATE))
    assert tally.applications(1.0, {})[0].violations == 1.0
    assert tally.applications(30.0, {})[0].violations is None
    assert tally.outcomes["late"] == 1


def test_a_query_of_an_unknown_application_still_counts():
    tally = LiveTally({})
    tally.add(ended(0.0))
    assert tally.outcomes["on_time"] == 1 and tally.applications(1.0, {}) == ()


def test_columns_nobody_can_fill_are_left_out():
    asked = replace(FRAME, applications=(LiveApplication("digits", 0.150, 31, planned=33, accuracy=0.97),))
    header = drawn(asked).splitlines()[3]
    assert "accuracy" in header and "SLO" in header
    assert "missed" not in header and "p99" not in header


def test_in_a_large_cluster_a_worker_that_is_not_well_has_its_own_row():
    workers = [LiveWorker(f"w{number}", "big", "garments", "m") for number in range(20)]
    text = drawn(LiveFrame("up", 1.0, plan_version=1, workers=(*workers, LiveWorker("w20", "big", note="draining"))))
    assert "20       big     garments/m" in text and "w20" in text and "draining" in text
