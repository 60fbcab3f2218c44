"""A hung, crashed or lying solver costs its plan and nothing else."""

import asyncio
import sys
from pathlib import Path

import pytest
from small_cases import small_case

import tidewise
from tidewise.controller.exchange import Request
from tidewise.controller.solving import Failure, SolverProcess, Verdict
from tidewise.core.case import Case
from tidewise.core.scenario import ScenarioCase, ScenarioSolution
from tidewise.core.solution import Solution, Status

PRELUDE = f"""
import os, sys, time
sys.path.insert(0, {str(Path(tidewise.__file__).parents[1])!r})
from dataclasses import replace
from tidewise.controller.exchange import *
from tidewise.controller.policies import *
from tidewise.controller.allocation.solve import solve
out = os.fdopen(os.dup(1), "wb")
write_frame(out, READY)
request = read_frame(sys.stdin.buffer)
"""
CASE = small_case(7, load=3)


SCENARIOS = ScenarioCase(CASE, ({n: 1.5 * a.demand for n, a in CASE.applications.items()},), (1.0,))


def impostor(tmp_path: Path, body: str) -> SolverProcess:
    """A child that runs this text once it has a request."""
    (tmp_path / "impostor.py").write_text(PRELUDE + body)
    return SolverProcess([sys.executable, str(tmp_path / "impostor.py")])


def solved(solver: SolverProcess, *, limit: float, case: Case | ScenarioCase = CASE, times: int = 1) -> list[Verdict]:
    """The verdicts on a case, asked so many times."""

    async def story() -> list[Verdict]:
        verdicts = [await solver.solve(Request(case), limit) for _ in range(times)]
        await solver.stop()
        return verdicts

    return asyncio.run(story())


def test_an_honest_solver_is_believed() -> None:
    for verdict in solved(SolverProcess(), limit=60, times=2):
        assert verdict.failure is None
        assert isinstance(verdict.answer, Solution)
        assert verdict.answer.status is not Status.FEASIBLE


def test_a_hung_solver_is_killed_and_its_fast_plan_kept(tmp_path: Path) -> None:
    child = impostor(tmp_path, "write_frame(out, Reply(allocate_fast(request.case), False)); time.sleep(300)")
    (verdict,) = solved(child, limit=2)
    assert verdict.failure is Failure.HUNG
    assert isinstance(verdict.answer, Solution)
    assert verdict.answer.method == "fast"


def test_scenarios_too_are_answered_at_once(tmp_path: Path) -> None:
    child = impostor(tmp_path, "write_frame(out, Reply(allocate_fast(request.case), False)); time.sleep(300)")
    (verdict,) = solved(child, limit=2, case=SCENARIOS)
    assert verdict.failure is Failure.HUNG
    assert isinstance(verdict.answer, ScenarioSolution)


def test_a_solver_that_says_nothing_leaves_the_last_plan_standing(tmp_path: Path) -> None:
    (verdict,) = solved(impostor(tmp_path, "time.sleep(300)"), limit=0.3)
    assert verdict == Verdict(None, Failure.HUNG, "it did not answer within 0.3 s and was killed")


def test_a_crash_is_a_verdict(tmp_path: Path) -> None:
    (verdict,) = solved(impostor(tmp_path, "os.abort()"), limit=60)
    assert verdict.failure is Failure.CRASHED
    assert verdict.answer is None


def test_a_program_that_is_not_there_is_a_verdict() -> None:
    (verdict,) = solved(SolverProcess(["/nowhere/solver"]), limit=60)
    assert verdict.failure is Failure.CRASHED


def test_an_error_of_the_solver_is_told(tmp_path: Path) -> None:
    (verdict,) = solved(impostor(tmp_path, "write_frame(out, Reply(None, True, 'too tired'))"), limit=60)
    assert verdict == Verdict(None, Failure.REFUSED, "too tired")


@pytest.mark.parametrize(
    "lie",
    [
        "replace(s, objective=s.objective + 0.1, bound=s.bound + 0.1)",
        "replace(s, counts={t: {v: n + 5 for v, n in row.items()} for t, row in s.counts.items()})",
    ],
)
def test_a_lie_is_caught(tmp_path: Path, lie: str) -> None:
    child = impostor(tmp_path, f"s = solve(request.case); write_frame(out, Reply({lie}, True)); time.sleep(300)")
    (verdict,) = solved(child, limit=60)
    assert verdict.failure is Failure.LIED
    assert verdict.answer is None


@pytest.mark.parametrize(
    "lie",
    [
        "replace(s, bound=s.objective - 0.1)",
        "replace(s, families={t: {a: 99 for a in row} for t, row in s.families.items()})",
        "replace(s, warm={})",
        "replace(s, values=())",
        "replace(s, values=tuple(replace(v, served={a: 1e9 for a in v.served}) for v in s.values))",
        "replace(s, values=tuple(replace(v, accuracy=v.accuracy + 0.9) for v in s.values))",
        "replace(s, values=tuple(replace(v, least_served=v.least_served / 2 + 0.6) for v in s.values))",
        "solve(request.case.case)",
    ],
)
def test_a_lie_about_scenarios_is_caught(tmp_path: Path, lie: str) -> None:
    body = "s = allocate(request.case, 'auto', request.limits); "
    child = impostor(tmp_path, body + f"write_frame(out, Reply({lie}, True)); time.sleep(300)")
    (verdict,) = solved(child, limit=60, case=SCENARIOS)
    assert verdict.failure is Failure.LIED
    assert verdict.answer is None


def test_a_lie_after_the_fast_plan_costs_only_the_lie(tmp_path: Path) -> None:
    body = "write_frame(out, Reply(allocate_fast(request.case), False)); write_frame(out, 'solved it')"
    (verdict,) = solved(impostor(tmp_path, body), limit=60)
    assert verdict.failure is Failure.LIED
    assert isinstance(verdict.answer, Solution)


@pytest.mark.parametrize("noise", ["b'\\5' + b'\\0' * 7 + b'noise'", "b'\\0' * 8", "b'\\1' + b'\\0' * 7 + b'.'"])
def test_noise_is_not_an_answer(tmp_path: Path, noise: str) -> None:
    child = impostor(tmp_path, f"out.write({noise}); out.flush(); time.sleep(300)")
    (verdict,) = solved(child, limit=60)
    assert verdict.failure in (Failure.CRASHED, Failure.LIED)


def test_after_a_failure_the_next_solve_starts_afresh(tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    child = impostor(
        tmp_path,
        f"flag = {str(tmp_path / 'flag')!r}\n"
        "if os.path.exists(flag):\n    os.remove(flag); os.abort()\n"
        "write_frame(out, Reply(solve(request.case), True)); time.sleep(300)",
    )
    first, second = solved(child, limit=60, times=2)
    assert first.failure is Failure.CRASHED
    assert second.failure is None
