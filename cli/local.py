"""A whole cluster on this machine: which processes it takes, and starting and stopping them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import grpc

from tidewise.cli.children import Children, Command
from tidewise.cli.ports import claim, free_ports
from tidewise.cli.state_folder import STATE_FILE, holding
from tidewise.core.cluster import EMULATED, Cluster, DeviceType, Ports
from tidewise.core.clusterfile import format_cluster
from tidewise.core.errors import TidewiseError
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub

HOST = "127.0.0.1"
ROUTER = "router"
READY_SECONDS = 60.0
NOTHING_EXPECTED: Mapping[str, float] = {}
SETTLED_SECONDS = 2.0  # a plan that leaves devices empty is waited on: devices that came late may be planned in next


@dataclass(frozen=True, slots=True)
class LocalCluster:
    """What a running local cluster is made of. ``cluster`` holds the ports really used.

    ``metrics`` is HOST:PORT of every process's Prometheus metrics, by the process's name.
    """

    cluster: Cluster
    repository: Path
    state: Path
    profile: Path
    children: Children
    metrics: Mapping[str, str]

    @property
    def controller(self) -> str:
        """HOST:PORT of the controller."""
        return f"{HOST}:{self.cluster.ports.controller}"

    @property
    def router(self) -> str:
        """HOST:PORT at which clients call."""
        return f"{HOST}:{self.cluster.ports.grpc}"


def with_ports(cluster: Cluster) -> Cluster:
    """The cluster with every port claimed. Raises InputError if one is taken."""
    ports = cluster.ports
    return replace(
        cluster,
        ports=Ports(
            http=claim(ports.http, "HTTP"),
            grpc=claim(ports.grpc, "gRPC"),
            metrics=claim(ports.metrics, "metrics"),
            controller=claim(ports.controller, "controller"),
        ),
    )


def commands(
    cluster: Cluster,
    cluster_file: Path,
    repository: Path,
    state: Path,
    profile: Path,
    expected: Mapping[str, float] = NOTHING_EXPECTED,
    data_plane: str | None = None,
) -> list[Command]:
    """The processes of a local cluster, in the order in which they start.

    ``expected`` is the demand (queries per second by application) the controller plans for until it sees any.
    """
    ports = cluster.ports
    join = ("--join", f"{HOST}:{ports.controller}", "--cluster", str(cluster_file))
    where = ("--listen", f"{HOST}:{ports.controller}", "--cluster", str(cluster_file))
    own = ("--repository", str(repository), "--state", str(state / "controller"))
    expect = [word for name, rate in expected.items() for word in ("--expect", f"{name}={rate:g}")]
    controller = Command("controller", ("controller", *where, *own, *expect))
    listen = ("--listen", f"{HOST}:{ports.grpc}", "--http", f"{HOST}:{ports.http}")
    plane = ("--data-plane", data_plane) if data_plane else ()  # without it the router chooses
    router = Command(ROUTER, ("router", *join, *listen, *plane))
    common = (*join, "--repository", str(repository), "--state", str(state / "worker"), "--profile", str(profile))
    workers = [one for device_type in cluster.device_types.values() for one in _workers(device_type, common)]
    return [controller, router, *workers]


def _workers(device_type: DeviceType, common: tuple[str, ...]) -> Iterator[Command]:
    """One process a device, except that emulated devices share one."""
    of_type = ("worker", *common, "--device-type", device_type.name)
    if device_type.provider == EMULATED:
        if device_type.count:
            yield Command(f"worker-{device_type.name}", (*of_type, "--count", str(device_type.count)))
        return
    for index in range(device_type.count):
        name = f"{device_type.name}-{index}"
        yield Command(f"worker-{name}", (*of_type, "--name", name))


def metrics_addresses(processes: Sequence[Command], port: int) -> dict[str, str]:
    """Where each process serves its metrics: the router at the port given, the others wherever is free."""
    found = free_ports(len(processes))
    ports = {one.name: port if one.name == ROUTER else free for one, free in zip(processes, found, strict=True)}
    return {name: f"{HOST}:{each}" for name, each in ports.items()}


@contextmanager
def running(
    cluster: Cluster,
    repository: Path,
    state: Path,
    profile: Path,
    say: Callable[[str], None],
    expected: Mapping[str, float] = NOTHING_EXPECTED,
    data_plane: str | None = None,
) -> Iterator[LocalCluster]:
    """Start the cluster, and stop it however the block ends. Raises InputError if another runs in this state folder."""
    state.mkdir(parents=True, exist_ok=True)
    with holding(state, say):
        yield from _running(cluster, repository, state.resolve(), profile, say, expected, data_plane)


def _running(
    cluster: Cluster,
    repository: Path,
    state: Path,
    profile: Path,
    say: Callable[[str], None],
    expected: Mapping[str, float],
    data_plane: str | None,
) -> Iterator[LocalCluster]:
    claimed = with_ports(cluster)
    cluster_file = state / "cluster.toml"
    cluster_file.write_text(format_cluster(claimed), encoding="utf-8")
    children = Children(state / "logs", say)
    processes = commands(claimed, cluster_file, repository.resolve(), state, profile.resolve(), expected, data_plane)
    metrics = metrics_addresses(processes, claimed.ports.metrics)
    local = LocalCluster(claimed, repository.resolve(), state, profile, children, metrics)
    try:
        children.start([replace(one, words=(*one.words, "--metrics", metrics[one.name])) for one in processes])
        _write_state(local)
        yield local
    finally:
        children.stop()


def _write_state(local: LocalCluster) -> None:
    values = {
        "pid": os.getpid(),
        "children": dict(local.children.pids()),
        "controller": local.controller,
        "router": local.router,
        "metrics": dict(local.metrics),
    }
    (local.state / STATE_FILE).write_text(json.dumps(values, indent=1), encoding="utf-8")


def wait_until_ready(local: LocalCluster, limit: float = READY_SECONDS) -> pb.StatusReply:
    """Wait until every device follows the newest plan and a router knows it; the status then.

    Raises TidewiseError with the last words of the first child that died, or of the controller, if that takes too long.
    """
    deadline = time.monotonic() + limit
    expected = sum(one.count for one in local.cluster.device_types.values())
    ready_since: dict[int, float] = {}  # by plan version
    with grpc.insecure_channel(local.controller) as channel:
        stub = ControllerStub(channel)
        while (now := time.monotonic()) < deadline:
            local.children.tend()
            status = _status(stub)
            if status is not None and is_ready(status, expected):
                since = ready_since.setdefault(status.plan.version, now)
                if len(status.plan.assignments) >= expected or now - since > SETTLED_SECONDS:
                    return status
            time.sleep(0.1)
    raise TidewiseError(
        f"the cluster was not ready within {limit:g} s; last words of the controller:\n"
        + local.children.last_words("controller")
    )


def is_ready(status: pb.StatusReply, devices: int) -> bool:
    """Whether all devices are there, each follows the plan it is part of, and a router has the newest revision."""
    assigned = {one.worker for one in status.plan.assignments}
    connected = sum(one.connected for one in status.workers)
    following = all(
        one.device.applied_version >= status.plan.version for one in status.workers if one.device.name in assigned
    )
    routed = any(one.applied_revision >= status.revision for one in status.routers)
    return bool(assigned) and connected >= devices and following and routed


def _status(stub: ControllerStub) -> pb.StatusReply | None:
    try:
        reply: pb.StatusReply = stub.Status(pb.StatusRequest(), timeout=2)
        return reply
    except grpc.RpcError:
        return None
