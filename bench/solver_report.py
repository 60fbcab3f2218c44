"""The solver benchmark as a table and as a plot."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def table(rows: list[Row]) -> str:
    """Markdown: medians over the seeds of CPU seconds and gap, one row per size and load, one column per method."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = ["| size | load | " + " | ".join(methods) + " |", "| --- | --- |" + " --- |" * len(methods)]
    keys = sorted({(_devices(row["size"]), row["size"], row["load"]) for row in rows})
    for _, size, load in keys:
        cells = [_cell([r for r in rows if (r["size"], r["load"], r["method"]) == (size, load, m)]) for m in methods]
        lines.append(f"| {size} | {load:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _devices(size: str) -> int:
    return int(size.split("/")[0])


def _cell(rows: list[Row]) -> str:
    """Median CPU seconds and gap, under overload phi and the gap of each level; or what became of the cell."""
    solved = [row for row in rows if row.get("objective") is not None]
    if not solved:
        return ", ".join(sorted({row["status"] for row in rows})) or "-"
    cpu = statistics.median(row["cpu_s"] for row in solved)
    phi = statistics.median(row["phi"] for row in solved)
    text = f"{cpu:.3g} s, " + (f"phi {phi:.3f}, {_level_gaps(solved)}" if phi < 1 else _median_gap(solved, "gap"))
    return text if len(solved) == len(rows) else f"{text} ({len(solved)} of {len(rows)})"


def _level_gaps(rows: list[Row]) -> str:
    """Median gaps of phi, queries served and accuracy."""
    full = [{**row, "phi_gap": _gap(row, "phi"), "served_gap": _gap(row, "served")} for row in rows]
    return " / ".join(_median_gap(full, key) for key in ("phi_gap", "served_gap", "gap"))


def _gap(row: Row, key: str) -> float | None:
    """None where the bound is the trivial one: all demand."""
    bound = row.get(f"{key}_bound")
    return max(0.0, (bound - row[key]) / bound) if bound and row["phi_bound"] < 1 else None


def _median_gap(rows: list[Row], key: str) -> str:
    gaps = [row[key] for row in rows if row.get(key) is not None]
    if not gaps:
        return "-"
    gap = statistics.median(gaps)
    return "0" if gap < 1e-7 else f"{gap:.0e}"


def plot(rows: list[Row], path: Path) -> None:
    """CPU seconds against devices, one line per method, at loads up to .95."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for method in dict.fromkeys(row["method"] for row in rows):
        points: dict[int, list[float]] = {}
        for row in rows:
            if row["method"] == method and row["load"] < 1 and row.get("objective") is not None:
                points.setdefault(_devices(row["size"]), []).append(row["cpu_s"])
        sizes = sorted(points)
        axes.plot(sizes, [statistics.median(points[size]) for size in sizes], marker="o", label=method)
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel="CPU seconds (median)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path)
