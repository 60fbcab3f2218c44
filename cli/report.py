"""`tidewise report`: draw a run again, or lay several side by side."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from tidewise.cli.options import json_option
from tidewise.core.errors import InputError
from tidewise.core.run import Run
from tidewise.core.suffix import PAGE, PICTURE, require_suffix
from tidewise.traces.runs import read_run

MOST_RUNS = 4  # side by side; more would not be readable


@click.command(name="report", short_help="Draw runs, or compare them.")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--compare",
    "others",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run to lay beside it; may be given up to three times.",
)
@click.option(
    "--out",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    help="Where to write the page; RUN/report.html or RUN/comparison.html without it.",
)
@click.option("--png", metavar="FILE.png", type=click.Path(path_type=Path), help="Write it as one picture too.")
@json_option
def command(folder: Path, others: tuple[Path, ...], out: Path | None, png: Path | None, as_json: bool) -> None:
    """Write the report of the run kept in folder RUN: one HTML file that needs nothing else, and what it says in words.

    With --json the scorecard is printed as well as the page written; ratios are fractions of 1.
    """
    for file, allowed, what in ((out, PAGE, "--out"), (png, PICTURE, "--png")):
        if file is not None:
            require_suffix(file, allowed, what)
    if len(others) >= MOST_RUNS:
        raise InputError(f"--compare takes at most {MOST_RUNS - 1} runs, not {len(others)}; leave some out")
    runs = [read_run(one) for one in (folder, *others)]
    page = out or folder / ("comparison.html" if others else "report.html")
    words = write_report(runs, page, png)
    click.echo(json.dumps(_values(runs), indent=1) if as_json else words)
    click.echo(f"report: {page}", err=as_json)


def write_report(runs: Sequence[Run], page: Path, png: Path | None, told: Collection[str] = ()) -> str:
    """Write the page, and the picture if asked; what they say in words, without the notes told already.

    Raises InputError if a file cannot be written.
    """
    _write(page, _page(runs).encode())
    if png is not None:
        _write(png, _picture(runs))
    return _words(runs, told)


def _page(runs: Sequence[Run]) -> str:
    from tidewise.dashboard import comparison, page  # plotting is slow to import

    return page.report_page(runs[0]) if len(runs) == 1 else comparison.comparison_page(runs)


def _picture(runs: Sequence[Run]) -> bytes:
    from tidewise.dashboard import comparison, page

    return page.report_png(runs[0]) if len(runs) == 1 else comparison.comparison_png(runs)


def _words(runs: Sequence[Run], told: Collection[str]) -> str:
    from tidewise.dashboard import comparison, verdict

    found = comparison.entries(runs)
    if len(found) > 1:
        said = [comparison.comparison_headline(found), *comparison.differences(found)]
        return "\n".join(note.text for note in said)
    (one,) = found
    said = [verdict.headline(one.run, one.card), *verdict.notes(one.run, one.card)]
    return "\n".join(note.text for note in said if note.text not in told)


def _values(runs: Sequence[Run]) -> dict[str, Any]:
    from tidewise.dashboard.card import card_of, card_values

    values = [card_values(run, card_of(run)) for run in runs]
    return values[0] if len(values) == 1 else {"runs": values}


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror or error}") from error
