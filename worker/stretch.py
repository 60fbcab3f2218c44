"""How many times its profile a device takes lately: what its owner cannot mend and the planner must know.

Profiles are taken in quiet. A processor that is shared, hot or throttled serves fewer queries than they say, and a plan
made from them asks for more than there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tidewise.worker.counters import Counters
from tidewise.worker.stations import AnyDevice

MEMORY = 10.0  # seconds after which evidence counts for 1/e
DOUBT = 0.5  # seconds of work as profiled that stand against the evidence
STEP = 1.25  # a level is a power of it, so that devices that are nearly alike stay interchangeable
NEAR = 1.1  # times the profile: less than half a step
STICKY = 0.75  # of a step must be gone before the level moves, so that noise does not make plans


@dataclass(slots=True)
class Stretch:
    """A reading of two running sums: seconds that batches took, and the seconds their profiles gave them.

    ``level`` is 1 for a device as profiled (or faster), else a power of ``STEP``.
    """

    level: float = 1.0
    _took: float = 0.0
    _expected: float = 0.0
    _before: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def update(self, now: float, took: float, expected: float) -> float:
        """Take a reading of the sums since the start; the level now.

        The ratio is (evidence + doubt) / (profile + doubt), evidence fading with time, so that an idle device is
        trusted again.
        """
        then, took_then, expected_then = self._before
        fading = math.exp(-max(0.0, now - then) / MEMORY)
        self._took = self._took * fading + max(0.0, took - took_then)
        self._expected = self._expected * fading + max(0.0, expected - expected_then)
        self._before = now, took, expected
        ratio = (self._took + DOUBT) / (self._expected + DOUBT)
        if self.level == 1.0 and ratio < NEAR:  # nearly always, and cheaper than the logarithms that say the same
            return self.level
        steps, present = (math.log(value, STEP) for value in (max(1.0, ratio), self.level))
        if abs(steps - present) > STICKY:
            self.level = STEP ** round(steps)
        return self.level


def stretch_of(device: AnyDevice, stretch: Stretch, now: float) -> float:
    """How many times its profile the device takes; a batch that hangs in the engine counts while it does."""
    took, expected = times(device.counters)
    return stretch.update(now, took + device.overdue(now), expected)


def times(counters: Counters) -> tuple[float, float]:
    """Seconds in batches so far, and what their profiles gave them."""
    took = expected = 0.0
    for one in counters.variants.values():
        took += one.computed
        expected += one.expected
    return took, expected
