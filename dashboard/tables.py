"""The tables of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidewise.core.outcome import Outcome
from tidewise.core.run import PlanChange, Run
from tidewise.core.scorecard import Scorecard
from tidewise.dashboard.card import Card
from tidewise.dashboard.markup import Cell, headline_figures, share_bar, table
from tidewise.dashboard.numbers import NOTHING, count, milliseconds, percent, rate
from tidewise.dashboard.palette import VIOLATIONS, Palette
from tidewise.dashboard.panels import ROUTINE, cause

OUTCOME_COLOURS = {Outcome.ON_TIME: "good", **{one: one.value for one in VIOLATIONS}}
MOST_COLUMNS = 4  # applications with a demand column of their own
ROUTINE_STATUS = ("optimal", "feasible")


def main_figures(card: Card) -> str:
    """The scorecard in big figures."""
    whole = card.whole
    lowest = None if whole.accuracy_drop is None else 1 - whole.accuracy_drop
    figures = [
        (
            percent(whole.on_time_accuracy_per_arrival),
            "on-time accuracy per arrival: the figure that dropping cannot improve",
        ),
        (percent(whole.violation_ratio), f"of {count(whole.arrivals)} arrivals not answered on time (violation ratio)"),
        (percent(whole.effective_accuracy), "effective accuracy, of each application's best"),
        (percent(whole.accuracy_drop), f"accuracy drop: the worst ten seconds had {percent(lowest)}"),
        (f"{milliseconds(whole.latency_p50)}", f"median latency; p99 {milliseconds(whole.latency_p99)}"),
    ]
    return headline_figures(figures)


def outcome_bar(whole: Scorecard) -> str:
    """All arrivals by how they ended; they sum to one."""
    shares = []
    for outcome, colour in OUTCOME_COLOURS.items():
        number = whole.outcomes.get(outcome, 0)
        share = number / whole.arrivals if whole.arrivals else 0.0
        shares.append((f"{outcome.replace('_', ' ')} {count(number)} ({percent(share)})", share, colour))
    return share_bar(shares)


def application_table(run: Run, card: Card) -> str:
    """One row an application, the worst marked where there are several."""
    heads = ["application", "SLO", "arrivals", "not on time", "effective accuracy", "accuracy drop"]
    heads += ["on-time accuracy per arrival", "p50", "p99", "labels right"]
    rows = []
    for name, one in card.applications.items():
        slo = run.applications[name].slo if name in run.applications else None
        cells = [name, milliseconds(slo), count(one.arrivals), percent(one.violation_ratio)]
        cells += [
            percent(one.effective_accuracy),
            percent(one.accuracy_drop),
            percent(one.on_time_accuracy_per_arrival),
        ]
        cells += [milliseconds(one.latency_p50), milliseconds(one.latency_p99), percent(card.measured.get(name))]
        worst = name == card.worst and len(card.applications) > 1 and one.violation_ratio > 0
        rows.append(([Cell(text) for text in cells], "worst" if worst else ""))
    return table(heads, rows)


def variant_table(run: Run, card: Card, palette: Palette) -> str:
    """Every variant: its accuracy and how many queries it answered."""
    answered = max(1, sum(card.whole.queries_per_variant.values()))
    rows = []
    for name, application in run.applications.items():
        for variant, accuracy in application.variants.items():
            number = card.whole.queries_per_variant.get(f"{name}/{variant}", 0)
            first = Cell(f"{name} {variant}", swatch=palette.variable(name, variant))
            cells = [
                percent(accuracy),
                percent(accuracy / application.best_accuracy),
                count(number),
                percent(number / answered),
            ]
            rows.append(([first, *map(Cell, cells)], ""))
    return table(["variant", "accuracy", "of the best", "queries answered", "share"], rows)


def plan_table(run: Run) -> str:
    """The history of plans; what is out of the ordinary stands out."""
    names = sorted({name for one in run.plans for name in one.plan.demand})
    shown = {f"{name} demand": [name] for name in names} if len(names) <= MOST_COLUMNS else {"demand": names}
    heads = ["plan", "at", "trigger", "status", *shown, "served", "gap", "solved in", "devices changed"]
    before = [None, *run.plans]
    return table(
        heads, [(_plan_cells(one, last, shown.values()), "") for last, one in zip(before, run.plans, strict=False)]
    )


def _plan_cells(change: PlanChange, before: PlanChange | None, columns: Iterable[Sequence[str]]) -> list[Cell]:
    plan = change.plan
    demand = [f"{rate(sum(plan.demand.get(name, 0.0) for name in names))}/s" for names in columns]
    return [
        Cell(str(plan.version)),
        Cell("before" if change.at < 0 else f"{change.at:.1f} s"),
        Cell(plan.trigger or NOTHING, "text" if cause(change) in ROUTINE else "text unusual"),
        Cell(plan.status or NOTHING, "text" if plan.status in ROUTINE_STATUS else "text unusual"),
        *map(Cell, demand),
        Cell(percent(plan.phi), "unusual" if plan.phi < 1 else ""),
        Cell(percent(plan.gap)),
        Cell(milliseconds(plan.solve)),
        Cell(NOTHING if before is None else str(_changed(before, change))),
    ]


def _changed(before: PlanChange, change: PlanChange) -> int:
    """Devices that were given another application or ceiling."""
    was = {one.worker: (one.application, one.ceiling) for one in before.plan.assignments}
    return sum(was.get(one.worker) != (one.application, one.ceiling) for one in change.plan.assignments)
