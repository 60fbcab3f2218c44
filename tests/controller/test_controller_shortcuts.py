"""What the controller does not make anew comes out as if it had been: the long way and the short way, side by side."""

from __future__ import annotations

from dataclasses import replace

from controller_stories import application_of, profile_of, source_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.publisher import Publisher
from tidewise.controller.registry import Registry
from tidewise.core.plan import Assignment, Plan
from tidewise.core.report import DeviceReport, Holding, Unprofiled, WorkerReport

NAMES = ("d0", "d1", "d2")
HELD = tuple(Holding("pets", one, f"pets-{one}-1") for one in ("large", "medium", "small"))


class Thorough(Registry):
    """Compares everything at every report, whatever it brings."""

    def _as_before(self, connection: int, report: WorkerReport) -> bool:
        return False


devices = st.builds(
    DeviceReport,
    name=st.sampled_from(NAMES),
    device_type=st.sampled_from(["big", "big", "little"]),
    warm=st.sampled_from([HELD[:1], HELD, ()]),
    applied_version=st.integers(0, 2),
    refused_version=st.sampled_from([0, 0, 0, 2]),
    queued=st.integers(0, 9),
    draining=st.sampled_from([False, False, False, True]),
    stretch=st.sampled_from([1.0, 1.25]),
    unprofiled=st.sampled_from([(), (), (Unprofiled("pets", "large", "why"),)]),
)
reports = st.tuples(
    st.integers(1, 2),
    st.sampled_from(["p", "p", "q"]),
    st.lists(devices, max_size=3, unique_by=lambda one: one.name),
    st.sampled_from([0.2, 0.2, 4.0]),
)


@settings(max_examples=200)
@given(st.lists(st.tuples(reports, st.integers(1, 3)), max_size=12))
def test_a_report_of_the_same_devices_leaves_the_registry_as_a_thorough_one(
    told: list[tuple[tuple[int, str, list[DeviceReport], float], int]],
) -> None:
    short, thorough, now = Registry(), Thorough(), 0.0
    for (connection, process, found, pause), times in told:
        for busy in range(times):  # the same again, but for its readings
            now += pause
            one = WorkerReport(process, "h:1", tuple(replace(each, arrival_rate=float(busy)) for each in found))
            assert short.worker_reported(connection, one, now) == thorough.worker_reported(connection, one, now)
            assert short.devices() == thorough.devices() and list(short.devices()) == list(thorough.devices())
        assert short.tick(now + 0.1) == thorough.tick(now + 0.1)
        assert short.serving() == thorough.serving() and short.departed == thorough.departed


assignments = st.builds(
    Assignment,
    worker=st.sampled_from(NAMES),
    application=st.sampled_from(["pets", "cars"]),
    warm=st.just(("large", "small")),
    ceiling=st.sampled_from(["large", "small"]),
    share=st.sampled_from([0.25, 0.5]),
    capacity=st.just(10.0),
)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.lists(assignments, max_size=3), st.lists(devices, max_size=3)), max_size=6))
def test_routes_kept_from_before_are_those_that_would_be_made_now(
    steps: list[tuple[list[Assignment], list[DeviceReport]]],
) -> None:
    registry, publisher = Registry(), Publisher()
    registry.profile = profile_of("pets", "cars")
    for name in ("pets", "cars"):
        registry.applied(source_of(name), application_of(name))
    for version, (assigned, found) in enumerate(steps, start=1):
        registry.worker_reported(1, WorkerReport("p", "h:1", tuple({one.name: one for one in found}.values())), 0.0)
        publisher.publish(Plan(version, tuple({one.worker: one for one in assigned}.values())))
        publisher.refresh(registry)
        anew = Publisher(plan=publisher.plan, _history=dict(publisher._history))
        anew.refresh(registry)
        assert publisher.snapshot.routes == anew.snapshot.routes
