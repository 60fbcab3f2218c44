"""The router as a process: how it leaves, and what it says to wrong input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from router_stage import (
    PATIENCE,
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


@dataclass
class Serving:
    """A router process on its stage."""

    process: asyncio.subprocess.Process
    controller: ControllerStandIn
    worker: EchoWorker
    client: Client
    http: int


async def router_process(join: str, listen: int, http: int, *more: str) -> asyncio.subprocess.Process:
    more = ("--data-plane", PLANE.get(), *more)
    words = ("router", "--join", join, "--listen", f"127.0.0.1:{listen}", "--http", f"127.0.0.1:{http}", *more)
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidewise.cli.main", *words, stderr=asyncio.subprocess.PIPE, env=dict(os.environ)
    )


@asynccontextmanager
async def serving(seconds: float, drain_delay: str) -> AsyncIterator[Serving]:
    """A router process that forwards to one worker, which takes so long for a query."""
    controller, worker = await ControllerStandIn().start(), await EchoWorker(act=sleeping(seconds)).start()
    process = await router_process(controller.address, 0, 0, "--drain-delay", drain_delay)
    up = await asyncio.wait_for(listening(process), PATIENCE)
    controller.send(snapshot([route("a", worker.address)]))
    await until(lambda: controller.applied() == 1)
    client = Client(up["address"])
    try:
        yield Serving(process, controller, worker, client, up["http_port"])
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await client.channel.close()
        await controller.stop()
        await worker.kill()


async def listening(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """The line of its log that says where it listens."""
    assert process.stderr is not None
    async for line in process.stderr:
        if (said := json.loads(line))["event"] == "router is listening":
            return dict(said)
    raise AssertionError("the router ended")


async def status(http: int, path: str) -> int:
    try:
        return (await get(http, path))[0]
    except ConnectionError:
        return 0


@story
async def test_sigterm_loses_no_query_of_a_client_that_honours_readiness():
    async with serving(seconds=0.05, drain_delay="2") as on:
        asked = []
        while not asked or len(asked) % 10 or await status(on.http, "/v2/health/ready") == 200:
            asked.append(asyncio.ensure_future(on.client.ask(request())))
            await asyncio.sleep(0.01)
            if len(asked) == 25:
                os.kill(on.process.pid, signal.SIGTERM)
        assert await status(on.http, "/v2/health/live") == 200
        await on.client.ask(request())  # still served, within the delay
        answers = await asyncio.gather(*asked)
        assert len(answers) == len(asked) > 25
        await asyncio.wait_for(on.process.wait(), PATIENCE)
        whole = len(asked) + 1
        await until(lambda: on.controller.counted("garments") == (whole, {"on_time": whole}))


@story
async def test_queries_in_flight_and_open_streams_end_before_the_process_does():
    async with serving(seconds=1.0, drain_delay="0") as on:
        held = asyncio.ensure_future(on.client.ask(request()))
        call = on.client.stream(timeout=PATIENCE)
        await call.write(request(id="s"))
        await until(lambda: len(on.worker.seen) == 2)
        os.kill(on.process.pid, signal.SIGTERM)
        await held
        got = [one async for one in call]
        assert len(got) == 1 and await call.code() is grpc.StatusCode.OK


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
