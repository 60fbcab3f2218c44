"""What bench/router.py compares: an echo worker asked directly, and through each kind of router, all of it here."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import psutil

from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import Route, RoutingSnapshot
from tidewise.native.data_plane import find_data_plane
from tidewise.proto import control_pb2 as control
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.convert import snapshot_message

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
HAPROXY = """
global
  nbthread 1
  tune.h2.max-concurrent-streams 1024
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
frontend in
  bind {listen} proto h2
  default_backend out
backend out
  server worker {worker} proto h2
"""
NGINX = """
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_max_body_size 0;
  client_body_buffer_size 1m;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream worker {{ server {worker}; keepalive 64; keepalive_requests 100000000; }}
  server {{ listen {listen} http2; location / {{ grpc_pass grpc://worker; grpc_buffer_size 64k; }} }}
}}
"""


@dataclass
class Target:
    """Something that can be asked; ``pid`` and its children are what its CPU time is read from."""

    name: str
    address: str
    pid: int | None = None

    def cpu_seconds(self) -> float:
        if self.pid is None:
            return 0.0
        first = psutil.Process(self.pid)
        return sum(_thread_seconds(one.pid) for one in (first, *first.children(recursive=True)))


def _thread_seconds(pid: int) -> float:
    """CPU time of a process by the scheduler's own clock, which is finer than the ticks of /proc/PID/stat."""
    paths = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in paths) / 1e9


def answer() -> bytes:
    message = pb.ModelInferResponse(model_name="echo", model_version="1")
    for key in ("queue_us", "compute_us", "batch_size", "plan_version"):
        message.parameters[key].int64_param = 1
    return message.SerializeToString()


def query(payload: int) -> bytes:
    message = pb.ModelInferRequest(model_name="echo", id="1")
    message.inputs.add(name="x", datatype="UINT8", shape=[1, payload])
    message.raw_input_contents.append(b"\0" * payload)
    return message.SerializeToString()


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Targets:
    """Starts them one after the other; ``stop`` ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[Any]] = []
        self._servers: list[grpc.aio.Server] = []

    async def start(self, echo: Path) -> list[Target]:
        (self._folder / "answer").write_bytes(answer())
        worker = self._run([str(echo), str(self._folder / "answer")], stdout=subprocess.PIPE, text=True)
        direct = Target("direct", worker.stdout.readline().strip())
        found = [direct, await self._router("python", direct.address)]
        if find_data_plane() is not None:
            found.append(await self._router("native", direct.address))
        if haproxy := shutil.which("haproxy"):
            found.append(await self._other("haproxy", [haproxy, "-db", "-f"], HAPROXY, direct.address))
        if nginx := shutil.which("nginx"):
            found.append(await self._other("nginx", [nginx, "-g", "daemon off;", "-c"], NGINX, direct.address))
        return found

    async def stop(self) -> None:
        for process in self._processes:
            process.terminate()
            process.wait()
        for server in self._servers:
            await server.stop(None)

    async def _router(self, plane: str, worker: str) -> Target:
        controller, followed = await self._controller(worker)
        ports = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--drain-delay", "0", "--data-plane", plane)
        words = [sys.executable, "-m", "tidewise.cli.main", "router", "--join", controller, *ports]
        process = self._run(words, stderr=subprocess.DEVNULL)
        return Target(plane, await asyncio.wait_for(followed, 60), process.pid)

    async def _controller(self, worker: str) -> tuple[str, asyncio.Future[str]]:
        """A controller that knows one plan; its address, and that of the router once it follows the plan."""
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
        methods = grpc.method_handlers_generic_handler("tidewise.control.v1.Controller", {"AttachRouter": handler})
        server.add_generic_rpc_handlers([methods])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self._servers.append(server)
        return f"127.0.0.1:{port}", followed

    async def _other(self, name: str, words: list[str], text: str, worker: str) -> Target:
        listen = free_address()
        path = self._folder / f"{name}.conf"
        path.write_text(text.format(listen=listen, worker=worker, folder=self._folder))
        process = self._run([*words, str(path)], stderr=subprocess.DEVNULL)
        async with asyncio.timeout(20):
            while not _listens(listen):
                await asyncio.sleep(0.1)
        return Target(name, listen, process.pid)

    def _run(self, words: list[str], **how: Any) -> subprocess.Popen[Any]:
        process = subprocess.Popen(words, env=dict(os.environ), **how)
        self._processes.append(process)
        return process


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
