"""Which siblings a device keeps warm: the fastest, then the ones the plan uses most, within its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidewise.controller.allocation.hull import Rung


def warm_set(
    rungs: Sequence[Rung], use: Sequence[float], memory: Mapping[str, int], budget: int | None
) -> tuple[Rung, ...]:
    """The rungs to keep warm of one family on one device type, fastest first.

    ``rungs`` is the hull, fastest first, each of which fits alone; ``use`` says how many devices each keeps busy over
    the scenarios. Without a budget (bytes) all of them stay warm.
    """
    if budget is None:
        return tuple(rungs)
    fastest, *others = range(len(rungs))
    by_use = sorted(others, key=lambda k: (-use[k], -rungs[k].accuracy))
    chosen, spent = [fastest], memory.get(rungs[fastest].variant, 0)
    for k in by_use:
        need = memory.get(rungs[k].variant, 0)
        if spent + need <= budget:
            chosen.append(k)
            spent += need
    return tuple(rungs[k] for k in sorted(chosen))
