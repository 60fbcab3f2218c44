"""The report of one run: a single HTML page, or one picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tidewise.core.run import Run
from tidewise.dashboard import figures, tables
from tidewise.dashboard.card import Card, card_of
from tidewise.dashboard.markup import document, figure, heading, note_list, section
from tidewise.dashboard.palette import Palette
from tidewise.dashboard.picture import png, svg
from tidewise.dashboard.series import Columns, bin_width, columns
from tidewise.dashboard.verdict import headline, notes, title

PER_ROW = 3  # applications side by side


def report_page(run: Run) -> str:
    """The whole report as one HTML text that needs nothing else."""
    palette = Palette(run.applications)
    card = card_of(run)
    return document(f"{run.name or title(run)}: Tidewise run", palette, _parts(run, card, palette))


def report_png(run: Run) -> bytes:
    """The run in one picture: the headline and the overview."""
    palette = Palette(run.applications)
    drawn = figures.overview(run, columns(run), palette)
    figures.add_heading(drawn, palette, kind_line(run), headline(run, card_of(run)))
    return png(drawn, palette)


def kind_line(run: Run) -> str:
    """What was run, in one line."""
    devices = ", ".join(f"{number} {name}" for name, number in run.device_types.items())
    parts = [title(run), run.trace, f"{run.seconds:.0f} s", f"devices: {devices}" if devices else ""]
    return " · ".join(part for part in parts if part)


def footer(runs: list[Run]) -> str:
    """Where the figures come from."""
    facts = [" ".join(filter(None, (run.name, f"({run.policy})", run.started))) for run in runs]
    version = next((run.version for run in runs if run.version), "")
    cores = next((f"{run.cores} CPU cores. " for run in runs if run.cores), "")
    text = (
        f"Tidewise {version}. {cores}{'; '.join(facts)}. Every arrival ends in exactly one outcome; a late answer is a"
        " violation. Deadlines and latencies count from the moment a query was due."
    )
    return f"<footer>{escape(text)}</footer>"


def _parts(run: Run, card: Card, palette: Palette) -> Iterator[str]:
    of = columns(run)
    width = bin_width(run.seconds)
    yield heading(kind_line(run), headline(run, card))
    yield tables.main_figures(card)
    yield tables.outcome_bar(card.whole)
    yield note_list(notes(run, card))
    if run.records:
        yield section("Over time", f"Each point covers {width:g} s, by when a query was due.")
        description = "Demand by answering variant, effective accuracy, violations and latency over time"
        yield figure(svg(figures.overview(run, of, palette), palette, "overview"), description)
        yield from _applications(run, card, of, palette)
    if run.workers:
        yield section("Workers")
        yield figure(svg(figures.workers(run, palette), palette, "workers"), "What each worker hosted over time")
    if run.plans:
        yield section("Plans", "Served is the fraction of the planned demand that every application gets at least.")
        yield tables.plan_table(run)
    yield section("Variants")
    yield tables.variant_table(run, card, palette)
    yield footer([run])


def _applications(run: Run, card: Card, of: Columns, palette: Palette) -> Iterator[str]:
    yield section(
        "Applications",
        "Accuracy is normalised to the application's best variant; labels right is what the answers on time scored on"
        " labelled data.",
    )
    yield tables.application_table(run, card)
    names = [name for name in run.applications if name in card.applications]
    if len(names) < 2:
        return
    for start in range(0, len(names), PER_ROW):
        some = names[start : start + PER_ROW]
        drawn = figures.by_application(run, of, palette, some)
        yield figure(svg(drawn, palette, f"applications-{start}"), f"The same by application: {', '.join(some)}")
