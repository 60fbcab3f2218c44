"""Whether all is well with a running cluster, in one line."""

from __future__ import annotations

from tidewise.core.live import LiveFrame
from tidewise.dashboard.verdict import Level


def health(frame: LiveFrame) -> tuple[Level, str]:
    """How the cluster does, and why it does no better."""
    there = [one for one in frame.workers if one.connected]
    troubles = [
        _counted(len(frame.workers) - len(there), len(frame.workers), "gone"),
        _counted(sum(not one.following for one in there), len(frame.workers), "not on the plan yet"),
        "" if frame.routers else "no router is attached",
        "" if all(one.current for one in frame.routers) else "a router has an old table",
        "demand beyond capacity" if frame.phi < 1 else "",
        "see the trouble below" if frame.notes else "",
    ]
    found = ", ".join(one for one in troubles if one)
    if not frame.plan_version:
        return Level.BAD, "not serving: no plan yet" + (f", {found}" if found else "")
    if not there:
        return Level.BAD, f"not serving: {found or 'no worker is attached'}"
    if not any(one.application for one in there):
        return Level.BAD, f"not serving: nothing is loaded yet, {found}"
    return (Level.FAIR, f"serving, but {found}") if found else (Level.GOOD, "serving, every worker follows the plan")


def _counted(number: int, of: int, what: str) -> str:
    return f"{number} of {of} workers {what}" if number else ""
