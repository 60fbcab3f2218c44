"""The folder that a run is kept in: never that of another, unless asked."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path

import click

from tidewise.traces.runs import refuse_kept

out_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the run; runs/<time> without it."
)
force_option = click.option("--force", is_flag=True, help="Replace the run that the folder holds.")


def run_folder(out: Path | None, started: datetime, force: bool) -> Path:
    """The folder asked for, or a new one named after the time. Raises InputError if it holds a run, unless forced."""
    if out is None:
        name = started.strftime("%Y%m%d-%H%M%S")
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        return next(folder for one in names if not (folder := Path("runs") / one).exists())
    if not force:
        refuse_kept(out)
    return out
