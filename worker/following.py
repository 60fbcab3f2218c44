"""The controller's orders, applied to the devices of this process."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tidewise.core.application import Application
from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.errors import PlanError, RepositoryError
from tidewise.core.plan import Assignment
from tidewise.core.profile import Profile
from tidewise.core.report import WorkerOrder
from tidewise.core.repository import ApplicationSource
from tidewise.worker.host import Host
from tidewise.worker.orders import Order, order_from
from tidewise.worker.sessions import Source
from tidewise.worker.stations import AnyStation

log = logging.getLogger(__name__)


class Follower:
    """Applies orders, each once: one that says what the last one said, under the same profile, changes nothing."""

    def __init__(self, host: Host, profile: Profile, share: float = QUEUE_SHARE) -> None:
        self._host = host
        self._profile = profile
        self._share = share
        self._last: WorkerOrder | None = None

    @property
    def profile(self) -> Profile:
        """The profile by which devices decide."""
        return self._profile

    def learn(self, profile: Profile) -> None:
        """Decide by this profile from the next order on."""
        self._profile = profile
        self._last = None

    def follow(self, order: WorkerOrder) -> None:
        """Give every device its part; a device without one hosts nothing."""
        told = replace(order, measures=(), profile=Profile())
        if told == self._last:
            return
        self._last = told
        applications = _readable(order.applications)
        self._host.know(applications)
        self._host.ordered = True
        assignments = {one.worker: one for one in order.assignments}
        for name, station in self._host.stations.items():
            self._give(station, order.plan_version, assignments.get(name), applications)

    def _give(
        self, station: AnyStation, version: int, assignment: Assignment | None, applications: Mapping[str, Application]
    ) -> None:
        if assignment is None:
            station.order(Order(version), ())
            return
        application = applications.get(assignment.application)
        if application is None:
            station.refuse(version, f"application {assignment.application!r} is not in the catalogue")
            return
        try:
            order = order_from(version, assignment, application, self._profile, station.device_type, self._share)
        except PlanError as error:
            station.refuse(version, str(error))
            return
        station.order(order, [self._source(one.model.variant, application, station) for one in order.warm])

    def _source(self, name: str, application: Application, station: AnyStation) -> Source:
        variant = application.variant(name)
        entry = self._profile.get(application.name, name, station.device_type.name)
        assert variant is not None and entry is not None, "order_from has checked both"
        return Source(application, variant, entry)


def _readable(sources: Iterable[ApplicationSource]) -> dict[str, Application]:
    """The applications that can be read; others are logged and left out."""
    found = {}
    for source in sources:
        try:
            application = source.parse()
        except RepositoryError as error:
            log.warning("application left out", extra={"reason": str(error)})
            continue
        found[application.name] = application
    return found
