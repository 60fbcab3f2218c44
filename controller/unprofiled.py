"""Variants that a device was asked to profile and could not: they are not planned on its type, and it is said why."""

from __future__ import annotations

from collections.abc import Iterator

from tidewise.controller.case_builder import measured
from tidewise.controller.registry import Registry
from tidewise.core.report import DeviceReport, Unprofiled


def unprofiled(registry: Registry) -> Iterator[tuple[DeviceReport, Unprofiled]]:
    """Each device and variant of which that is so and no other device of the type has profiled it since."""
    for _, device in sorted(registry.devices().items()):
        for one in device.report.unprofiled:
            application = registry.applications.get(one.application)
            variant = application.variant(one.variant) if application is not None else None
            if application is None or variant is None:
                continue
            if not measured(registry.profile, application, variant, device.report.device_type):
                yield device.report, one


def sentence(device: str, one: Unprofiled) -> str:
    """What happened, for logs and people."""
    name = f"{one.application}/{one.variant}"
    return f"{name} is not planned on devices like {device}, which could not profile it: {one.reason}"
