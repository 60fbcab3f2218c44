"""Hysteresis: when the plan in force stays although a newer one was computed, so that noise moves nothing.

The rule. Plans are computed for the demand with its full margin, but the plan in force is judged at half the margin.
It stays as long as, there,

1. it serves every application as far as the new plan would, to within two per cent of the demand, and
2. the new plan's gain in accuracy is below the price of its loads: two per cent of accuracy if every device had to
   load, in proportion for fewer, and never below 0.2 %.

So after a change, demand must rise by half the margin before the next plan for more capacity, and fall by half the
margin before the one that takes it back. The margin grows with the square root of demand, as its noise does.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidewise.controller.case_builder import Counts
from tidewise.controller.worth import rooms_by_application, worth
from tidewise.core.case import Case

MARGIN_JUDGED = 0.5
SHORTFALL = 0.02  # of an application's demand
LOAD_PRICE = 0.02  # accuracy that loading every device anew must gain
LEAST_GAIN = 0.002  # accuracy


def reason_to_keep(case: Case, current: Counts, new: Counts, demand: Mapping[str, float], loads: int) -> str | None:
    """Why the current counts stay, or None if the new ones are worth it. ``demand`` is at half the margin."""
    mine, theirs = worth(case, current, demand), worth(case, new, demand)
    if any(mine.served[name] < theirs.served[name] - SHORTFALL for name in theirs.served):
        return None
    if rooms_by_application(case, new).keys() - rooms_by_application(case, current).keys():
        return None
    price = max(LEAST_GAIN, LOAD_PRICE * loads / max(1, sum(case.device_types.values())))
    gain = theirs.objective - mine.objective
    if gain > price:
        return None
    return f"the plan in force still carries the demand; a new one would gain {gain:.4f} accuracy for {loads} loads"
