"""The registry and what hangs on it: who is there, who measures, who is barred, who must come back."""

from __future__ import annotations

from controller_stories import application_of, profile_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.measuring import Measuring
from tidewise.controller.quarantine import Quarantine
from tidewise.controller.registry import SILENCE, Device, Registry
from tidewise.controller.rejoin import GRACE, Rejoining
from tidewise.core.plan import EMPTY_PLAN
from tidewise.core.report import DeviceReport, Holding, RouterReport, WorkerReport


def report(*names: str, process: str = "p", **fields: object) -> WorkerReport:
    return WorkerReport(process, "h:1", tuple(DeviceReport(one, "big", **fields) for one in names))  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.sampled_from(["report", "lost", "tick"]), st.integers(1, 4), st.integers(0, 7)), max_size=30)
)
@settings(max_examples=200, deadline=None)
def test_whatever_happens_devices_belong_to_live_streams(events: list[tuple[str, int, int]]) -> None:
    registry, now, live = Registry(), 0.0, set()
    for what, connection, bits in events:
        now += 0.3
        before = set(registry.devices())
        if what == "report":
            names = [f"d{i}" for i in range(3) if bits >> i & 1]
            facts = registry.worker_reported(connection, report(*names, process=f"p{connection}"), now)
            live.add(connection)
        elif what == "lost":
            facts = registry.worker_lost(connection)
            live.discard(connection)
        else:
            facts = registry.tick(now)
        after = set(registry.devices())
        assert {one.connection for one in registry.devices().values()} <= live
        assert facts.gained >= after - before and facts.lost >= before - after
        assert not set(registry.departed) & after


def test_a_device_belongs_to_the_newest_stream_that_names_it() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d", process="old"), 0.0)
    facts = registry.worker_reported(2, report("d", process="new"), 0.1)
    assert facts.superseded == ("d",)
    registry.worker_reported(1, report("d", process="old"), 0.2)
    registry.worker_lost(1)
    assert registry.devices()["d"].process == "new"


def test_a_silent_worker_is_gone_until_it_speaks() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    now = 0.0
    while now < SILENCE + 0.5:
        now += 0.25
        facts = registry.tick(now)
        if facts.lost:
            break
    assert now > SILENCE and not registry.devices()
    assert registry.worker_reported(1, report("d"), now + 5).gained == {"d"}


def test_a_controller_that_slept_does_not_blame_the_workers() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    registry.tick(0.1)
    assert not registry.tick(60.0).lost


def test_profiles_are_learnt_once() -> None:
    registry = Registry()
    told = WorkerReport("p", "h:1", (), (profile_of("a"),))
    assert registry.worker_reported(1, told, 0.0).profiles
    assert not registry.worker_reported(1, told, 0.1).profiles


def test_readiness_changes_are_facts_and_counts_are_not() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    assert not registry.worker_reported(1, report("d", queued=5, arrival_rate=3.0), 0.1).readiness
    assert registry.worker_reported(1, report("d", warm=(Holding("a", "v", "x"),)), 0.2).readiness


def test_routers_come_and_go() -> None:
    registry = Registry()
    registry.router_reported(1, RouterReport("r", "h:1"))
    registry.router_lost(1)
    registry.router_lost(1)
    assert not registry.routers


def test_one_refusal_is_forgiven_two_are_not() -> None:
    quarantine = Quarantine()
    assert not quarantine.refused("d", ["x"], "why")
    assert quarantine.refused("d", ["x"], "why")
    assert quarantine.barred(["d", "e"]) == {("d", "x")}
    quarantine.keep_only([])
    assert not quarantine.barred(["d"])


def test_measuring_stays_with_one_idle_device_of_a_type() -> None:
    devices = {name: Device(DeviceReport(name, "big", queued=q), "p", "h:1", 1) for name, q in (("d0", 3), ("d1", 0))}
    measuring = Measuring()
    pets = {"pets": application_of("pets")}
    first = measuring.requests(pets, devices, profile_of(), EMPTY_PLAN, 0.0)
    assert [one.device for one in first] == ["d1"] and first[0].variants == ("large", "medium", "small")
    busy = {**devices, "d1": Device(DeviceReport("d1", "big", queued=9), "p", "h:1", 1)}
    assert [one.device for one in measuring.requests(pets, busy, profile_of(), EMPTY_PLAN, 1.0)] == ["d1"]
    assert not measuring.requests(pets, busy, profile_of("pets"), EMPTY_PLAN, 2.0)


def test_a_new_cluster_is_spoken_to_at_once_and_a_running_one_when_it_is_back() -> None:
    fresh = Rejoining()
    fresh.tick(0.0)
    assert fresh.done
    running = Rejoining()
    running.expect({"d0", "d1"})
    running.reported(report("d0"))
    running.tick(0.0)
    assert not running.done
    running.reported(report("d1"))
    running.tick(0.3)
    assert running.done


def test_waiting_for_a_running_cluster_has_an_end() -> None:
    running = Rejoining()
    running.expect({"d0"})
    running.tick(0.0)
    running.tick(GRACE - 0.1)
    assert not running.done
    running.tick(GRACE)
    assert running.done
