"""The controller's metrics, set from what the conductor knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tidewise.controller.conductor import Conductor
from tidewise.controller.planner import Action, Keep, Publish
from tidewise.controller.status import planned_accuracy
from tidewise.controller.unprofiled import unprofiled
from tidewise.core import metrics_catalogue as catalogue
from tidewise.core.plan import Plan
from tidewise.dashboard.prometheus import Metrics


class Telemetry:
    """Counts plans and failures as they happen; gauges are set once a tick."""

    def __init__(self) -> None:
        self.metrics = Metrics(catalogue.Process.CONTROLLER)
        self._published_at = 0.0
        self._refusals: Counter[str] = Counter()

    def acted(self, action: Action, now: float) -> None:
        """The planner acted."""
        if isinstance(action, Keep) and action.failure:
            self.metrics.count(catalogue.CONTROLLER_FAILURES)
        if isinstance(action, Publish):
            self._published_at = now
            plan = action.plan
            cause = plan.trigger.partition(":")[0]
            self.metrics.count(catalogue.CONTROLLER_PLANS, trigger=cause, status=plan.status.partition(" ")[0])
            self.metrics.observe(catalogue.CONTROLLER_SOLVE, plan.solve)

    def tick(self, conductor: Conductor, now: float) -> None:
        """Set every gauge."""
        plan, registry, metrics = conductor.planner.plan, conductor.registry, self.metrics
        types = Counter(one.report.device_type for one in registry.devices().values())
        metrics.know(
            applications={
                name: {v.name: v.version for v in one.variants} for name, one in registry.applications.items()
            },
            device_types=types,
        )
        metrics.set(catalogue.CONTROLLER_PLAN_VERSION, plan.version)
        metrics.set(catalogue.CONTROLLER_PLAN_AGE, now - self._published_at if self._published_at else 0.0)
        metrics.set(catalogue.CONTROLLER_GAP, plan.gap)
        metrics.set(catalogue.CONTROLLER_PHI, plan.phi)
        metrics.set(catalogue.CONTROLLER_ROUTERS, len(registry.routers))
        self._set(catalogue.CONTROLLER_WORKERS, types)
        failed = Counter((one.application, one.variant, report.device_type) for report, one in unprofiled(registry))
        metrics.set_all(catalogue.CONTROLLER_UNPROFILED, {key: float(n) for key, n in failed.items()})
        self._applications(conductor, plan, now)
        for device_type, n in (conductor.refusals - self._refusals).items():
            metrics.count(catalogue.CONTROLLER_REFUSED, n, device_type=device_type)
        self._refusals = Counter(conductor.refusals)

    def _applications(self, conductor: Conductor, plan: Plan, now: float) -> None:
        known, estimates = conductor.registry.applications, conductor.estimates(now)
        types = {name: one.report.device_type for name, one in conductor.registry.devices().items()}
        hosting = Counter(
            (one.application, one.ceiling, types[one.worker]) for one in plan.assignments if one.worker in types
        )
        self._set(catalogue.CONTROLLER_DEMAND, {name: one.level for name, one in estimates.items()})
        self._set(catalogue.CONTROLLER_DISPERSION, {name: one.dispersion for name, one in estimates.items()})
        self._set(catalogue.CONTROLLER_PLANNED_DEMAND, {name: plan.demand.get(name, 0.0) for name in known})
        accuracy = {name: planned_accuracy(one, plan) / one.best_accuracy() for name, one in known.items()}
        self._set(catalogue.CONTROLLER_ACCURACY, accuracy)
        self.metrics.set_all(catalogue.CONTROLLER_HOSTING, {key: float(n) for key, n in hosting.items()})

    def _set(self, metric: catalogue.Metric, values: Mapping[str, float]) -> None:
        self.metrics.set_all(metric, {(name,): value for name, value in values.items()})
