"""A hung, crashed or lying solver costs its plan and nothing else."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_cases import small_case

from tidewise.controller.allocation.child import ROOT, Failure, SolverChild
from tidewise.core.solution import Status

PRELUDE = f"""
import os, pickle, sys, time
sys.path.insert(0, {ROOT!r})
from dataclasses import replace
from tidewise.controller.allocation.exchange import *
from tidewise.controller.allocation.solve import solve
out = os.fdopen(os.dup(1), "wb")
write_frame(out, READY)
request = read_frame(sys.stdin.buffer)
"""
CASE = small_case(7, load=3)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[SolverChild]:
    child = SolverChild()
    yield child
    child.close()


def impostor(tmp_path: Path, body: str) -> SolverChild:
    """A child that runs this text once it has a request."""
    (tmp_path / "impostor.py").write_text(PRELUDE + body)
    return SolverChild(command=(sys.executable, str(tmp_path / "impostor.py")))


def test_an_honest_solver_is_believed(child: SolverChild) -> None:
    for _ in range(2):
        verdict = child.solve(CASE, wall_limit=30)
        assert verdict.failure is None
        assert verdict.solution is not None
        assert verdict.solution.status is not Status.FEASIBLE


def test_a_hung_solver_is_killed_and_its_fast_plan_kept(tmp_path: Path) -> None:
    child = impostor(tmp_path, "write_frame(out, Reply(solve(request.case, method='fast'), False)); time.sleep(60)")
    verdict = child.solve(CASE, wall_limit=0.5)
    assert verdict.failure is Failure.HUNG
    assert verdict.solution is not None
    assert verdict.solution.method == "fast"


def test_a_solver_that_says_nothing_leaves_the_last_plan_standing(tmp_path: Path) -> None:
    verdict = impostor(tmp_path, "time.sleep(60)").solve(CASE, wall_limit=0.3)
    assert verdict.failure is Failure.HUNG
    assert verdict.solution is None


def test_a_crash_is_a_verdict(tmp_path: Path) -> None:
    verdict = impostor(tmp_path, "os.abort()").solve(CASE, wall_limit=10)
    assert verdict.failure is Failure.CRASHED
    assert verdict.solution is None


@pytest.mark.parametrize(
    "lie",
    [
        "replace(s, objective=s.objective + 0.1, bound=s.bound + 0.1)",
        "replace(s, counts={t: {v: n + 5 for v, n in row.items()} for t, row in s.counts.items()})",
    ],
)
def test_a_lie_is_caught(tmp_path: Path, lie: str) -> None:
    child = impostor(tmp_path, f"s = solve(request.case); write_frame(out, Reply({lie}, True)); time.sleep(60)")
    verdict = child.solve(CASE, wall_limit=20)
    assert verdict.failure is Failure.LIED
    assert verdict.solution is None


def test_noise_is_not_an_answer(tmp_path: Path) -> None:
    child = impostor(tmp_path, "out.write(b'\\0' * 7 + b'\\5noise'); out.flush(); time.sleep(60)")
    assert child.solve(CASE, wall_limit=10).failure in (Failure.CRASHED, Failure.LIED)


def test_after_a_failure_the_next_solve_starts_afresh(tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    child = impostor(
        tmp_path,
        f"flag = {str(tmp_path / 'flag')!r}\n"
        "if os.path.exists(flag):\n    os.remove(flag); os.abort()\n"
        "write_frame(out, Reply(solve(request.case), True)); time.sleep(60)",
    )
    assert child.solve(CASE, wall_limit=20).failure is Failure.CRASHED
    assert child.solve(CASE, wall_limit=20).failure is None
    child.close()
