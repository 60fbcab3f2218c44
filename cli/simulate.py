"""`tidewise simulate`: what a cluster would have done with a trace under a policy, in pretend time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from tidewise import __version__
from tidewise.cli.options import json_option, read_cluster, repository_option, state_option
from tidewise.cli.run_folder import force_option, out_option, run_folder
from tidewise.controller.policies.presets import PRESETS, preset, under
from tidewise.core.application import Application
from tidewise.core.cluster import Cluster
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository
from tidewise.core.profile import Profile
from tidewise.core.run import Run, RunApplication
from tidewise.core.trace import Trace
from tidewise.dashboard.verdict import SIMULATED
from tidewise.simulator.simulation import Result, simulate
from tidewise.simulator.world import Charges, World
from tidewise.traces.files import read_trace
from tidewise.traces.runs import RunWriter, read_run, trace_of
from tidewise.worker.profiling.store import read_profile
from tidewise.worker.settings import REPLY

FIRST = 5.0  # seconds of the trace from which the first plan's demand is taken


@click.command(name="simulate", short_help="Play a trace against a cluster in pretend time.")
@click.argument("cluster_file", metavar="CLUSTER", type=click.Path(path_type=Path))
@click.argument("trace_file", metavar="TRACE", type=click.Path(path_type=Path))
@click.option("--policy", metavar="NAME", help=f"Instead of the cluster file's; one of {', '.join(PRESETS)}.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same run, to the query.")
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), metavar="FILE", help="Measured latencies.")
@click.option("--solve-s", type=click.FloatRange(0), default=0.5, show_default=True, help="Charged for every plan.")
@click.option("--noise", type=click.FloatRange(0, 1), default=0.03, show_default=True, help="Of a batch's time.")
@click.option("--stealing", type=click.FloatRange(0, 0.95), default=0.0, show_default=True, help="Speed loads take.")
@out_option
@force_option
@repository_option
@state_option
@json_option
def command(
    cluster_file: Path,
    trace_file: Path,
    policy: str | None,
    seed: int,
    profile_file: Path | None,
    solve_s: float,
    noise: float,
    stealing: float,
    out: Path | None,
    force: bool,
    repository: Path,
    state: Path,
    as_json: bool,
) -> None:
    """Play TRACE against the cluster of the file CLUSTER in pretend time and report as a replay does.

    TRACE is a trace file, or the folder of a run, whose trace is played again.

    Planner, router and devices decide by the same code as the real processes; only clock, network and engines are
    replaced. Latencies and load times are the profile's (--profile, the emulated device types' own, or measured here).
    """
    started = datetime.now(UTC)
    folder = run_folder(out, started, force)
    cluster = read_cluster(cluster_file)
    cluster = cluster if policy is None else under(cluster, preset(policy))
    trace = trace_of(read_run(trace_file)) if trace_file.is_dir() else read_trace(trace_file)
    applications = _applications(repository, trace)
    profile = _profile(cluster, repository, state, profile_file)
    charges = Charges(solve=solve_s, noise=noise, stealing=stealing, reply=REPLY)
    world = World(cluster, applications, profile, trace, _first_rates(trace), charges)
    result = _play(world, seed)
    with RunWriter(folder) as writer:
        for record in result.records:
            writer.add(record)
        for change in result.plans:
            writer.note(change)
        for sample in result.samples:
            writer.note(sample)
        writer.describe(_run(world, folder, trace_file, policy, result, started))
    _report(folder, result, as_json)


def _applications(repository: Path, trace: Trace) -> dict[str, Application]:
    known = {name: one for name, (_, _, one) in read_repository(repository).items()}
    missing = [name for name in trace.names if name not in known]
    if missing:
        raise InputError(f"the trace asks for application {missing[0]!r}; {repository} has {', '.join(sorted(known))}")
    return {name: known[name] for name in trace.names}


def _profile(cluster: Cluster, repository: Path, state: Path, file: Path | None) -> Profile:
    """The profile named, else what local clusters start with: emulated types bring their own, others are measured."""
    if file is not None:
        return read_profile(file)
    from tidewise.cli.profiles import local_profile  # measuring loads engines

    return local_profile(cluster, repository, state)[1]


def _first_rates(trace: Trace) -> dict[str, float]:
    early = trace.application[trace.arrival < FIRST]
    return {name: float((early == place).sum()) / FIRST for place, name in enumerate(trace.names)}


def _play(world: World, seed: int) -> Result:
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("simulate", total=len(world.trace))
        return simulate(world, seed, lambda done, _: bar.update(task, completed=done))


def _run(world: World, folder: Path, trace: Path, policy: str | None, result: Result, started: datetime) -> Run:
    return Run(
        name=folder.name,
        seconds=world.trace.duration,
        arrivals=len(world.trace),
        applications={name: _run_application(one) for name, one in world.applications.items()},
        trace=trace.name,
        policy=policy or world.cluster.policies.allocation,
        target=SIMULATED,
        device_types={name: one.count for name, one in world.cluster.device_types.items()},
        started=started.isoformat(timespec="seconds"),
        version=__version__,
        notes=(
            f"simulated at {result.queries_per_cpu_second:,.0f} queries per CPU-second, solver apart",
            *world.trace.notes,
        ),
    )


def _run_application(one: Application) -> RunApplication:
    measured = {variant.name: variant.accuracy for variant in one.variants if variant.accuracy is not None}
    return RunApplication(one.name, one.slo, dict(sorted(measured.items(), key=lambda pair: -pair[1])))


def _report(folder: Path, result: Result, as_json: bool) -> None:
    from tidewise.cli.replaying import scorecard_lines
    from tidewise.dashboard.card import card_of, card_values

    run = read_run(folder)
    card = card_of(run)
    if as_json:
        speed = {
            "queries_per_cpu_second": result.queries_per_cpu_second,
            "queries_per_cpu_second_with_solver": len(result.records) / max(result.cpu, 1e-9),
        }
        click.echo(json.dumps({**card_values(run, card), "simulator": speed, "kept_in": str(folder)}, indent=1))
        return
    click.echo(
        "\n".join(
            [
                f"policy {run.policy}",
                *scorecard_lines(card),
                *run.notes,
                f"kept in {folder}; draw it with: tidewise report {folder}",
            ]
        )
    )
