"""INFaaS-Accuracy: no solver; every second each application mends its own capacity, greedily.

Where its capacity times .95 is below its last second's rate, an application takes whatever costs least accuracy: a
free or spare device, or a faster variant on a device of its own. Where it has much to spare, it goes back to a more
accurate variant, one device a second. The first placement is the exact plan's.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from tidewise.controller.case_builder import joined, parted
from tidewise.controller.kinds import kinds_of
from tidewise.controller.policies.counts import CountPolicy
from tidewise.controller.policies.policy import Answer, Verdict
from tidewise.controller.question import Question, View
from tidewise.controller.triggers import BURST_WINDOW
from tidewise.core.case import Case
from tidewise.core.plan import Assignment, Plan

EVERY = 1.0  # seconds
FULL = 0.95  # of capacity
AMPLE, STILL_AMPLE = 1.25, 1.12  # times the rate: when to go back up, and what must be left
SPARE = 1.05  # times its rate: what another application must keep when it gives a device away

Hosts = dict[str, str]  # device: variant, as the case names it


@dataclass(slots=True)
class InfaasPolicy(CountPolicy):
    """Static but for what ``steer`` does."""

    static: bool = True
    sudden: bool = False
    _case: Case | None = None
    _at: float = float("-inf")

    def judge(self, question: Question, answer: Answer, current: Plan, view: View) -> Verdict:
        """The first placement; the case is kept for its capacities."""
        self._case = question.case
        return CountPolicy.judge(self, question, answer, current, view)

    def steer(self, plan: Plan, view: View, now: float) -> Plan | None:
        """Scale every application, the busiest first."""
        if self._case is None or now < self._at + EVERY or view.expecting:
            return None
        self._at = now
        scaling = _Scaling(self._case, plan, view)
        for name in sorted(scaling.rate, key=lambda one: -scaling.rate[one]):
            scaling.up(name)
            scaling.down(name)
        return scaling.plan(plan) if scaling.hosts != scaling.before else None


class _Scaling:
    """One second's decisions."""

    def __init__(self, case: Case, plan: Plan, view: View) -> None:
        self.case = case
        kinds = kinds_of(view.devices, view.barred)
        self.kind = {d: kind.name for kind in kinds.values() for d in kind.devices if kind.name in case.device_types}
        self.before: Hosts = {
            one.worker: joined(one.application, one.ceiling) for one in plan.assignments if one.worker in self.kind
        }
        self.hosts = dict(self.before)
        self.rate = {n: view.estimates[n].rates[BURST_WINDOW] / FULL for n in case.applications if n in view.estimates}
        self.room: dict[str, float] = defaultdict(float)
        for device, variant in self.hosts.items():
            self.room[parted(variant)[0]] += self._capacity(device, variant)

    def up(self, name: str) -> None:
        """Take the cheapest step until the rate is carried or no step helps."""
        for _ in self.kind:
            if self.room[name] >= self.rate[name]:
                return
            steps = [step for device in self.kind for step in self._steps(name, device)]
            if not steps:
                return
            _, device, variant = min(steps)
            self._host(device, variant)

    def down(self, name: str) -> None:
        """One device back to a more accurate variant, if enough is left."""
        if self.room[name] <= AMPLE * self.rate[name]:
            return
        better = []
        for device, variant in self.hosts.items():
            if parted(variant)[0] != name or self.before.get(device) != variant:
                continue
            here = self._capacity(device, variant)
            for other in self._variants(name, device):
                gain = self._accuracy(other) - self._accuracy(variant)
                if gain > 0 and self.room[name] - here + self._capacity(device, other) >= STILL_AMPLE * self.rate[name]:
                    better.append((gain * self._capacity(device, other), device, other))
        if better:
            _, device, other = max(better)
            self._host(device, other)

    def plan(self, plan: Plan) -> Plan:
        """The plan with what was decided; shares by capacity."""
        found = tuple(self._assignment(device, self.hosts[device]) for device in sorted(self.hosts))
        return replace(plan, assignments=found, trigger="scaling")

    def _steps(self, name: str, device: str) -> list[tuple[float, str, str]]:
        """(accuracy lost for each query per second gained, device, variant) of every step one device allows."""
        held = self.hosts.get(device, "")
        owner = parted(held)[0]
        missing = self.rate[name] - self.room[name]
        if owner and owner != name and self.room[owner] - self._capacity(device, held) <= SPARE * self.rate[owner]:
            return []
        found = []
        for variant in self._variants(name, device):
            before = self._capacity(device, held) if owner == name else 0.0
            gain = self._capacity(device, variant) - before
            if gain <= 0:
                continue
            lost = 1 - self._accuracy(variant)
            if owner == name:
                kept = self._accuracy(held) * before - self._accuracy(variant) * self._capacity(device, variant)
                lost = kept / min(gain, missing)
            elif owner:
                lost = 0.05 + 0.3 * lost
            else:
                lost = lost - 1e3
            found.append((lost + (0.0 if gain >= missing or owner == name else 0.05), device, variant))
        return found

    def _host(self, device: str, variant: str) -> None:
        held = self.hosts.get(device)
        if held is not None:
            self.room[parted(held)[0]] -= self._capacity(device, held)
        self.hosts[device] = variant
        self.room[parted(variant)[0]] += self._capacity(device, variant)

    def _assignment(self, device: str, variant: str) -> Assignment:
        name, short = parted(variant)
        rate = self._capacity(device, variant)
        return Assignment(device, name, (short,), short, rate / self.room[name], rate)

    def _variants(self, name: str, device: str) -> list[str]:
        row = self.case.capacity.get(self.kind[device], {})
        return [variant for variant, rate in row.items() if rate > 0 and parted(variant)[0] == name]

    def _capacity(self, device: str, variant: str) -> float:
        return self.case.capacity.get(self.kind[device], {}).get(variant, 0.0)

    def _accuracy(self, variant: str) -> float:
        return self.case.variants[variant].accuracy
