"""The C++ plane decides as router/choice.py does, on histories nobody thought of.

Needs the C++ tests (docs/data-plane.md says how to build them); ROUTER_TESTS names the program.
"""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from router_stage import route

from tidewise.core.outcome import Reason
from tidewise.proto.status import CODES
from tidewise.router.backlog import Backlog, begun, ended
from tidewise.router.choice import CHOICES, Refusal, decide
from tidewise.router.table import View, view_of

PROGRAM = os.environ.get("ROUTER_TESTS", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="ROUTER_TESTS does not name the C++ tests")
POLICIES = ("least-backlog", "cycle")  # the random one draws from another generator
EXAMPLES = int(os.environ.get("ROUTER_HISTORIES", "200"))

NONE = st.just(0.0)
LANES = st.lists(
    st.tuples(NONE | st.floats(0.001, 1.0), NONE | st.floats(0.01, 500.0), NONE | st.floats(1e-5, 0.3)),
    min_size=1,
    max_size=12,
)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 0.05), st.integers(0, 11), st.booleans()), max_size=60)


@dataclass
class History:
    """What was asked, and what Python answers."""

    view: View
    asked: list[str]
    answers: list[str]


def python(lanes: list[tuple[float, float, float]], steps: list[tuple[int, float, int, bool]], batch: float) -> History:
    routes = [route(str(i), "x:1", share=s, capacity=c, fastest=f) for i, (s, c, f) in enumerate(lanes)]
    history = History(
        view_of(routes, batch), [f"batch {batch!r}"] + [f"lane {s!r} {c!r} {f!r}" for s, c, f in lanes], []
    )
    history.asked.append("cycle")
    history.answers.append(" ".join(map(str, history.view.cycle)))
    backlogs: dict[str, Backlog] = {}
    now = 10.0
    for turn, (kind, wait, which, flag) in enumerate(steps):
        now += wait
        worker = str(which % len(lanes))
        if kind == 0 and worker in backlogs:
            ended(backlogs, worker, now, flag)
            history.asked.append(f"end {worker} {now!r} {int(flag)}")
        elif kind == 1:
            begun(backlogs, worker, now)
            history.asked.append(f"begin {worker} {now!r}")
        else:
            policy, budget = POLICIES[flag], wait * 20
            history.asked.append(f"decide {policy} {now!r} {budget!r} {turn}")
            found = decide(CHOICES[policy], history.view, backlogs, now, budget, turn, random.Random(0))
            history.answers.append(f"-{found.predicted!r}" if isinstance(found, Refusal) else found.route.worker)
    return history


@settings(max_examples=EXAMPLES)
@given(LANES, STEPS, st.floats(0.0, 0.5))
def test_both_planes_choose_the_same(
    lanes: list[tuple[float, float, float]], steps: list[tuple[int, float, int, bool]], batch: float
) -> None:
    history = python(lanes, steps, batch)
    said = subprocess.run(
        [PROGRAM, "replay"], input="\n".join(history.asked), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(said) == len(history.answers)
    for native, expected in zip(said, history.answers, strict=True):
        if expected.startswith("-"):
            assert float(native) == float(expected)
        else:
            assert native.strip() == expected


def test_both_planes_know_the_same_reasons_by_the_same_codes() -> None:
    said = subprocess.run([PROGRAM, "reasons"], capture_output=True, text=True, check=True).stdout.split("\n")
    assert [line for line in said if line] == [f"{reason} {CODES[reason].value[0]}" for reason in Reason]
