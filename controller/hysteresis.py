"""Hysteresis: when the plan in force stays although a newer one was computed, so that noise moves nothing.

The rule. Plans are computed for the demand with its full margin, but the plan in force is judged at half the margin.
It stays as long as, there,

1. it serves every application as far as the new plan would, to within two per cent of the demand, and
2. the new plan's gain in accuracy is below the price of its loads: `hysteresis` of the cluster file (two per cent of
   accuracy unless it says otherwise) if every device had to load, in proportion for fewer, never below a tenth of it.
   Under max-min fairness the gain is the worst application's, or the mean's where the worst gains nothing; and
3. it gives every application its minimum of replicas, if the new plan does.

So after a change, demand must rise by half the margin before the next plan for more capacity, and fall by half the
margin before the one that takes it back. The margin grows with the square root of demand, as its noise does.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidewise.controller.case_builder import Counts
from tidewise.controller.worth import rooms_by_application, worst_accuracy, worth
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings

MARGIN_JUDGED = 0.5
SHORTFALL = 0.02  # of an application's demand
LEAST = 0.1  # of the price of loading every device


def reason_to_keep(
    case: Case, current: Counts, new: Counts, demand: Mapping[str, float], loads: int, settings: PlannerSettings
) -> str | None:
    """Why the current counts stay, or None if the new ones are worth it. ``demand`` is at half the margin."""
    if settings.hysteresis <= 0:
        return None
    mine, theirs = worth(case, current, demand), worth(case, new, demand)
    if any(mine.served[name] < theirs.served[name] - SHORTFALL for name in theirs.served):
        return None
    if rooms_by_application(case, new).keys() - rooms_by_application(case, current).keys():
        return None
    if _missing_replicas(case, current) > _missing_replicas(case, new):
        return None
    price = settings.hysteresis * max(LEAST, loads / max(1, sum(case.device_types.values())))
    gain = theirs.objective - mine.objective
    if settings.max_min:
        fairer = worst_accuracy(case, theirs, demand) - worst_accuracy(case, mine, demand)
        gain = fairer if abs(fairer) > price else gain
    if gain > price:
        return None
    return f"the plan in force still carries the demand; a new one would gain {gain:.4f} accuracy for {loads} loads"


def _missing_replicas(case: Case, counts: Counts) -> int:
    """How many devices the applications lack of their minimum of replicas."""
    hosts = dict.fromkeys(case.applications, 0)
    for row in counts.values():
        for variant, n in row.items():
            hosts[case.variants[variant].application] += n
    return sum(max(0, one.min_replicas - hosts[name]) for name, one in case.applications.items())
