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
        _prices(solution, why),
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
    if solution.status is Status.OVERLOAD:
        text += f"; every application is served at least {solution.phi:.1%} of its demand"
    return f"{text}; {solution.cpu:.3f} s CPU by {solution.method}"


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


def _prices(solution: Solution, why: Explanation) -> str:
    what = "phi" if solution.status is Status.OVERLOAD else "the objective"
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
    needed = [f"{n} more {name}" for name, n in why.remedies.items() if n > 0]
    if needed:
        other = "other " if why.hopeless else ""
        lines.append(f"All {other}demand could be served with at least {', or '.join(needed)}")
        lines.append(f"(or with demand at most {solution.phi:.1%} of what is asked).")
    elif solution.status is Status.OVERLOAD and not why.hopeless:
        lines.append("The devices suffice on average; whole devices do not add up, so a single device more will do.")
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> str:
    """Columns padded to their widest entry."""
    table = [tuple(head), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join((lines[0], "-" * len(lines[0]), *lines[1:]))
