"""The router as a process: how it leaves, and what it says to wrong input."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys

import grpc
import pytest
from router_stage import (
    PLANE,
    Client,
    ControllerStandIn,
    EchoWorker,
    get,
    request,
    route,
    sleeping,
    snapshot,
    story,
    until,
)

from tidewise.cli.ports import free_port


async def router_process(join: str, listen: int, http: int, *more: str) -> asyncio.subprocess.Process:
    more = ("--data-plane", PLANE.get(), *more)
    words = ("router", "--join", join, "--listen", f"127.0.0.1:{listen}", "--http", f"127.0.0.1:{http}", *more)
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidewise.cli.main", *words, stderr=asyncio.subprocess.PIPE, env=dict(os.environ)
    )


async def status(http: int, path: str) -> int:
    try:
        return (await get(http, path))[0]
    except ConnectionError:
        return 0


@story
async def test_sigterm_loses_no_query_of_a_client_that_honours_readiness():
    controller, worker = await ControllerStandIn().start(), await EchoWorker(act=sleeping(0.05)).start()
    grpc_port, http = free_port(), free_port()
    process = await router_process(controller.address, grpc_port, http, "--drain-delay", "0.6")
    controller.send(snapshot([route("a", worker.address)], slo_ms=20_000))
    async with asyncio.timeout(20):
        while await status(http, "/v2/health/ready") != 200:
            await asyncio.sleep(0.05)
    client = Client(f"127.0.0.1:{grpc_port}")
    asked, ready = [], True
    asyncio.get_running_loop().call_later(0.5, os.kill, process.pid, signal.SIGTERM)
    while ready:
        asked.append(asyncio.ensure_future(client.ask(request(), timeout=20)))
        await asyncio.sleep(0.01)
        if len(asked) % 10 == 0:
            ready = await status(http, "/v2/health/ready") == 200
    assert await status(http, "/v2/health/live") == 200
    await client.ask(request())  # still served, within the delay
    answers = await asyncio.gather(*asked)
    assert len(answers) == len(asked) > 10
    async with asyncio.timeout(15):
        assert await process.wait() == 0
    await until(lambda: controller.counted("garments") == (len(asked) + 1, {"on_time": len(asked) + 1}))
    await client.channel.close()
    await controller.stop()
    await worker.kill()


@story
async def test_queries_in_flight_and_open_streams_end_before_the_process_does():
    controller, worker = await ControllerStandIn().start(), await EchoWorker(act=sleeping(1.0)).start()
    grpc_port, http = free_port(), free_port()
    process = await router_process(controller.address, grpc_port, http, "--drain-delay", "0")
    controller.send(snapshot([route("a", worker.address)], slo_ms=20_000))
    async with asyncio.timeout(20):
        while await status(http, "/v2/health/ready") != 200:
            await asyncio.sleep(0.05)
    client = Client(f"127.0.0.1:{grpc_port}")
    held = asyncio.ensure_future(client.ask(request(), timeout=20))
    call = client.stream(timeout=20)
    await call.write(request(id="s"))
    await until(lambda: len(worker.seen) == 2)
    os.kill(process.pid, signal.SIGTERM)
    await held
    got = [one async for one in call]
    assert len(got) == 1 and await call.code() is grpc.StatusCode.OK
    async with asyncio.timeout(15):
        assert await process.wait() == 0
    await client.channel.close()
    await controller.stop()
    await worker.kill()


@pytest.mark.parametrize("option", ["--listen", "--http"])
def test_a_port_that_is_taken_is_named_and_the_exit_code_is_two(option: str) -> None:
    @story
    async def run() -> None:
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            taken = f"127.0.0.1:{holder.getsockname()[1]}"
            process = await router_process("127.0.0.1:1", free_port(), free_port(), option, taken)
            _, err = await process.communicate()
        assert process.returncode == 2
        assert taken in err.decode().splitlines()[-1]

    run()


def test_an_address_without_a_port_is_wrong_input() -> None:
    @story
    async def run() -> None:
        process = await router_process("controller", free_port(), free_port())
        _, err = await process.communicate()
        assert process.returncode == 2
        assert "--join must be HOST:PORT, not 'controller'" in err.decode()

    run()
