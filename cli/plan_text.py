"""A plan as a person reads it: tables of device types and applications, prices, remedies, swaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidewise.controller.allocation.explain import Explanation
from tidewise.core.case import Case
from tidewise.core.scenario import ScenarioSolution
from tidewise.core.solution import Solution, Status


def plan_text(case: Case, solution: Solution, why: Explanation) -> str:
    """The whole page for one plan."""
    parts = [
        _summary(solution),
        _table(("device type", "devices", "hosts", "busy"), _device_rows(case, solution)),
        _table(
            ("application", "demand/s", "served/s", "served", "accuracy", "best"), _application_rows(case, solution)
        ),
        _prices(why),
        _shortfall(case, solution, why),
    ]
    return "\n\n".join(part for part in parts if part)


def swaps_text(case: Case, solution: Solution) -> str:
    """What changes against the counts hosted now."""
    rows = []
    for device_type in case.device_types:
        now, then = case.current.get(device_type, {}), solution.counts.get(device_type, {})
        for variant in sorted({*now, *then}):
            change = then.get(variant, 0) - now.get(variant, 0)
            if change:
                rows.append((device_type, variant, str(now.get(variant, 0)), str(then.get(variant, 0)), f"{change:+d}"))
    if not rows:
        return "Nothing changes: no device loads another variant."
    loads = "1 load" if solution.loads == 1 else f"{solution.loads} loads"
    return f"{loads}:\n" + _table(("device type", "variant", "now", "then", "change"), rows)


def scenario_text(solution: ScenarioSolution) -> str:
    """The page for a scenario plan."""
    rows = [
        (device_type, application, str(n), ", ".join(solution.warm[device_type][application]))
        for device_type, row in solution.families.items()
        for application, n in row.items()
    ]
    values = [
        (str(i + 1), f"{one.weight:g}", f"{one.accuracy:.4f}", f"{one.least_served:.1%}")
        for i, one in enumerate(solution.values)
    ]
    head = f"{solution.status}: value {solution.objective:.5f}, at most {solution.bound:.5f}; {solution.loads} loads"
    tables = (
        _table(("device type", "family", "devices", "kept warm (fastest first)"), rows),
        _table(("scenario", "weight", "accuracy", "worst served"), values),
    )
    return "\n\n".join((head, *tables))


def _summary(solution: Solution) -> str:
    accuracy = "none" if solution.effective_accuracy is None else f"{solution.effective_accuracy:.4f}"
    text = f"{solution.status}: effective accuracy {accuracy}, objective {solution.objective:.6f}"
    if solution.status is not Status.OPTIMAL:
        text += f", at most {solution.bound:.6f} (gap {solution.gap:.2%})"
    proved = solution.method == "fast" and solution.status is Status.OPTIMAL
    unneeded = ", whose own bound proves it: no solver was needed" if proved else ""
    lines = [f"{text}; {solution.cpu:.3f} s CPU by {solution.method}{unneeded}"]
    if solution.status is Status.OVERLOAD:
        lines.append(_overload(solution))
    return "\n".join(lines)


def _overload(solution: Solution) -> str:
    """How much is served, and how much any plan could."""
    total = sum(solution.served.values())
    text = f"Every application is served at least {solution.phi:.1%} of its demand"
    if solution.phi > 0:
        text += f" (no plan reaches more than {solution.phi_bound:.1%})"
    text += f"; {total:.2f} queries/s in all"
    most = solution.served_bound
    return text + ("." if most is None else f" (no plan that fair serves more than {most:.2f}).")


def _device_rows(case: Case, solution: Solution) -> Iterator[tuple[str, ...]]:
    for device_type, count in case.device_types.items():
        hosts, busy = solution.counts.get(device_type, {}), solution.busy.get(device_type, {})
        for i, (variant, n) in enumerate(sorted(hosts.items(), key=lambda item: (-item[1], item[0]))):
            shown = (device_type, str(count)) if i == 0 else ("", "")
            yield (*shown, f"{n} x {variant}", f"{busy.get(variant, 0.0) / n:.0%}" if n else "")
        idle = count - sum(hosts.values())
        if idle:
            yield ("", "", f"{idle} idle", "") if hosts else (device_type, str(count), f"{idle} idle", "")


def _application_rows(case: Case, solution: Solution) -> Iterator[tuple[str, ...]]:
    for name, application in case.applications.items():
        served = solution.served.get(name, 0.0)
        earned = sum(
            busy * case.capacity.get(device_type, {}).get(variant, 0.0) * case.variants[variant].accuracy
            for device_type, row in solution.busy.items()
            for variant, busy in row.items()
            if case.variants[variant].application == name
        )
        best = max((v.accuracy for v in case.variants.values() if v.application == name), default=None)
        yield (
            name,
            f"{application.demand:.2f}",
            f"{served:.2f}",
            f"{served / application.demand:.1%}" if application.demand else "",
            f"{earned / served:.4f}" if served else "",
            "" if best is None else f"{best:.4f}",
        )


def _prices(why: Explanation) -> str:
    what = "the fraction served of every demand" if why.of_phi else "the objective"
    listed = ", ".join(f"{name} {price:+.6f}" for name, price in why.prices.items())
    return f"One more device would add to {what} about: {listed}" if listed else ""


def _shortfall(case: Case, solution: Solution, why: Explanation) -> str:
    lines = [
        f"No device can serve {name}"
        + (
            f" at its accuracy floor {case.applications[name].min_accuracy:g}"
            if case.applications[name].min_accuracy
            else ""
        )
        + "; give it a variant with some capacity."
        for name in why.hopeless
    ]
    needed = [f"{n} more {name}" for name, n in why.enough.items()]
    needed += [f"at least {n} more {name}" for name, n in why.least.items() if n > 0 and name not in why.enough]
    if needed:
        other = "other " if why.hopeless else ""
        line = f"All {other}demand could be served with {', or '.join(needed)}"
        lines.append(line + (f", or if demand were {solution.phi:.1%} of what it is." if solution.phi > 0 else "."))
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> str:
    """Columns padded to their widest entry."""
    table = [tuple(head), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join((lines[0], "-" * len(lines[0]), *lines[1:]))
