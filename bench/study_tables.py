"""The tables of docs/evaluation.md from a file of results: what stands between two marks is written anew.

    python bench/study_tables.py --results results.jsonl --document docs/evaluation.md

A table's marks are <!-- NAME --> and <!-- /NAME -->. Empty cells were not run yet. Figures are per cent: violation
ratio / on-time accuracy per arrival; (3) after one is the number of seeds it is the mean of, where there are several.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import study_rows as rows
from study import read
from study_rows import NORMAL, ORACLE, TIGHT, TRACES, Row

Results = Mapping[str, dict[str, Any]]
REACHED, VIOLATED = "on_time_accuracy_per_arrival", "violation_ratio"


def main() -> None:
    options = parse()
    results = {row["key"]: row for row in read(options.results)}
    text = options.document.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        table = make(results)
        text = marks.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)
    options.document.write_text(text, encoding="utf-8")


def found(results: Results, wanted: Iterable[Row]) -> list[dict[str, Any]]:
    """Those of the rows that were run."""
    return [results[row.key] for row in wanted if row.key in results]


def cell(results: Results, *wanted: Row) -> str:
    """Violations / on-time accuracy of the rows' mean, per cent; empty if none was run."""
    known = found(results, wanted)
    if not known:
        return ""
    text = f"{percent(known, VIOLATED)} / {percent(known, REACHED)}"
    return text if len(known) == 1 else f"{text} ({len(known)})"


def percent(known: Sequence[dict[str, Any]], name: str) -> str:
    """The mean of a figure, per cent."""
    return f"{100 * fmean(one[name] or 0.0 for one in known):.2f}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; lines without any figure are left out."""
    kept = [line for line in lines if any(line[1:])]
    if not kept:
        return "(not run yet)"
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *kept))


def every_policy(pool: str, traces: Sequence[str]) -> Callable[[Results], str]:
    """Every policy on these traces in one pool."""

    def make(results: Results) -> str:
        lines = []
        for policy in ("tidewise", *rows.RIVALS):
            cells = [cell(results, *(Row(policy, one, pool, seed=seed) for seed in range(3))) for one in traces]
            lines.append([policy, *cells])
        return table(["policy", *traces], lines)

    return make


def bounds(results: Results) -> str:
    """The clairvoyant bound and how far from it ours stays."""
    places = [(pool, trace) for pool in ("full", "half") for trace in TRACES]
    lines = []
    for pool, trace in places:
        known = found(results, [Row("tidewise", trace, pool)])
        cells = [f"{100 * known[0][name]:.2f}" for name in ("clairvoyant_bound", "regret")] if known else ["", ""]
        lines.append([f"{pool}, {trace}", *cells])
    return table(["pool, trace", "bound", "regret of tidewise"], lines)


def on_our_worker(results: Results) -> str:
    """The rivals' plans on our worker, half pool."""
    lines = [
        ["tidewise", *(cell(results, *(Row("tidewise", one, seed=s) for s in range(3))) for one in (NORMAL, TIGHT))]
    ]
    for policy in (ORACLE, *rows.ON_OUR_WORKER):
        lines.append([policy, *(cell(results, Row(policy, one, worker="ours")) for one in (NORMAL, TIGHT))])
    return table(["plan, on our worker", NORMAL, TIGHT], lines)


def permuted(results: Results) -> str:
    """Permuted and re-permuted worlds: every one, and the means."""
    lines = []
    for policy, worker in sorted({(one.policy, one.worker) for one in rows.permutations()}):
        mine = [one for one in rows.permutations() if (one.policy, one.worker) == (policy, worker)]
        once, often = ([one for one in mine if (one.parts > 1) == several] for several in (False, True))
        each = [" ".join(f"{100 * one[REACHED]:.1f}" for one in found(results, some)) for some in (once, often)]
        lines.append([policy, each[0], cell(results, *once), each[1], cell(results, *often)])
    return table(["plan", "permuted once", "mean", "re-permuted twice", "mean"], lines)


def by(column: str, wanted: Iterable[Row], policies: bool = True) -> Callable[[Results], str]:
    """A table with one line for each value of a field, and one column for each policy (or trace)."""
    known = list(wanted)

    def make(results: Results) -> str:
        across = list(dict.fromkeys(one.policy if policies else one.trace for one in known))
        lines = []
        for value in dict.fromkeys(getattr(one, column) for one in known):
            mine = [one for one in known if getattr(one, column) == value]
            cells = [cell(results, *(r for r in mine if (r.policy if policies else r.trace) == one)) for one in across]
            lines.append([str(value) or "eager", *cells])
        return table([column, *across], lines)

    return make


def ablations(results: Results) -> str:
    """Ours with one part taken away."""
    lines = [["tidewise", *(cell(results, Row("tidewise", one)) for one in (NORMAL, TIGHT))]]
    lines += [[policy, *(cell(results, Row(policy, one)) for one in (NORMAL, TIGHT))] for policy in rows.ABLATED]
    return table(["policy", f"half pool, {NORMAL}", f"half pool, {TIGHT}"], lines)


def paper_ablations(results: Results) -> str:
    """The paper's own ablations, on the mended Proteus."""
    names = ("proteus-mended", *rows.PAPER_ABLATED)
    lines = []
    for name in names:
        known = found(results, [Row(name, NORMAL, "full")])
        drop = f"{100 * known[0]['accuracy_drop']:.1f}" if known else ""
        lines.append([name, cell(results, Row(name, NORMAL, "full")), drop])
    return table(["policy", f"full pool, {NORMAL}", "largest accuracy drop"], lines)


def robustness(results: Results) -> str:
    """One change at a time."""
    plain = Row("tidewise").key
    lines = [[row.key.replace(plain, "").strip() or "as it is", cell(results, row)] for row in rows.robustness()]
    return table(["change", f"half pool, {NORMAL}"], lines)


def worlds(held_out: bool) -> Callable[[Results], str]:
    """Generated worlds: means over those in which every policy was run, and in how many ours was the best."""

    def make(results: Results) -> str:
        known = list(rows.worlds(held_out))
        seeds = {one.world for one in known}
        whole = [s for s in seeds if all(one.key in results for one in known if one.world == s)]
        lines = []
        for policy, worker in dict.fromkeys((one.policy, one.worker) for one in known):
            mine = [r for r in known if (r.policy, r.worker) == (policy, worker) and r.world in whole]
            ahead = sum(
                results[r.key][REACHED] < results[Row("tidewise", trace="", pool="", world=r.world).key][REACHED]
                for r in mine
            )
            name = policy if worker == "published" else f"{policy}, our worker"
            lines.append(
                [name, cell(results, *mine), "" if policy == "tidewise" or not mine else f"{ahead} of {len(mine)}"]
            )
        return table(["policy", "violations / on-time accuracy (worlds)", "tidewise ahead"], lines)

    return make


def choices(results: Results) -> str:
    """Each change of the default in the generated worlds: what it gains on the mean, and where it differs most."""
    plain = dict(rows.choices())["as it is"]
    lines = []
    for name, changed in rows.choices():
        pairs = [(a, b) for a, b in zip(changed, plain, strict=True) if a.key in results and b.key in results]
        gains = [100 * (results[a.key][REACHED] - results[b.key][REACHED]) for a, b in pairs]
        if len(gains) < 2:
            continue
        error = stdev(gains) / len(gains) ** 0.5
        spread = (
            [""] * 3
            if name == "as it is"
            else [f"{fmean(gains):+.2f}", f"{error:.2f}", f"{min(gains):+.2f} to {max(gains):+.2f}"]
        )
        lines.append([name, cell(results, *(a for a, _ in pairs)), *spread])
    return table(["change", "violations / on-time accuracy (worlds)", "gain", "standard error", "worlds differ"], lines)


TABLES: Mapping[str, Callable[[Results], str]] = {
    "full-pool": every_policy("full", TRACES),
    "half-pool": every_policy("half", (NORMAL, TIGHT)),
    "bounds": bounds,
    "our-worker": on_our_worker,
    "permuted": permuted,
    "slo": by("slo", rows.slos()),
    "ablations": ablations,
    "paper-ablations": paper_ablations,
    "batching": by("batching", rows.batching(), policies=False),
    "scaling": by("pool", rows.scaling()),
    "robustness": robustness,
    "choices": choices,
    "worlds": worlds(held_out=False),
    "held-out": worlds(held_out=True),
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--document", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
