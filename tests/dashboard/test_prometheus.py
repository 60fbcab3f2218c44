"""What a process exports: declared names, bounded labels, histograms that add up, Triton's names beside ours."""

import urllib.request
from itertools import count

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tidewise.core import metrics_catalogue as catalogue
from tidewise.core.errors import ConfigError
from tidewise.core.metrics_catalogue import Process
from tidewise.dashboard.prometheus import Metrics

APPLICATIONS = {"garments": {"xl": 6, "s": 2}}


@pytest.fixture
def worker():
    metrics = Metrics(Process.WORKER)
    metrics.know(applications=APPLICATIONS, device_types=["big"], workers=["big-0", "big-1"])
    return metrics


@pytest.fixture
def router():
    metrics = Metrics(Process.ROUTER)
    metrics.know(applications=APPLICATIONS)
    return metrics


def samples(metrics, name, **labels):
    families = text_string_to_metric_families(metrics.text())
    found = [one for family in families for one in family.samples if one.name == name]
    return [one for one in found if labels.items() <= one.labels.items()]


def value(metrics, name, **labels):
    (found,) = samples(metrics, name, **labels)
    return found.value


@pytest.mark.parametrize("process", list(Process))
def test_a_process_exports_exactly_its_own_part_of_the_catalogue(process):
    text = Metrics(process).text()
    for metric in catalogue.CATALOGUE:
        assert (f"# TYPE {metric.name} {metric.kind}\n" in text) == (metric.process is process)


def test_ten_thousand_bogus_names_add_one_series(router):
    router.count(catalogue.ROUTER_ARRIVALS, application="garments")
    for number in range(10_000):
        router.count(catalogue.ROUTER_ARRIVALS, application=f"bogus-{number}")
    assert len(samples(router, "tidewise_router_arrivals_total")) == 2
    assert value(router, "tidewise_router_arrivals_total", application="_unknown") == 10_000


def test_a_label_nobody_announces_is_bounded_too():
    controller = Metrics(Process.CONTROLLER)
    for number in range(1_000):
        controller.count(catalogue.CONTROLLER_PLANS, trigger=f"trigger-{number}", status="optimal")
    assert len(samples(controller, "tidewise_controller_plans_total")) < 40
    assert sum(one.value for one in samples(controller, "tidewise_controller_plans_total")) == 1_000


def test_an_application_announced_later_keeps_its_own_series(router):
    router.count(catalogue.ROUTER_ARRIVALS, application="digits")
    router.know(applications=APPLICATIONS | {"digits": {"m": 1}})
    router.count(catalogue.ROUTER_ARRIVALS, application="digits")
    assert value(router, "tidewise_router_arrivals_total", application="digits") == 1
    assert value(router, "tidewise_router_arrivals_total", application="_unknown") == 1


def test_the_order_of_labels_does_not_matter(router):
    router.know(applications={"a": {"b": 1}, "b": {"a": 1}})
    router.count(catalogue.ROUTER_ANSWERS, application="a", variant="b")
    router.count(catalogue.ROUTER_ANSWERS, variant="b", application="a")
    router.count(catalogue.ROUTER_ANSWERS, variant="a", application="b")
    assert value(router, "tidewise_router_answers_total", application="a", variant="b") == 2


def test_the_queue_gauge_says_how_many_wait(worker):
    worker.set(catalogue.WORKER_QUEUE, 7, application="garments", worker="big-0")
    assert value(worker, "tidewise_worker_queue_depth", worker="big-0") == 7


def test_the_stages_sum_to_the_total(worker):
    for queue, compute in [(0.010, 0.020), (0.003, 0.031), (0.150, 0.008)]:
        seconds = {"queue": queue, "compute": compute, "reply": 0.0005}
        worker.observe_stages(
            catalogue.WORKER_QUERY, catalogue.WORKER_STAGE, seconds, application="garments", variant="xl"
        )
    stages = sum(one.value for one in samples(worker, "tidewise_worker_stage_seconds_sum"))
    assert value(worker, "tidewise_worker_query_seconds_sum") == pytest.approx(stages)
    assert value(worker, "tidewise_worker_query_seconds_count") == 3


def test_buckets_of_two_workers_sum_to_a_quantile_within_one_bucket():
    truth = sorted(0.004 * 1.01**number for number in range(400))
    merged = dict.fromkeys([*catalogue.SECONDS, float("inf")], 0.0)
    for half in (truth[::2], truth[1::2]):
        metrics = Metrics(Process.WORKER)
        metrics.know(applications=APPLICATIONS)
        for one in half:
            metrics.observe(catalogue.WORKER_QUERY, one, application="garments")
        for one in samples(metrics, "tidewise_worker_query_seconds_bucket"):
            merged[float(one.labels["le"])] += one.value
    reached = next(bound for bound, count in merged.items() if count >= 0.95 * len(truth))
    assert reached == next(bound for bound in merged if bound >= truth[int(0.95 * len(truth)) - 1])


def test_all_durations_share_one_set_of_buckets():
    durations = [one for one in catalogue.CATALOGUE if one.name.endswith("_seconds") and one.buckets]
    assert durations and all(one.buckets == catalogue.SECONDS for one in durations)


def test_a_gauge_set_at_once_forgets_what_is_gone(worker):
    worker.set_all(catalogue.WORKER_HOSTED, {("big-0", "garments", "xl"): 1, ("big-1", "garments", "xl"): 1})
    worker.set_all(catalogue.WORKER_HOSTED, {("big-0", "garments", "s"): 1})
    (left,) = samples(worker, "tidewise_worker_hosted")
    assert left.labels == {"worker": "big-0", "application": "garments", "variant": "s"}


def test_an_age_is_read_when_it_is_asked_for():
    controller = Metrics(Process.CONTROLLER)
    age = [1.0]
    controller.follow(catalogue.CONTROLLER_PLAN_AGE, lambda: age[0])
    age[0] = 2.5
    assert value(controller, "tidewise_controller_plan_age_seconds") == 2.5


def test_triton_names_agree_with_ours(worker):
    seconds = {"queue": 0.008, "batch": 0.002, "compute": 0.020, "reply": 0.001}
    labels = {"application": "garments", "variant": "xl"}
    for _ in range(4):
        worker.observe_stages(catalogue.WORKER_QUERY, catalogue.WORKER_STAGE, seconds, **labels)
    worker.observe(catalogue.WORKER_BATCH, 4, device_type="big", **labels)
    worker.count(catalogue.WORKER_QUERIES, application="garments", outcome="dropped", reason="hopeless")
    worker.set(catalogue.WORKER_QUEUE, 5, application="garments", worker="big-0")
    model = {"model": "garments", "version": "6"}
    assert value(worker, "nv_inference_request_success", **model) == 4
    assert value(worker, "nv_inference_exec_count", **model) == 1
    assert value(worker, "nv_inference_count", **model) == 4
    assert value(worker, "nv_inference_queue_duration_us", **model) == pytest.approx(40_000)
    assert value(worker, "nv_inference_compute_infer_duration_us", **model) == pytest.approx(80_000)
    assert value(worker, "nv_inference_request_duration_us", **model) == pytest.approx(124_000)
    assert value(worker, "nv_inference_request_failure", reason="hopeless") == 1
    assert value(worker, "nv_inference_pending_request_count", model="garments") == 5


def test_both_names_of_a_gauge_that_moves_are_one_reading_of_it(worker):
    readings = count(2)
    worker.read(catalogue.WORKER_QUEUE, lambda: {("garments", "big-0"): float(next(readings))})
    by_name = {
        one.name: one.value for family in text_string_to_metric_families(worker.text()) for one in family.samples
    }
    assert by_name["nv_inference_pending_request_count"] == by_name["tidewise_worker_queue_depth"]


def test_every_triton_name_in_the_catalogue_is_exported(worker):
    text = worker.text()
    assert all(f"# TYPE {one.name} " in text for one in catalogue.TRITON)


def test_the_endpoint_serves_the_text_and_names_a_taken_port(worker):
    port = worker.serve(0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            assert b"tidewise_worker_queue_depth" in answer.read()
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
            Metrics(Process.WORKER).serve(port)
    finally:
        worker.close()
