"""What a router is believed: what cannot be true must not move the plan."""

from __future__ import annotations

import math
from dataclasses import replace

from tidewise.controller.demand import LONGEST_TALLY
from tidewise.core.report import RouterReport
from tidewise.core.routes import Tally

MOST_PER_SECOND = 1e6  # arrivals of one application at one router; ten times what one has been seen to forward
MOST_AT_ONCE = 1000.0  # arrivals that may fall into a window of no length
HIGHEST_REVISION = 2**53  # above it, counting on would soon leave the numbers that messages can carry


def credible(report: RouterReport) -> RouterReport:
    """The report without the tallies, and without the revision, that no router can have."""
    revision = report.applied_revision if report.applied_revision < HIGHEST_REVISION else 0
    tallies = tuple(one for one in report.tallies if _is_credible(one))
    if revision == report.applied_revision and len(tallies) == len(report.tallies):
        return report
    return replace(report, applied_revision=revision, tallies=tallies)


def _is_credible(tally: Tally) -> bool:
    if not (math.isfinite(tally.seconds) and tally.seconds >= 0):
        return False
    most = MOST_PER_SECOND * min(tally.seconds, LONGEST_TALLY) + MOST_AT_ONCE
    return 0 <= tally.arrivals <= most
