"""Nothing that is kept instead of made anew changes a run: with every shortcut barred, each query ends the same way."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from simulator_stories import world

from tidewise.controller.publisher import Publisher
from tidewise.controller.registry import Registry
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.table import RoutingTable, build
from tidewise.simulator.simulation import Result, simulate
from tidewise.worker.hosting import Hosting

POLICIES = ("tidewise", "tidewise-blocking", "proteus-mended", "infaas", "anytime")


def run(policy: str) -> Result:
    return simulate(world(policy, rates={"cats": 90.0, "dogs": 30.0}, seconds=8.0, peak=3.0), seed=1)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_without_any_shortcut_is_the_same_to_the_last_query(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = run(policy)

    def refresh(publisher: Publisher, registry: Registry) -> bool:
        publisher._made = {}
        return kept(publisher, registry)

    def anew(
        snapshot: RoutingSnapshot, out: Collection[str] = frozenset(), before: RoutingTable | None = None
    ) -> RoutingTable:
        return build(snapshot, out)

    kept = Publisher.refresh
    monkeypatch.setattr(Hosting, "_moves_nothing", lambda *_: False)
    monkeypatch.setattr(Registry, "_as_before", lambda *_: False)
    monkeypatch.setattr(Publisher, "refresh", refresh)
    monkeypatch.setattr("tidewise.simulator.front.build", anew)
    long = run(policy)
    assert short.records == long.records
    assert short.samples == long.samples
    assert [(one.at, one.plan.assignments) for one in short.plans] == [
        (one.at, one.plan.assignments) for one in long.plans
    ]
