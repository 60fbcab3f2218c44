"""What a device is told to host, as the controller's assignment and this host's profile say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidewise.core.application import Application
from tidewise.core.capacity import QUEUE_SHARE
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import PlanError
from tidewise.core.plan import Assignment
from tidewise.core.profile import Profile
from tidewise.worker.servable import Servable, servable


@dataclass(frozen=True, slots=True)
class Order:
    """One device's part of a plan. ``warm`` are the variants to keep loaded, most accurate first.

    ``ceiling`` is the place in ``warm`` of the most accurate one an unpinned query may use. No ``application`` means:
    host nothing.
    """

    version: int
    application: str = ""
    warm: tuple[Servable, ...] = ()
    ceiling: int = 0

    @property
    def choices(self) -> tuple[Servable, ...]:
        """What an unpinned query may run on, from the ceiling down."""
        return self.warm[self.ceiling :]


def order_from(
    version: int,
    assignment: Assignment,
    application: Application,
    profile: Profile,
    device_type: DeviceType,
    share: float = QUEUE_SHARE,
) -> Order:
    """The order an assignment amounts to on a device of this type; a batch may take ``share`` of the SLO.

    Raises PlanError if a variant is unknown or not profiled, or if the warm ones together exceed the device's memory.
    """
    warm = tuple(_servable(name, application, profile, device_type, share) for name in assignment.warm)
    needed = sum(one.memory for one in warm)
    if device_type.memory is not None and needed > device_type.memory:
        raise PlanError(
            f"worker {assignment.worker!r} has {device_type.memory / 1e6:.0f} MB, but {', '.join(assignment.warm)} of"
            f" {application.name!r} need {needed / 1e6:.0f} MB"
        )
    ranked = tuple(sorted(warm, key=_by_accuracy(application)))
    names = [one.model.variant for one in ranked]
    if assignment.ceiling not in names:
        raise PlanError(f"the ceiling {assignment.ceiling!r} of worker {assignment.worker!r} is not warm")
    return Order(version, application.name, ranked, names.index(assignment.ceiling))


def _servable(name: str, application: Application, profile: Profile, device_type: DeviceType, share: float) -> Servable:
    variant = application.variant(name)
    if variant is None:
        raise PlanError(f"application {application.name!r} has no variant {name!r}")
    measured = profile.get(application.name, variant.name, device_type.name)
    if measured is None:
        raise PlanError(
            f"variant {name!r} of {application.name!r} has no profile on device type {device_type.name!r};"
            " run: tidewise profile"
        )
    return servable(application, variant, measured, share)


def _by_accuracy(application: Application) -> Callable[[Servable], tuple[float, float]]:
    """Most accurate first; unmeasured ones last, the slowest of them first."""
    accuracies = {one.name: one.accuracy for one in application.variants}
    return lambda one: (-(accuracies[one.model.variant] or 0.0), one.rate)
