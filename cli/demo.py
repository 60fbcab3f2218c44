"""`tidewise demo`: a cluster here, real images, demand that rises past what the most accurate variants carry."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from tidewise.cli.demo_case import demo_case, demo_trace
from tidewise.cli.demo_run import Show, play, say
from tidewise.cli.demo_scale import Scale, scale
from tidewise.cli.demo_setting import Setting, setting
from tidewise.cli.options import cluster_option, state_option
from tidewise.cli.policies import under
from tidewise.cli.profiles import local_profile
from tidewise.cli.state_folder import refuse_held
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository
from tidewise.core.suffix import JSON, require_suffix
from tidewise.dashboard.numbers import percent
from tidewise.traces.runs import read_run
from tidewise.traces.samples import load_samples

RIVALS = ("tidewise", "clipper-ha", "clipper-ht")


@click.command(name="demo", short_help="Replay rising demand on a cluster here.")
@click.option("--seconds", type=click.IntRange(5, 3600), default=90, show_default=True, help="Length of the trace.")
@click.option("--policy", "policies", metavar="NAME", multiple=True, help="Allocation policy; repeat to compare.")
@click.option("--compare", is_flag=True, help=f"The same trace under each of {', '.join(RIVALS)}.")
@click.option("--peak-qps", type=click.FloatRange(min=1), help="Peak demand, instead of one scaled to the cluster.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same trace.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), default=Path("runs/demo"), show_default=True)
@click.option("--json", "json_file", metavar="FILE", type=click.Path(path_type=Path), help="Write the scorecard here.")
@click.option(
    "--repository",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Model repository: a folder of applications; some rungs of the starter ladders without it.",
)
@click.option("--whole-ladders", is_flag=True, help="All rungs of the starter ladders, on the default cluster.")
@cluster_option
@state_option
def command(
    seconds: int,
    policies: tuple[str, ...],
    compare: bool,
    peak_qps: float | None,
    seed: int,
    out: Path,
    json_file: Path | None,
    cluster_file: Path | None,
    repository: Path | None,
    whole_ladders: bool,
    state: Path,
) -> None:
    """Replay a Twitter-like trace against a cluster on this machine and show what happened to every query.

    The peak is about twice what the most accurate variants can carry and within what the cheapest can. Runs are kept
    below --out: scorecard, plan history, report.html, report.png.
    """
    if json_file is not None:
        require_suffix(json_file, JSON, "--json")
    refuse_held(state / "demo")
    where = setting(cluster_file, repository, whole_ladders)
    names = policies or (RIVALS if compare else (where.cluster.policies.allocation,))
    shows = _shows(where, names, state / "demo", seconds, peak_qps, seed, out)
    played = []
    complete = True
    for show in shows:
        complete = play(show)
        played.append(show.folder)
        if not complete:
            break
    _tell(played, json_file, told=shows[0].notes)
    if not complete:
        sys.exit(130)


def _shows(
    where: Setting,
    policies: Sequence[str],
    state: Path,
    seconds: int,
    peak: float | None,
    seed: int,
    out: Path,
) -> list[Show]:
    """One run for each policy, all of the same trace."""
    clusters = [under(where.cluster, policy) for policy in policies]
    repository = where.served(state)
    profile_file, profile = local_profile(where.cluster, repository, state)
    applications = {name: one for name, (_, _, one) in read_repository(repository).items()}
    mix = dict.fromkeys(applications, 1 / len(applications))
    found = scale(demo_case(applications, where.cluster, profile), mix)
    asked = peak or found.peak
    if asked <= 0:
        raise InputError("no device of the cluster can answer these applications in time; try: tidewise check")
    notes = (_scale_line(found, asked), *where.notes)
    for note in notes:
        say(note)
    trace = demo_trace(applications, mix, seconds, asked, np.random.default_rng(seed))
    samples = load_samples(repository, np.random.default_rng(seed))
    return [
        Show(
            cluster=one,
            repository=repository,
            state=state,
            profile=profile_file,
            trace=trace,
            samples=samples,
            folder=out if len(policies) == 1 else out / one.policies.allocation,
            notes=notes,
        )
        for one in clusters
    ]


def _scale_line(found: Scale, peak: float) -> str:
    return (
        f"peak {peak:.0f} queries/s: {peak / found.top:.2f} times what the most accurate variants carry"
        f" ({found.top:.0f}), {percent(peak / found.cheapest)} of what the cheapest can ({found.cheapest:.0f})"
    )


def _tell(folders: Sequence[Path], json_file: Path | None, told: Sequence[str]) -> None:
    """Reports, the words for a person but those told already, and the file for a script."""
    from tidewise.cli.replaying import scorecard_lines
    from tidewise.cli.report import write_report  # plotting is slow to import
    from tidewise.dashboard.card import card_of, card_values
    from tidewise.dashboard.verdict import title

    runs = [read_run(folder) for folder in folders]
    cards = [card_of(run) for run in runs]
    for folder, run, card in zip(folders, runs, cards, strict=True):
        click.echo("\n".join([f"{title(run)} (policy {run.policy})", *(f"  {line}" for line in scorecard_lines(card))]))
        click.echo(write_report([run], folder / "report.html", folder / "report.png", told=told))
        click.echo(f"report: {folder / 'report.html'}")
    if len(runs) > 1:
        page = folders[0].parent / "comparison.html"
        click.echo(write_report(runs, page, page.with_suffix(".png")))
        click.echo(f"comparison: {page}")
    if json_file is not None:
        values = [card_values(run, card) for run, card in zip(runs, cards, strict=True)]
        whole = values[0] if len(values) == 1 else {"runs": values}
        json_file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
