"""Figures as short text for people, never rounded to a better figure than they are."""

from __future__ import annotations

NOTHING = "–"  # noqa: RUF001


def percent(fraction: float | None) -> str:
    """A fraction as percent: 3.6 %; 100 % and 0 % only where exact."""
    if fraction is None:
        return NOTHING
    value = 100 * fraction
    if value in (0.0, 100.0):
        return f"{value:.0f} %"
    places = 1
    while places < 4 and f"{value:.{places}f}" in (f"{0:.{places}f}", f"{100:.{places}f}"):
        places += 1
    return f"{value:.{places}f} %"


def count(number: int) -> str:
    """A whole number with thousands apart: 10,608."""
    return f"{number:,}"


def rate(per_second: float) -> str:
    """Queries a second, without false precision."""
    return f"{per_second:.0f}" if per_second >= 10 else f"{per_second:.1f}"


def milliseconds(seconds: float | None) -> str:
    """Seconds as milliseconds: 41 ms."""
    if seconds is None:
        return NOTHING
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"
