"""A pretend controller, and real worker processes that attach to it."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import numpy as np

import tidewise
from tidewise.core.application import Application
from tidewise.core.files import model_path, read_source
from tidewise.core.plan import Assignment
from tidewise.core.profile import BatchLatency, Profile, VariantProfile, format_profile
from tidewise.core.report import MeasureRequest, WorkerOrder
from tidewise.proto import control_pb2 as pb
from tidewise.proto import inference_pb2 as infer_pb
from tidewise.proto.control_pb2_grpc import ControllerServicer, add_ControllerServicer_to_server
from tidewise.proto.convert_reports import order_message
from tidewise.proto.inference_pb2_grpc import GRPCInferenceServiceStub

MODELS = Path(tidewise.__file__).resolve().parent.parent / "models"
DIGITS = MODELS / "digits"


def digits() -> Application:
    return read_source(DIGITS).parse()


LADDER = sorted(digits().variants, key=lambda one: -(one.accuracy or 0.0))
BEST, CHEAP = LADDER[0], LADDER[-1]


def patient(folder: Path, application: Path = DIGITS, slo_ms: float = 20_000.0) -> Path:
    """A copy of an application, below ``folder``, with an SLO that a busy machine keeps if no other is given."""
    target = folder / application.name
    shutil.copytree(application, target, dirs_exist_ok=True)
    file = target / "application.toml"
    file.write_text(re.sub(r"(?m)^slo_ms.*$", f"slo_ms = {slo_ms}", file.read_text()))
    return target


def profile_of(
    application: Application, device_type: str, seconds: float = 0.002, sizes: tuple[int, ...] = (1, 2, 4, 8)
) -> Profile:
    """Every variant takes ``seconds`` and a tenth more for each row."""
    batches = tuple(BatchLatency(n, seconds * (1 + n / 10), seconds * (1 + n / 10)) for n in sizes)
    entries = [VariantProfile(application.name, one.name, device_type, batches) for one in application.variants]
    return Profile().with_entries(entries)


class PretendController(ControllerServicer):
    """Remembers reports, sends the orders it is given, hands out files of one application folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[pb.WorkerReport] = []
        self.fetched: list[str] = []
        self.orders: queue.Queue[pb.WorkerOrder | None] = queue.Queue()
        self.last: pb.WorkerOrder | None = None

    def AttachWorkers(
        self, request_iterator: Iterator[pb.WorkerReport], context: grpc.ServicerContext
    ) -> Iterator[pb.WorkerOrder]:
        self.reports.append(next(request_iterator))
        ThreadPoolExecutor(1).submit(lambda: self.reports.extend(request_iterator))
        if self.last is not None:
            yield self.last
        while (order := self.orders.get()) is not None:
            self.last = order
            yield order

    def Fetch(self, request: pb.FetchRequest, context: grpc.ServicerContext) -> Iterator[pb.FileChunk]:
        self.fetched.append(request.path)
        yield pb.FileChunk(data=model_path(self.folder, request.path).read_bytes())

    def order(
        self,
        version: int,
        *warm: str,
        workers: tuple[str, ...] = ("w0",),
        ceiling: str = "",
        measures: tuple[MeasureRequest, ...] = (),
        profile: Profile | None = None,
    ) -> None:
        """Have these workers host these variants; none: nothing."""
        source = read_source(self.folder)
        name = source.parse().name
        assignments = [Assignment(one, name, warm, ceiling or warm[0], 1.0, 1.0) for one in workers if warm]
        order = WorkerOrder(version, (source,), tuple(assignments), measures, profile or Profile())
        self.orders.put(order_message(order))

    @property
    def device(self) -> pb.DeviceReport:
        """The newest report's first device."""
        return self.reports[-1].devices[0]


@contextmanager
def controller(folder: Path = DIGITS, port: int = 0) -> Iterator[tuple[PretendController, int]]:
    """A pretend controller on a free port of this machine."""
    server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
    pretend = PretendController(folder)
    add_ControllerServicer_to_server(pretend, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield pretend, bound
    finally:
        pretend.orders.put(None)
        server.stop(grace=0.2).wait()


CLUSTER = """
[device_types.real]
provider = "cpu"
[device_types.slow]
provider = "slowdown"
slowdown = 2.0
[device_types.pretend]
provider = "emulated"
profile = "profile.json"
"""


@contextmanager
def worker(
    port: int, folder: Path, profile: Profile, *words: str, device_type: str = "real", cluster: str = CLUSTER
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process that joins the controller at ``port``; it is ended with SIGTERM if it still runs."""
    (folder / "cluster.toml").write_text(cluster)
    (folder / "profile.json").write_text(format_profile(profile))
    named = words if {"--name", "--count"} & set(words) else (*words, "--name", "w0")
    command = ["worker", "--join", f"127.0.0.1:{port}", "--cluster", str(folder / "cluster.toml")]
    command += ["--state", str(folder / "state"), "--profile", str(folder / "profile.json")]
    command += ["--device-type", device_type, *named]
    process = subprocess.Popen([sys.executable, "-m", "tidewise.cli.main", *command], env=environment())
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def wait_for(condition: Callable[[], Any], seconds: float = 60.0, what: str = "") -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not _holds(condition):
        assert time.monotonic() < end, f"not within {seconds} s: {what or condition}"
        time.sleep(0.02)


def _holds(condition: Callable[[], Any]) -> bool:
    try:
        return bool(condition())
    except (IndexError, grpc.RpcError):
        return False


def applied(pretend: PretendController, version: int) -> None:
    """Wait until every device has this plan in force."""
    wait_for(lambda: all(one.applied_version == version for one in pretend.reports[-1].devices), what=f"plan {version}")


@contextmanager
def client(pretend: PretendController, limit: int = 64 * 1024 * 1024) -> Iterator[GRPCInferenceServiceStub]:
    """A stub for the newest process that attached."""
    options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", limit)]
    with grpc.insecure_channel(pretend.reports[-1].address, options=options) as channel:
        yield GRPCInferenceServiceStub(channel)


def request(images: np.ndarray, **changes: Any) -> infer_pb.ModelInferRequest:
    """Digits to classify, raw."""
    (spec,) = digits().inputs
    tensor = infer_pb.ModelInferRequest.InferInputTensor(
        name=spec.name, datatype=spec.datatype, shape=list(images.shape)
    )
    values = {"model_name": "digits", "inputs": [tensor], "raw_input_contents": [images.tobytes()], **changes}
    return infer_pb.ModelInferRequest(**values)


def images(count: int) -> np.ndarray:
    (spec,) = digits().inputs
    with np.load(DIGITS / "test.npz") as file:
        return np.ascontiguousarray(file[spec.name][:count])
