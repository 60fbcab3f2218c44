"""`tidewise replay`: send a trace to a running cluster, open loop, and keep how every query ended."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from tidewise import __version__
from tidewise.cli.options import json_option, parse_address, repository_option
from tidewise.cli.replaying import ReplayProgress, scorecard_lines
from tidewise.cli.run_folder import force_option, out_option, run_folder
from tidewise.core.record import QueryRecord
from tidewise.core.run import Run, RunApplication
from tidewise.core.trace import Trace
from tidewise.dashboard.card import card_of, card_values
from tidewise.traces.files import read_trace
from tidewise.traces.lateness import TOLERATED, Lateness, LatenessMeter
from tidewise.traces.replay import OnRecord, send
from tidewise.traces.runs import RunWriter, read_run
from tidewise.traces.samples import Samples, load_samples


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options say."""

    trace_file: Path
    target: str
    out: Path
    speed: float
    channels: int


@click.command(name="replay", short_help="Offer a trace to a cluster, keep the outcomes.")
@click.argument("trace_file", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "--target", default="127.0.0.1:8001", show_default=True, metavar="HOST:PORT", help="A router's gRPC port."
)
@repository_option
@out_option
@force_option
@click.option("--speed", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True, help="Times as fast.")
@click.option("--channels", type=click.IntRange(1, 64), default=4, show_default=True, help="Connections to the target.")
@click.option("--seed", type=int, default=0, show_default=True, help="Shuffles the test samples.")
@json_option
def command(
    trace_file: Path,
    target: str,
    repository: Path,
    out: Path | None,
    force: bool,
    speed: float,
    channels: int,
    seed: int,
    as_json: bool,
) -> None:
    """Replay TRACE: send each query when it is due, whatever became of those before it.

    The queries carry the repository's test samples; answers are compared with their labels. Every outcome is kept in
    the run's folder (queries.parquet, run.json). Ctrl-C keeps what has ended and counts what was in flight as dropped.
    """
    host, port = parse_address(target, "--target")
    started = datetime.now(UTC)
    folder = run_folder(out, started, force)
    settings = Settings(trace_file, f"{host}:{port}", folder, speed, channels)
    trace = read_trace(trace_file)
    samples = load_samples(repository, np.random.default_rng(seed))
    with RunWriter(folder) as writer:
        ended, lateness = _replay(settings, trace, samples, writer)
        writer.describe(_run(settings, trace, samples, started, ended))
    _report(folder, lateness, interrupted=ended < len(trace), as_json=as_json)


def _replay(
    settings: Settings, trace: Trace, samples: Mapping[str, Samples], writer: RunWriter
) -> tuple[int, Lateness]:
    meter = LatenessMeter()
    with ReplayProgress(len(trace), Console(stderr=True)) as progress:

        def on_record(record: QueryRecord) -> None:
            writer.add(record)
            meter.add(record)
            progress.add(record)

        gc.freeze()  # what is loaded by now stays; collections that walk it would only delay queries
        asyncio.run(_until_interrupted(settings, trace, samples, on_record))
        return progress.ended, meter.reading()


async def _until_interrupted(
    settings: Settings, trace: Trace, samples: Mapping[str, Samples], on_record: OnRecord
) -> None:
    """Replay; the first SIGINT or SIGTERM ends it in good order."""
    sending = asyncio.ensure_future(
        send(trace, settings.target, samples, on_record, speed=settings.speed, channels=settings.channels)
    )
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, sending.cancel)
    await asyncio.wait([sending])
    if not sending.cancelled():
        sending.result()


def _run(settings: Settings, trace: Trace, samples: Mapping[str, Samples], started: datetime, ended: int) -> Run:
    """What is said of the run; an interrupted one covers the part of the trace that was sent."""
    notes = list(trace.notes)
    seconds = trace.duration
    if ended < len(trace):
        seconds = float(trace.arrival[ended - 1]) if ended else 0.0
        notes.append(f"interrupted: {len(trace) - ended:,} of {len(trace):,} arrivals were not sent")
    if settings.speed != 1:
        notes.append(f"replayed {settings.speed:g} times as fast as the trace says")
    return Run(
        name=settings.out.name,
        seconds=seconds / settings.speed,
        arrivals=ended,
        applications={name: run_application(samples[name]) for name in trace.names},
        trace=settings.trace_file.name,
        target=settings.target,
        cores=os.cpu_count() or 0,
        started=started.isoformat(timespec="seconds"),
        version=__version__,
        notes=tuple(notes),
    )


def run_application(samples: Samples) -> RunApplication:
    """What a run keeps of an application: its SLO and the measured accuracies, best first."""
    one = samples.application
    measured = {variant.name: variant.accuracy for variant in one.variants if variant.accuracy is not None}
    best_first = sorted(measured.items(), key=lambda pair: -pair[1])
    return RunApplication(one.name, one.slo, dict(best_first))


def _report(folder: Path, lateness: Lateness, *, interrupted: bool, as_json: bool) -> None:
    run = read_run(folder)
    card = card_of(run)
    if as_json:
        figures = {f"{name}_ms": value * 1e3 for name, value in asdict(lateness).items()}
        click.echo(json.dumps({**card_values(run, card), "send_lateness": figures, "kept_in": str(folder)}, indent=1))
    else:
        click.echo("\n".join([*scorecard_lines(card), f"sent late by {lateness}", f"kept in {folder}"]))
    for note in run.notes:
        click.echo(f"note: {note}", err=True)
    if not lateness.tolerable:
        click.echo(
            f"warning: the sender was {lateness.p99 * 1e3:.1f} ms late at p99, more than {TOLERATED * 1e3:.0f} ms: the"
            " load was not offered as the trace asks; use a quieter machine or a lower rate",
            err=True,
        )
    if interrupted:
        sys.exit(130)
