"""A plan is checked before it is published: whatever contradicts itself or the cluster is refused by name."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.application import Application, Variant
from tidewise.core.errors import PlanError
from tidewise.core.plan import EMPTY_PLAN, Assignment, Plan, consistent

VARIANTS = tuple(Variant(name, version, f"{name}.onnx") for version, name in enumerate(("low", "mid", "top"), start=1))
APPLICATIONS = {name: Application(name, 0.2, VARIANTS, (), ()) for name in ("a", "b")}
WORKERS = ("big-0", "big-1", "small-0")
GOOD = Plan(
    version=4,
    assignments=(
        Assignment("big-0", "a", ("top", "low"), "top", 0.75, 30.0),
        Assignment("big-1", "a", ("low",), "low", 0.25, 10.0),
        Assignment("small-0", "b", ("mid",), "mid", 1.0, 5.0),
    ),
)


def changed(index: int, **changes: object) -> Plan:
    assignments = list(GOOD.assignments)
    assignments[index] = replace(assignments[index], **changes)  # type: ignore[arg-type]
    return replace(GOOD, assignments=tuple(assignments))


def test_a_good_plan_and_the_empty_plan_pass() -> None:
    consistent(GOOD, APPLICATIONS, WORKERS)
    consistent(EMPTY_PLAN, APPLICATIONS, WORKERS)


def test_a_worker_is_found_by_name() -> None:
    assert GOOD.of("big-1") == GOOD.assignments[1]
    assert GOOD.of("big-9") is None


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (changed(0, worker="gone"), "plan 4 names worker 'gone', which is not in the cluster"),
        (changed(0, worker="big-1"), "plan 4 assigns worker 'big-1' twice"),
        (changed(2, application="c"), "plan 4 names application 'c', which does not exist"),
        (changed(0, warm=("top", "huge")), "'a' has no variant 'huge'"),
        (changed(0, ceiling="mid"), "the ceiling 'mid' of 'big-0' is not among its warm variants"),
        (changed(0, warm=()), "the ceiling 'top' of 'big-0' is not among its warm variants"),
        (changed(0, share=0.5), "the shares of 'a' sum to 0.750000, not 1"),
        (changed(2, share=0.0), "the shares of 'b' sum to 0.000000, not 1"),
        (changed(0, share=-0.1), "worker 'big-0' has share -0.1, not within 0 and 1"),
        (changed(0, share=1.5), "has share 1.5"),
        (changed(0, share=float("nan")), "has share nan"),
    ],
)
def test_a_contradiction_is_named(plan: Plan, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        consistent(plan, APPLICATIONS, WORKERS)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=40))
def test_shares_that_are_fractions_of_a_whole_pass(weights: list[float]) -> None:
    workers = [f"big-{number}" for number in range(len(weights))]
    plan = Plan(
        1,
        tuple(
            Assignment(worker, "a", ("top",), "top", weight / sum(weights), 1.0)
            for worker, weight in zip(workers, weights, strict=True)
        ),
    )
    consistent(plan, APPLICATIONS, workers)


@given(st.sampled_from(range(3)), st.floats(1e-5, 0.5))
def test_any_share_that_is_off_is_refused(index: int, off: float) -> None:
    with pytest.raises(PlanError):
        consistent(changed(index, share=GOOD.assignments[index].share - off), APPLICATIONS, WORKERS)
