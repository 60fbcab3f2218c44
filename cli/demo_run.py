"""One run of the demonstration: a cluster is started, a trace replayed against it, everything kept in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from tidewise import __version__
from tidewise.cli.frames import replay_frame, status_frame
from tidewise.cli.live import LiveView
from tidewise.cli.local import LocalCluster, running, wait_until_ready
from tidewise.cli.observing import Event, Observer
from tidewise.cli.replay import run_application
from tidewise.controller.policies import allocation_policy
from tidewise.core.cluster import Cluster, Ports
from tidewise.core.record import QueryRecord
from tidewise.core.run import PlanChange, Run
from tidewise.core.trace import Trace
from tidewise.dashboard.tally import LiveTally
from tidewise.dashboard.verdict import POLICY_NAMES
from tidewise.proto import control_pb2 as pb
from tidewise.traces.replay import send
from tidewise.traces.runs import RunWriter, holds_run
from tidewise.traces.samples import Samples

FRAME_SECONDS = 0.5
ANY_FREE = Ports(http=0, grpc=0, metrics=0, controller=0)


@dataclass(frozen=True, slots=True)
class Show:
    """What a demonstration plays: a trace, on a cluster, with an allocation policy, kept in a folder."""

    cluster: Cluster
    repository: Path
    state: Path
    profile: Path
    trace: Trace
    samples: Mapping[str, Samples]
    folder: Path
    notes: tuple[str, ...] = ()

    def expected(self) -> dict[str, float]:
        """What a static policy is placed for: the trace's mean demand, queries per second by application."""
        if not allocation_policy(self.policy).static:
            return {}
        trace = self.trace
        return {name: len(trace.arrivals_of(name)) / max(1.0, trace.duration) for name in trace.names}

    @property
    def policy(self) -> str:
        """The allocation policy's name."""
        return self.cluster.policies.allocation


def play(show: Show) -> bool:
    """Play it; whether all of the trace was sent. Ctrl-C stops the replay, keeps what was answered, and leaves no
    process behind.
    """
    console = Console(stderr=True)
    if holds_run(show.folder):
        say(f"the run that {show.folder} holds is replaced")
    say(f"{POLICY_NAMES.get(show.policy, show.policy)} (policy {show.policy}): a cluster is started")
    cluster = replace(show.cluster, ports=ANY_FREE)
    # a plan of the last demonstration is none of this one's
    shutil.rmtree(show.state / "controller", ignore_errors=True)
    with (
        RunWriter(show.folder) as writer,
        running(cluster, show.repository, show.state, show.profile, console.log, show.expected()) as local,
    ):
        status = wait_until_ready(local)
        player = _Player(show, local, writer, status)
        gc.freeze()  # what is loaded by now stays; collections that walk it would only delay queries
        asyncio.run(player.run(console))
        writer.describe(player.description())
    return player.complete


class _Player:
    """Sender, observer and live view of one run, side by side in one event loop."""

    def __init__(self, show: Show, local: LocalCluster, writer: RunWriter, status: pb.StatusReply) -> None:
        self.show = show
        self.local = local
        self.writer = writer
        self.started = datetime.now(UTC)
        self.tally = LiveTally({name: run_application(show.samples[name]) for name in show.trace.names})
        self.observer = Observer(local.controller, self._note, status)
        self.planned_at = time.monotonic()

    async def run(self, console: Console) -> None:
        """Send the trace; the first SIGINT or SIGTERM ends it in good order."""
        sending = asyncio.ensure_future(
            send(self.show.trace, self.local.router, self.show.samples, self._record, on_start=self._start)
        )
        loop = asyncio.get_running_loop()
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, sending.cancel)
        others = [asyncio.ensure_future(self.observer.run()), asyncio.ensure_future(self._draw(console))]
        try:
            await asyncio.wait([sending])
        finally:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    @property
    def complete(self) -> bool:
        """Whether every query of the trace was sent and ended."""
        return self.tally.outcomes.total() >= len(self.show.trace)

    def description(self) -> Run:
        """What is said of the run; an interrupted one covers the part of the trace that was sent."""
        trace, ended = self.show.trace, self.tally.outcomes.total()
        complete = self.complete
        left = () if complete else (f"interrupted: {len(trace) - ended:,} of {len(trace):,} arrivals were not sent",)
        return Run(
            name=self.show.folder.name,
            seconds=trace.duration if complete else float(trace.arrival[max(0, ended - 1)]),
            arrivals=ended if not complete else len(trace),
            applications={name: run_application(self.show.samples[name]) for name in trace.names},
            policy=self.show.policy,
            trace="two swells and a spike, in the manner of a day of Twitter",
            target=self.local.router,
            device_types={name: one.count for name, one in self.show.cluster.device_types.items()},
            cores=os.cpu_count() or 0,
            started=self.started.isoformat(timespec="seconds"),
            version=__version__,
            notes=(*self.show.notes, *left),
        )

    def _start(self, origin: float) -> None:
        self.observer.origin = origin

    def _record(self, record: QueryRecord) -> None:
        self.writer.add(record)
        self.tally.add(record)

    def _note(self, event: Event) -> None:
        self.writer.note(event)
        if isinstance(event, PlanChange):
            self.planned_at = time.monotonic()

    async def _draw(self, console: Console) -> None:
        with LiveView(console) as view, contextlib.suppress(asyncio.CancelledError):
            while True:
                self.local.children.tend()
                now = time.monotonic()
                known = status_frame(f"tidewise demo, policy {self.show.policy}", self.observer.status)
                frame = replay_frame(known, self.tally, now - self.observer.origin, self.show.trace.duration)
                view.show(replace(frame, plan_age=now - self.planned_at))
                await asyncio.sleep(FRAME_SECONDS)


def say(text: str) -> None:
    """One line for the person watching, on standard error, so that --json stays clean."""
    click.echo(text, err=True)
