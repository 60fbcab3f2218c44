"""Every metric Tidewise exports, as data: collectors, docs/metrics.md and the Grafana dashboard are made from it.

Durations are in seconds and share one set of buckets, so that histograms of several processes add up. Counters end
in ``_total``. Labels are bounded: a value nobody announced becomes "_unknown".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
STAGES = ("forward", "queue", "batch", "compute", "reply")
UNKNOWN = "_unknown"  # what an unannounced label value becomes; no name begins with an underscore
NO_REASON = "none"  # the reason label of a query that was answered


class Process(StrEnum):
    """The kinds of process that export metrics."""

    ROUTER = "router"
    WORKER = "worker"
    CONTROLLER = "controller"


class Kind(StrEnum):
    """What a metric does over time."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its exact exported name, what it means, and the names of its labels."""

    process: Process
    kind: Kind
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def _counter(process: Process, name: str, help: str, *labels: str) -> Metric:
    return Metric(process, Kind.COUNTER, f"tidewise_{process}_{name}_total", help, labels)


def _gauge(process: Process, name: str, help: str, *labels: str) -> Metric:
    return Metric(process, Kind.GAUGE, f"tidewise_{process}_{name}", help, labels)


def _seconds(process: Process, name: str, help: str, *labels: str) -> Metric:
    return Metric(process, Kind.HISTOGRAM, f"tidewise_{process}_{name}_seconds", help, labels, SECONDS)


def _sizes(process: Process, name: str, help: str, *labels: str) -> Metric:
    return Metric(process, Kind.HISTOGRAM, f"tidewise_{process}_{name}", help, labels, SIZES)


_R, _W, _C = Process.ROUTER, Process.WORKER, Process.CONTROLLER
_SERVED = ("application", "variant", "device_type")

ROUTER_ARRIVALS = _counter(_R, "arrivals", "Queries received, however they ended.", "application")
ROUTER_QUERIES = _counter(
    _R, "queries", "Queries ended; every arrival ends in exactly one outcome.", "application", "outcome", "reason"
)
ROUTER_ANSWERS = _counter(_R, "answers", "Queries answered, in time or late.", "application", "variant")
ROUTER_ON_TIME_ACCURACY = _counter(
    _R,
    "on_time_accuracy",
    "Sum of the normalised accuracy of the variants that answered in time; its rate over the rate of on-time queries"
    " is the effective accuracy.",
    "application",
)
ROUTER_QUERY = _seconds(
    _R, "query", "From arrival at the router to its answer, all waiting included; answered queries.", "application"
)
ROUTER_STAGE = _seconds(
    _R,
    "stage",
    "Parts of query_seconds, which they sum to: queue (until its batch starts) and compute as the worker reports them,"
    " forward the rest.",
    "application",
    "variant",
    "stage",
)
ROUTER_WAITING = _gauge(_R, "waiting_queries", "Queries accepted and not yet ended.", "application")
ROUTER_RETRIES = _counter(_R, "retries", "Queries sent to a second worker after the first was lost.", "application")
ROUTER_ROUTES = _gauge(_R, "routes", "Workers that may take the application's queries now.", "application")
ROUTER_PLAN_VERSION = _gauge(_R, "plan_version", "Version of the plan behind the routing table in force.")
ROUTER_REVISION = _gauge(_R, "routing_revision", "Revision of the routing table in force.")
ROUTER_SNAPSHOT_AGE = _gauge(_R, "snapshot_age_seconds", "Seconds since the routing table in force arrived.")
ROUTER_CONNECTED = _gauge(_R, "controller_connected", "1 while the controller is connected, 0 on the last table.")

WORKER_QUERIES = _counter(_W, "queries", "Queries ended at the worker.", "application", "outcome", "reason")
WORKER_ANSWERS = _counter(_W, "answers", "Queries answered, in time or late.", *_SERVED)
WORKER_QUERY = _seconds(
    _W, "query", "From arrival at the worker to its answer, waiting in the queue included.", "application"
)
WORKER_STAGE = _seconds(
    _W,
    "stage",
    "Parts of query_seconds, which they sum to: queue while the device is busy, batch while it is idle and waits for"
    " more queries to run together, compute, reply the rest (checking, handing over, encoding).",
    "application",
    "variant",
    "stage",
)
WORKER_BATCH = _sizes(
    _W, "batch_size", "Rows run together (a query has one or more); its count is the number of batches.", *_SERVED
)
WORKER_COMPUTE = _seconds(_W, "compute", "One batch on the device, no waiting.", *_SERVED)
WORKER_DISPATCHES = _counter(
    _W,
    "dispatches",
    "Batches started, by cause: full, idle (the device was free), deadline (the first could wait no longer), drain.",
    "worker",
    "cause",
)
WORKER_QUEUE = _gauge(
    _W, "queue_depth", "Queries waiting for a batch, the running batch not counted.", "application", "worker"
)
WORKER_BUSY = _gauge(_W, "busy", "1 while the device runs a batch.", "worker")
WORKER_BUSY_TIME = _counter(_W, "busy_seconds", "Seconds the device ran batches.", "worker", "device_type")
WORKER_STRETCH = _gauge(_W, "stretch", "How many times its profile a batch takes lately, 1 where it holds.", "worker")
WORKER_HOSTED = _gauge(
    _W, "hosted", "1 for each variant loaded, checked and in force.", "worker", "application", "variant"
)
WORKER_LOAD = _seconds(
    _W, "load", "From the order to ready: fetching, waiting for another load, loading, checking.", *_SERVED
)
WORKER_LOAD_FAILURES = _counter(_W, "load_failures", "Variants that could not be loaded.", "application", "variant")
WORKER_PLAN_VERSION = _gauge(_W, "plan_version", "Newest plan version in force on the device.", "worker")
WORKER_PLAN_AGE = _gauge(_W, "plan_age_seconds", "Seconds since the device took that plan up.", "worker")
WORKER_CONNECTED = _gauge(_W, "controller_connected", "1 while the controller is connected, 0 on the last order.")

CONTROLLER_PLAN_VERSION = _gauge(_C, "plan_version", "Version of the plan in force.")
CONTROLLER_PLAN_AGE = _gauge(_C, "plan_age_seconds", "Seconds since the plan in force was published.")
CONTROLLER_PLANS = _counter(
    _C,
    "plans",
    "Plans published, by the kind of trigger: period, burst, violations (a worker misses deadlines), devices, ...",
    "trigger",
    "status",
)
CONTROLLER_FAILURES = _counter(_C, "planning_failures", "Planning attempts that gave no plan; the last plan stays.")
CONTROLLER_SOLVE = _seconds(_C, "solve", "Wall-clock time of one solve.")
CONTROLLER_GAP = _gauge(
    _C, "solver_gap", "Certified gap of the plan in force, a fraction: (bound - objective) / bound."
)
CONTROLLER_PHI = _gauge(
    _C,
    "plan_phi",
    "Fraction of planned demand every application gets; below 1 in overload: more than the cheapest carry.",
)
CONTROLLER_DEMAND = _gauge(_C, "demand_queries_per_second", "Estimated demand.", "application")
CONTROLLER_PLANNED_DEMAND = _gauge(
    _C, "planned_demand_queries_per_second", "Demand the plan in force was made for.", "application"
)
CONTROLLER_DISPERSION = _gauge(_C, "demand_dispersion", "Index of dispersion of arrivals, 1 if Poisson.", "application")
CONTROLLER_ACCURACY = _gauge(_C, "planned_accuracy", "Normalised accuracy the plan in force expects.", "application")
CONTROLLER_HOSTING = _gauge(_C, "planned_workers", "Workers the plan in force gives this ceiling variant.", *_SERVED)
CONTROLLER_UNPROFILED = _gauge(
    _C, "unprofiled", "Devices that could not profile the variant, which is not planned on their type.", *_SERVED
)
CONTROLLER_WORKERS = _gauge(_C, "workers", "Devices attached.", "device_type")
CONTROLLER_ROUTERS = _gauge(_C, "routers", "Routers attached.")
CONTROLLER_REFUSED = _counter(
    _C, "plans_refused", "Orders a worker could not follow; it keeps its old variants.", "device_type"
)

CATALOGUE: tuple[Metric, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Metric))


@dataclass(frozen=True, slots=True)
class TritonMetric:
    """A name Triton's dashboards know, exported by routers and workers beside ours and computed from them.

    Triton counts microseconds. ``stages`` are those whose time it sums.
    """

    name: str
    help: str
    stages: tuple[str, ...] = ()


TRITON_SUCCESS = TritonMetric("nv_inference_request_success", "Queries answered.")
TRITON_FAILURE = TritonMetric("nv_inference_request_failure", "Queries not answered.")
TRITON_COUNT = TritonMetric("nv_inference_count", "Inferences performed; at a worker a query of n rows counts n.")
TRITON_EXECUTIONS = TritonMetric("nv_inference_exec_count", "Batches run; workers only.")
TRITON_PENDING = TritonMetric("nv_inference_pending_request_count", "Queries waiting.")
TRITON_DURATION = TritonMetric(
    "nv_inference_request_duration_us", "Sum of time from arrival to answer, queueing included."
)
TRITON_STAGES = (
    TritonMetric("nv_inference_queue_duration_us", "Sum of time waiting for a batch.", ("queue", "batch")),
    TritonMetric("nv_inference_compute_infer_duration_us", "Sum of time on the device.", ("compute",)),
)
TRITON = (
    TRITON_SUCCESS,
    TRITON_FAILURE,
    TRITON_COUNT,
    TRITON_EXECUTIONS,
    TRITON_PENDING,
    TRITON_DURATION,
    *TRITON_STAGES,
)
