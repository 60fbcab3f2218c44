"""Workers are reached by number, by name, or through a Unix socket."""

from __future__ import annotations

import tempfile

from router_stage import EchoWorker, request, route, snapshot, stage, story


@story
async def test_a_worker_is_reached_by_its_hosts_name():
    async with stage(workers=1) as (on, (worker,)):
        port = worker.address.rpartition(":")[2]
        await on.tell(snapshot([route("a", f"localhost:{port}")]))
        await on.client.ask(request())
        assert len(worker.seen) == 1


@story
async def test_a_host_that_does_not_exist_is_a_lost_worker():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", "no-such-host.invalid:9"), route("b", worker.address)], slo_ms=10_000))
        for _ in range(5):
            answer = await on.client.ask(request())
            assert answer.parameters["worker"].string_param == "b"


@story
async def test_a_worker_is_reached_through_a_unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        async with stage() as (on, _):
            worker = await EchoWorker().start(listen=f"unix:{folder}/worker")
            await on.tell(snapshot([route("a", worker.address)]))
            await on.client.ask(request())
            assert len(worker.seen) == 1
            await worker.kill()
