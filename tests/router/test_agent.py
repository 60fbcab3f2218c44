"""A router and its controller: snapshots in force, refused, lost and found again."""

from __future__ import annotations

import asyncio
import random

import grpc
from router_stage import PATIENCE, ControllerStandIn, EchoWorker, request, route, snapshot, stage, story, until

from tidewise.core.routes import RoutingSnapshot
from tidewise.router.agent import Agent
from tidewise.router.forward import Forwarder


@story
async def test_a_snapshot_in_force_is_acknowledged():
    async with stage(workers=1) as (on, (worker,)):
        await until(lambda: len(on.controller.reports) > 0)
        assert on.controller.applied() == 0
        await on.tell(snapshot([route("a", worker.address)], revision=41))
        assert on.controller.reports[-1].address == on.address
        assert len({report.router for report in on.controller.reports}) == 1


@story
async def test_a_snapshot_that_cannot_be_used_is_refused_and_the_old_one_stays():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)], revision=1))
        broken = snapshot([route("a", worker.address)], revision=2)
        broken.catalogue.applications[0].toml = "name ="
        on.controller.send(broken)
        on.controller.send(snapshot([route("a", worker.address, application="shoes")], revision=3))
        on.controller.send(snapshot([route("a", worker.address)], revision=4, routing="best"))
        on.controller.send(b"\xff\xff\xff")
        seen = len(on.controller.reports)
        await until(lambda: len(on.controller.reports) >= seen + 3)
        assert on.controller.applied() == 1
        await on.client.ask(request())
        await on.tell(snapshot([route("a", worker.address)], revision=5))


@story
async def test_without_its_controller_a_router_serves_on_and_finds_it_again():
    async with stage(workers=2) as (on, (one, two)):
        await on.tell(snapshot([route("a", one.address)]))
        await on.controller.stop()
        await until(lambda: on.router and not on.router.is_connected())  # its last report may have been lost on the way
        for _ in range(20):
            await on.client.ask(request())
        await asyncio.sleep(0.5)  # in which it calls a controller that is not there
        back = await ControllerStandIn().start(int(on.controller.address.rpartition(":")[2]))
        try:
            await until(lambda: back.counted("garments")[0] == 20)  # counted while nobody listened
            assert back.applied() == 1
            back.send(snapshot([route("b", two.address)], revision=1))
            async with asyncio.timeout(PATIENCE):
                while not two.seen:
                    await on.client.ask(request())
        finally:
            await back.stop()


@story
async def test_workers_of_a_plan_are_reached_though_the_controller_dies_right_after():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        await on.controller.stop()
        await on.client.ask(request())
        assert len(worker.seen) == 1


@story
async def test_a_worker_dropped_from_the_plan_gets_no_more_queries():
    async with stage(workers=2) as (on, (one, two)):
        await on.tell(snapshot([route("a", one.address), route("b", two.address)]))
        for _ in range(10):
            await on.client.ask(request())
        await on.tell(snapshot([route("b", two.address)], revision=2))
        before = len(one.seen)
        for _ in range(20):
            await on.client.ask(request())
        assert len(one.seen) == before > 0


@story
async def test_an_application_that_is_removed_is_unknown_again():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        await on.client.ask(request())
        await on.tell(snapshot([], applications=(), revision=2))
        found = await on.client.refused(request())
        assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "unknown_application")


@story
async def test_devices_of_one_process_are_told_apart():
    async with stage() as (on, _):
        worker = await EchoWorker().start()
        routes = [route("d0", worker.address), route("d1", worker.address)]
        await on.tell(snapshot(routes))
        for _ in range(10):
            await on.client.ask(request())
        assert {one.metadata["tidewise-worker"] for one in worker.seen} == {"d0", "d1"}
        await worker.kill()


class BreaksWhenCancelled(Agent):
    """Its call breaks at the very moment the agent is told to end, and tells only of that."""

    calls = 0

    async def _attend(self, channel: grpc.aio.Channel) -> None:
        self.calls += 1
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            nothing = grpc.aio.Metadata()
            raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing, "Cancelling all calls") from None


@story
async def test_an_agent_ends_though_its_call_breaks_at_the_same_moment():
    controller = await ControllerStandIn().start()
    agent = BreaksWhenCancelled(Forwarder(random.Random()), controller.address, "r", "h:1", _nothing)
    running = asyncio.create_task(agent.run())
    await until(lambda: agent.calls > 0)
    running.cancel()
    async with asyncio.timeout(PATIENCE / 10):
        await asyncio.wait({running})
    assert running.done() and agent.calls == 1
    await controller.stop()


async def _nothing(snapshot: RoutingSnapshot) -> None:
    """For an agent whose snapshots nobody needs."""
