"""What the Python router adds to a query: an echo worker asked directly and through a router, in turns, in one run.

    python bench/router_python.py [--json] [--quick]

Rows: payload (bytes), mode (closed-N: N callers, each asking again when answered), target, p50_us and p99_us as a
caller sees them, added_p50_us and added_p99_us over the direct ones, cpu_us (CPU time of the router a query), rps.
Medians over the rounds. Caller, router and worker share the machine, so rps is that of the whole chain.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import psutil

from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import Route, RoutingSnapshot
from tidewise.proto import control_pb2 as control
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.convert import snapshot_message
from tidewise.router.link import INFER

SOURCE = ApplicationSource(
    """
name = "echo"
slo_ms = 10000
inputs = [{name = "x", datatype = "UINT8", shape = [-1]}]
outputs = [{name = "y", datatype = "UINT8", shape = [-1]}]
variants = [{name = "only", version = 1}]
""",
    "",
    {"only": "0"},
)
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]


async def serve_echo() -> None:
    """The worker: answers every query with the same small answer, and prints its address."""
    answer = pb.ModelInferResponse(model_name="echo", model_version="1")
    for key in ("queue_us", "compute_us", "batch_size", "plan_version"):
        answer.parameters[key].int64_param = 1
    data = answer.SerializeToString()

    async def infer(body: bytes, context: Any) -> bytes:
        return data

    server = grpc.aio.server(options=UNLIMITED)
    methods = {"ModelInfer": grpc.unary_unary_rpc_method_handler(infer)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("inference.GRPCInferenceService", methods)])
    print(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}", flush=True)
    await server.start()
    await server.wait_for_termination()


async def serve_controller(worker: str) -> tuple[grpc.aio.Server, str, asyncio.Future[str]]:
    """A controller that knows one plan; its address, and the address of the router once that follows the plan."""
    route = Route("echo-0", worker, "echo", ("only",), 1.0, 1e6, 1e-6)
    snapshot = snapshot_message(RoutingSnapshot(1, 1, {"echo": SOURCE.parse()}, (route,)), {"echo": SOURCE})
    followed: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def attach(reports: AsyncIterator[control.RouterReport], context: Any) -> None:
        await context.write(snapshot.SerializeToString())
        async for report in reports:
            if report.applied_revision and not followed.done():
                followed.set_result(report.address)

    server = grpc.aio.server()
    handler = grpc.stream_stream_rpc_method_handler(attach, request_deserializer=control.RouterReport.FromString)
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("tidewise.control.v1.Controller", {"AttachRouter": handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}", followed


def query(payload: int) -> bytes:
    message = pb.ModelInferRequest(model_name="echo", id="1")
    message.inputs.add(name="x", datatype="UINT8", shape=[1, payload])
    message.raw_input_contents.append(b"\0" * payload)
    return message.SerializeToString()


async def closed_loop(address: str, callers: int, queries: int, body: bytes) -> tuple[list[float], float]:
    """Latencies in seconds, and queries per second, of this many callers that each ask again when answered."""
    took: list[float] = []
    async with grpc.aio.insecure_channel(address, options=UNLIMITED) as channel:
        infer = channel.unary_unary(INFER)

        async def call(times: int) -> None:
            for _ in range(times):
                began = time.perf_counter()
                await infer(body, timeout=10)
                took.append(time.perf_counter() - began)

        await call(max(20, queries // 20))
        took.clear()
        began = time.perf_counter()
        await asyncio.gather(*(call(queries // callers) for _ in range(callers)))
        return sorted(took), len(took) / (time.perf_counter() - began)


async def measure(address: str, process: psutil.Process | None, callers: int, queries: int, body: bytes) -> dict:
    before = cpu_seconds(process)
    took, rate = await closed_loop(address, callers, queries, body)
    spent = cpu_seconds(process) - before
    asked = len(took) + max(20, queries // 20)
    return {
        "p50_us": 1e6 * took[len(took) // 2],
        "p99_us": 1e6 * took[int(len(took) * 0.99)],
        "cpu_us": 1e6 * spent / asked if process else None,
        "rps": rate,
    }


def cpu_seconds(process: psutil.Process | None) -> float:
    return sum(process.cpu_times()[:2]) if process else 0.0


async def compare(quick: bool) -> list[dict]:
    rounds, queries = (3, 800) if quick else (5, 4000)
    worker = start([__file__, "--serve-echo"], stdout=subprocess.PIPE, text=True)
    router = None
    try:
        direct = worker.stdout.readline().strip()
        server, controller, followed = await serve_controller(direct)
        ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--drain-delay", "0"]
        router = start(["-m", "tidewise.cli.main", "router", "--join", controller, *ports], stderr=subprocess.DEVNULL)
        through = await asyncio.wait_for(followed, 20)
        rows = []
        for payload, callers in ((1000, 1), (1000, 16), (600_000, 1)):
            count = queries if payload < 100_000 else queries // 8
            rows += await one_setting(payload, callers, count, rounds, direct, through, psutil.Process(router.pid))
        stop(router)
        await server.stop(None)
        return rows
    finally:
        for process in filter(None, (worker, router)):
            stop(process)


async def one_setting(
    payload: int, callers: int, queries: int, rounds: int, direct: str, through: str, router: psutil.Process
) -> list[dict]:
    body = query(payload)
    seen: dict[str, list[dict]] = {"direct": [], "python": []}
    for _ in range(rounds):
        seen["direct"].append(await measure(direct, None, callers, queries, body))
        seen["python"].append(await measure(through, router, callers, queries, body))
    middle = {name: {key: median(one[key] for one in runs) for key in runs[0]} for name, runs in seen.items()}
    return [
        {
            "payload": payload,
            "mode": f"closed-{callers}",
            "target": name,
            "added_p50_us": values["p50_us"] - middle["direct"]["p50_us"],
            "added_p99_us": values["p99_us"] - middle["direct"]["p99_us"],
            **values,
        }
        for name, values in middle.items()
    ]


def median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 1) if known else None


def start(words: list[str], **how: Any) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, *words], env=dict(os.environ), **how)


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--serve-echo", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_echo:
        asyncio.run(serve_echo())
        return
    rows = asyncio.run(compare(options.quick))
    if options.json:
        print(json.dumps({"rows": rows, "load_average": os.getloadavg()[0]}))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
