"""What router and workers counted during bench/soak.py, and whether it is what their callers saw."""

from __future__ import annotations

import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from soak_load import ANSWERED, CANCELLED

from tidewise.core.metrics_catalogue import NO_REASON

DEADLINE = "deadline"
Key = tuple[str, str]  # application, ending: answered or a reason


@dataclass(frozen=True)
class Counts:
    """What a router counted: arrivals by application, ends by application and ending."""

    arrivals: Counter[str]
    ended: Counter[Key]

    def since(self, earlier: Counts) -> Counts:
        return Counts(self.arrivals - earlier.arrivals, self.ended - earlier.ended)


def samples(address: str) -> Iterator[Sample]:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as reply:
        text = reply.read().decode()
    for family in text_string_to_metric_families(text):
        yield from family.samples


def router_counts(address: str) -> Counts:
    arrivals: Counter[str] = Counter()
    ended: Counter[Key] = Counter()
    for one in samples(address):
        if one.name == "tidewise_router_arrivals_total":
            arrivals[one.labels["application"]] += int(one.value)
        if one.name == "tidewise_router_queries_total":
            reason = one.labels["reason"]
            ended[one.labels["application"], ANSWERED if reason == NO_REASON else reason] += int(one.value)
    return Counts(arrivals, ended)


def answered_by_workers(address: str) -> Counter[str]:
    """Queries answered by one worker process, by application."""
    found: Counter[str] = Counter()
    for one in samples(address):
        if one.name == "tidewise_worker_queries_total" and one.labels["reason"] == NO_REASON:
            found[one.labels["application"]] += int(one.value)
    return found


def disagreements(seen: Counter[Key], counted: Counts, workers: Counter[str] | None) -> Iterator[str]:
    """A sentence for everything that callers (``seen``), router and workers (None: not compared) tell differently."""
    for name in sorted({application for application, _ in seen} | set(counted.arrivals)):
        asked = Counter({ending: count for (application, ending), count in seen.items() if application == name})
        ended = Counter(
            {ending: count for (application, ending), count in counted.ended.items() if application == name}
        )
        yield from _between_callers_and_router(name, asked, ended)
        if workers is None:
            continue
        more = workers[name] - ended[ANSWERED]
        if not 0 <= more <= ended[CANCELLED] + ended[DEADLINE]:
            yield f"{name}: workers answered {workers[name]} queries, the router counts {ended[ANSWERED]}"


def _between_callers_and_router(name: str, asked: Counter[str], ended: Counter[str]) -> Iterator[str]:
    missing = {ending: asked[ending] - ended[ending] for ending in asked if ending != CANCELLED}
    yield from (f"{name}: the router did not count {n} of {ending}" for ending, n in missing.items() if n > 0)
    beyond = ended.total() - sum(asked[ending] for ending in asked if ending != CANCELLED)
    if beyond > asked[CANCELLED]:
        yield f"{name}: the router counts {beyond - asked[CANCELLED]} ends that no caller saw"
