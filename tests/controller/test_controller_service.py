"""The controller over the wire: real streams, scripted workers and routers, a real solver process."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import urllib.request
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire_stories import (
    PATIENCE,
    FakeRouter,
    FakeWorker,
    calling,
    controller,
    real_profile,
    settings_of,
    tell,
    until,
    write_application,
)

from tidewise.core.errors import ConfigError
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub


def share_of(variant: str, router: FakeRouter) -> float:
    """The fraction of queries that goes where only this variant is ready, by the newest snapshot."""
    return sum(one.share for one in router.snapshots[-1].routes if one.variants == (variant,))


def test_workers_are_planned_and_routers_told_who_is_ready(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "little-0", profile=real_profile("pets"))
            async with worker, router:
                await until(lambda: router.routes == {"big-0": "pets", "little-0": "pets"})
                last = router.snapshots[-1]
                assert last.plan_version == worker.orders[-1].plan_version
                assert sum(one.share for one in last.routes) == pytest.approx(1)
                assert all(one.fastest > 0 and one.capacity > 0 for one in last.routes)
                assert [one.revision for one in router.snapshots] == sorted({one.revision for one in router.snapshots})

    tell(story)


def test_a_worker_that_dies_is_out_of_the_routes_and_back_when_it_returns(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with (
            controller(settings_of(tmp_path / "state", repository)) as port,
            FakeRouter(port) as router,
            FakeWorker(port, "big-0", profile=real_profile("pets")),
        ):
            async with FakeWorker(port, "big-1"):
                await until(lambda: set(router.routes) == {"big-0", "big-1"})
            await until(lambda: set(router.routes) == {"big-0"})
            async with FakeWorker(port, "big-1"):
                await until(lambda: set(router.routes) == {"big-0", "big-1"})

    tell(story)


def test_what_one_worker_measured_is_told_to_the_others_of_its_type(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with (
            controller(settings_of(tmp_path / "state", repository)) as port,
            FakeWorker(port, "big-0", profile=real_profile("pets")),
            FakeWorker(port, "big-1") as ignorant,
        ):
            await until(lambda: ignorant.hosted() == {"big-1": "pets/large"})
            told = ignorant.orders[-1].profile.entries
            assert {key[2] for key in told} == {"big"} and len(told) == 3

    tell(story)


def test_demand_moves_the_plan_through_the_whole_chain(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository, period=3.0)) as port:
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets"))
            async with worker, FakeRouter(port) as router:
                await until(lambda: set(worker.hosted().values()) == {"pets/large"})
                router.rates = {"pets": 250.0}
                await until(lambda: "pets/small" in worker.hosted().values())
                await until(lambda: any("small" in one.variants for one in router.snapshots[-1].routes))
                router.rates = {"pets": 10.0}
                await until(lambda: share_of("large", router) > 0.9)

    tell(story)


@pytest.mark.usefixtures("patient_rejoin")
def test_a_restarted_controller_goes_on_from_the_workers_and_never_back(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets"))
            await worker.__aenter__()
            await router.__aenter__()
            await until(lambda: len(router.routes) == 2)
        version, revision, seen = worker.orders[-1].plan_version, router.snapshots[-1].revision, len(router.snapshots)
        async with controller(settings_of(tmp_path / "state", repository, port=port)):
            await until(lambda: len(router.snapshots) > seen)
            assert all(len(one.routes) == 2 for one in router.snapshots[seen:])  # nobody was taken out on the way
            assert router.snapshots[seen].revision > revision
            assert [one.plan_version for one in worker.orders] == sorted(one.plan_version for one in worker.orders)
            async with FakeWorker(port, "big-2"):
                await until(lambda: len(router.routes) == 3)
            assert worker.orders[-1].plan_version > version
        await worker.__aexit__()
        await router.__aexit__()

    tell(story)


@pytest.mark.usefixtures("patient_rejoin")
def test_a_restarted_controller_takes_no_application_out_of_service(tmp_path: Path, repository: Path) -> None:
    write_application(repository, "cars")

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets", "cars"))
            await worker.__aenter__()
            await router.__aenter__()
            await until(lambda: set(router.routes.values()) == {"pets", "cars"})
        seen = len(router.snapshots)
        async with controller(settings_of(tmp_path / "state", repository, port=port)):
            await until(lambda: len(router.snapshots) > seen)
            await asyncio.sleep(1.0)  # in which an order that takes something away would have been followed
            for one in router.snapshots[seen:]:
                assert {route.application for route in one.routes} == {"pets", "cars"}
        (repository / "cars" / "application.toml").unlink()
        seen = len(router.snapshots)
        async with controller(settings_of(tmp_path / "state", repository, port=port)):
            await until(lambda: len(router.snapshots) > seen and set(router.routes.values()) == {"pets"})
        await worker.__aexit__()
        await router.__aexit__()

    tell(story)


def test_a_controller_that_lost_its_state_folder_starts_above_what_workers_know(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidewise.controller.rejoin.GRACE", 1.0)

    async def story() -> None:
        worker = FakeWorker(0, "big-0", profile=real_profile("pets"))
        worker.devices = {name: replace(one, applied_version=41) for name, one in worker.devices.items()}
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            worker.port = port
            async with worker:
                await until(lambda: worker.orders)
                assert worker.orders[0].plan_version == 42

    tell(story)


def test_a_file_a_worker_refuses_is_reported_and_planned_around(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, FakeRouter(port) as router:
            worker = FakeWorker(port, "big-0", profile=real_profile("pets"))
            worker.cannot = {hashlib.sha256((repository / "pets/large/model.onnx").read_bytes()).hexdigest()}
            async with worker, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                await until(lambda: router.routes == {"big-0": "pets"})
                assert worker.hosted() == {"big-0": "pets/medium"}
                status = await ControllerStub(channel).Status(pb.StatusRequest())
                assert status.workers[0].device.refused_reason == "corrupt model file"
                assert "pets/large is not planned on big-0: corrupt model file" in status.last_failure

    tell(story)


def test_health_is_served_and_a_watch_sees_changes(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            health = health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call]
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == 1
            watch = ControllerStub(channel).Watch(pb.WatchRequest(interval_s=60.0))
            assert (await watch.read()).plan.version == 0
            async with FakeWorker(port, "big-0", profile=real_profile("pets")):
                assert (await watch.read()).workers[0].connected
            watch.cancel()

    tell(story)


def test_profiles_that_cannot_be_read_do_not_cost_the_worker(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            stream = stub.AttachWorkers()
            device = pb.DeviceReport(name="big-0", device_type="big")
            await stream.write(pb.WorkerReport(process="p", address="h:1", devices=[device], profiles=["{"]))
            order = await stream.read()
            assert order.measures[0].device == "big-0"
            assert (await stub.Status(pb.StatusRequest())).workers[0].connected
            stream.cancel()

    tell(story)


def test_a_port_that_is_taken_is_one_clear_sentence(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "a", repository)) as port:
            with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
                async with controller(settings_of(tmp_path / "b", repository, port=port)):
                    pass

    tell(story)


def test_metrics_are_served_for_prometheus(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            metrics = one.getsockname()
        settings = replace(settings_of(tmp_path / "state", repository), metrics=metrics)
        async with controller(settings) as port, FakeWorker(port, "big-0", profile=real_profile("pets")) as worker:
            await until(lambda: worker.hosted())
            text, planned = "", 'planned_workers{application="pets",device_type="big",variant="large"} 1.0'
            async with asyncio.timeout(PATIENCE):
                while f"tidewise_controller_{planned}" not in text:  # gauges are set once a second
                    await asyncio.sleep(0.05)
                    text = await asyncio.to_thread(_page, f"http://127.0.0.1:{metrics[1]}/metrics")
        assert "tidewise_controller_plan_version 1.0" in text and "nan" not in text.lower()

    tell(story)


def _page(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as reply:
        text: str = reply.read().decode()
        return text
