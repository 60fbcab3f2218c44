"""How fast one core can replay: rates offered and reached, and send lateness, against an echo server on another core.

    python bench/replay.py [--rates 500,1000,2000] [--seconds 10] [--json]

The target to hold: 1,000 queries/s with p99 lateness under 10 ms. The echo server answers at once with a fixed answer,
so that what is measured is the sender. Each process is pinned to one core where there are two or more. `starved_ms` is
how long other programs kept the sender from its core: on a busy machine lateness says more about them than about it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

import grpc
import grpc.aio
import numpy as np

from tidewise.cli.options import STARTER_MODELS
from tidewise.core.record import QueryRecord
from tidewise.proto import inference_pb2 as pb
from tidewise.traces import arrivals, rates
from tidewise.traces.lateness import LatenessMeter
from tidewise.traces.mix import shares
from tidewise.traces.replay import send
from tidewise.traces.samples import load_samples

DEADLINE = 0.2


def echo(ready: Connection, core: int | None) -> None:
    """Serve ModelInfer on a free port, which is sent through ``ready``; every answer is the same."""
    _pin(core)
    asyncio.run(_echo(ready))


async def _echo(ready: Connection) -> None:
    answer = _answer()

    async def infer(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        return answer

    server = grpc.aio.server()
    handler = {"ModelInfer": grpc.unary_unary_rpc_method_handler(infer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("inference.GRPCInferenceService", handler),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ready.send(port)
    await server.wait_for_termination()


def _answer() -> bytes:
    response = pb.ModelInferResponse(model_name="echo", model_version="1")
    response.outputs.add(name="logits", datatype="FP32", shape=(1, 10))
    response.raw_output_contents.append(np.zeros(10, dtype=np.float32).tobytes())
    for name, value in (("variant", "s"), ("worker", "echo-0")):
        response.parameters[name].string_param = value
    for name in ("plan_version", "queue_us", "compute_us", "batch_size"):
        response.parameters[name].int64_param = 1
    return response.SerializeToString()


def _starved() -> float:
    """Seconds this thread was ready to run but another had its core; 0 where the kernel does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def _pin(core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})


async def measure(rate: float, seconds: int, target: str) -> dict[str, float]:
    """Replay a Poisson trace of this rate and report the sender's figures."""
    rng = np.random.default_rng(1)
    samples = load_samples(STARTER_MODELS, rng)
    curves = rates.split(rates.constant(seconds, rate), shares(dict.fromkeys(samples, 1.0)))
    trace = arrivals.generate(curves, dict.fromkeys(samples, DEADLINE), arrivals.POISSON, rng)
    meter = LatenessMeter()
    latencies: list[float] = []

    def on_record(record: QueryRecord) -> None:
        meter.add(record)
        latencies.append(record.ended - record.sent)

    cpu, starved, began = time.process_time(), _starved(), time.monotonic()
    await send(trace, target, samples, on_record)
    late = meter.reading()
    return {
        "offered_qps": rate,
        "sent_qps": len(trace) / (time.monotonic() - began),
        "lateness_p50_ms": late.p50 * 1e3,
        "lateness_p99_ms": late.p99 * 1e3,
        "lateness_worst_ms": late.worst * 1e3,
        "answer_p50_ms": float(np.median(latencies)) * 1e3,
        "cpu_us_per_query": (time.process_time() - cpu) / len(trace) * 1e6,
        "starved_ms": (_starved() - starved) * 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", default="500,1000,1500,2000")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of lines")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    ready, theirs = multiprocessing.Pipe()
    spawn = multiprocessing.get_context("spawn")
    server = spawn.Process(target=echo, args=(theirs, cores[1] if len(cores) > 1 else None), daemon=True)
    server.start()
    _pin(cores[0])
    target = f"127.0.0.1:{ready.recv()}"
    found = []
    for rate in map(float, options.rates.split(",")):
        found.append(asyncio.run(measure(rate, options.seconds, target)))
        if not options.json:
            print("  ".join(f"{name} {value:.2f}" for name, value in found[-1].items()), flush=True)
    if options.json:
        print(json.dumps(found, indent=1))
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
