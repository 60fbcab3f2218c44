"""The small parts: histograms, the quota of log lines, names of queries, metrics read from plain counts."""

from __future__ import annotations

import asyncio
import io
import json
import logging

from hypothesis import given
from hypothesis import strategies as st

from tidewise.cli.logs import JsonLines
from tidewise.core import metrics_catalogue as catalogue
from tidewise.core.histogram import Histogram, merged
from tidewise.core.loss import Loss
from tidewise.core.outcome import Outcome, Reason
from tidewise.dashboard.loss_log import LossLog
from tidewise.dashboard.prometheus import Metrics
from tidewise.dashboard.quota import Quota
from tidewise.router.identity import Identities, value

SECONDS = st.floats(0, 20, allow_nan=False)


@given(st.lists(SECONDS), st.lists(SECONDS))
def test_merged_histograms_hold_every_value(left: list[float], right: list[float]) -> None:
    pair = [Histogram(), Histogram()]
    for histogram, values in zip(pair, (left, right), strict=True):
        for one in values:
            histogram.add(one)
    whole = merged(pair)
    assert whole.count == len(left) + len(right)
    assert abs(whole.total - sum(left) - sum(right)) < 1e-6
    for bound, reached in whole.cumulative():
        assert reached == sum(one <= bound for one in left + right)


@given(st.lists(st.tuples(st.floats(0, 0.7), st.sampled_from("abc")), max_size=200), st.integers(1, 5))
def test_a_quota_writes_its_limit_a_second_and_the_first_of_each_kind_and_counts_the_rest(
    events: list[tuple[float, str]], limit: int
) -> None:
    quota, now, let, withheld = Quota(limit), 0.0, [], 0
    for pause, reason in events:
        now += pause
        if quota.due() <= now:
            withheld += sum(quota.take(now).counts.values())
        if quota.lets(("garments", reason), now):
            let.append(now)
    withheld += sum(quota.take(now).counts.values())
    assert len(let) + withheld == len(events)
    periods: list[float] = []
    for at in let:
        if not periods or at >= periods[-1] + 1:
            periods.append(at)
        assert sum(periods[-1] <= one < periods[-1] + 1 for one in let) <= limit + 2


def test_many_of_one_kind_do_not_hide_one_of_another() -> None:
    quota = Quota(limit=5)
    assert sum(quota.lets(("garments", "predicted_late"), 0.1) for _ in range(100)) == 5
    assert quota.lets(("garments", "engine"), 0.2)
    assert not quota.lets(("garments", "engine"), 0.3)


def test_what_is_withheld_is_told_when_the_second_is_over_though_nothing_more_comes() -> None:
    lines: list[dict[str, object]] = []

    async def story() -> None:
        out = io.StringIO()
        handler = logging.StreamHandler(out)
        handler.setFormatter(JsonLines("router"))
        log = logging.Logger("story")
        log.addHandler(handler)
        losses = LossLog(log, Quota(limit=2, period=0.1))
        for number in range(9):
            loss = Loss("garments", "garments", Outcome.REFUSED, Reason.PREDICTED_LATE, "busy", f"r{number}")
            losses.lost(loss)
        await asyncio.sleep(0.3)
        lines.extend(json.loads(line) for line in out.getvalue().splitlines())

    asyncio.run(story())
    assert [line["request_id"] for line in lines[:2]] == ["r0", "r1"]
    assert [(line["event"], line["count"], line["reasons"]) for line in lines[2:]] == [
        ("7 more queries were not answered", 7, {"garments predicted_late": 7})
    ]


def test_a_process_that_ends_says_what_it_has_withheld() -> None:
    out = io.StringIO()
    log = logging.Logger("story")
    log.addHandler(logging.StreamHandler(out))

    async def story() -> None:
        losses = LossLog(log, Quota(limit=1))
        for _ in range(3):
            losses.lost(Loss("a", "a", Outcome.FAILED, Reason.ENGINE, "broken", "r"))
        losses.close()

    asyncio.run(story())
    assert out.getvalue().splitlines() == ["query failed", "2 more queries were not answered"]


def test_only_a_query_without_any_name_gets_one() -> None:
    identities = Identities("a1")
    assert identities.passed_on((("user-agent", "x"),), "7") == ()
    assert identities.passed_on((("x-request-id", "mine"), ("cookie", "c")), "") == (("x-request-id", "mine"),)
    made = [value(identities.passed_on((), ""), "x-request-id") for _ in range(3)]
    assert len(set(made)) == 3
    assert all(one.startswith("a1-") for one in made)


def test_a_metric_that_is_read_says_what_its_owner_counts_now() -> None:
    counts = {("garments",): 3}
    metrics = Metrics(catalogue.Process.ROUTER)
    metrics.read(catalogue.ROUTER_ARRIVALS, lambda: counts)
    assert 'tidewise_router_arrivals_total{application="garments"} 3.0' in metrics.text()
    counts[("garments",)] += 1
    assert 'tidewise_router_arrivals_total{application="garments"} 4.0' in metrics.text()
    counts.clear()
    assert "tidewise_router_arrivals_total{" not in metrics.text()
