"""Retiring: an application replaced in service keeps the variants that serve, until those that replace them do.

Routes, orders and answers name variants, so a variant that serves must stay part of its application. Those the new
application no longer names are written into its text again: first with their accuracy, so that plans go on with them
while the new ones are measured; then without, which plans take for "not to be hosted"; and when no device serves them
any more they are left out. A controller keeps its transitions, or a start in the middle of one would find the new
application alone, and take the variants that serve for gone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.case_builder import measured
from tidewise.controller.registry import Device, Registry
from tidewise.core.application import Application, Variant
from tidewise.core.errors import RepositoryError
from tidewise.core.plan import Plan
from tidewise.core.repository import ApplicationSource, MeasuredAccuracy, format_accuracy, parse_accuracy


@dataclass(frozen=True, slots=True)
class Transition:
    """From an application to the one that replaces it; ``kept`` are the old one's variants still in service."""

    before: ApplicationSource
    after: ApplicationSource
    kept: frozenset[str]
    planned: bool = True


@dataclass(slots=True)
class Retiring:
    """The applications in transition, by name."""

    _open: dict[str, Transition] = field(default_factory=dict)

    @property
    def transitions(self) -> Mapping[str, Transition]:
        """Those that are not complete, to be kept for a controller that starts again in the middle of one."""
        return dict(self._open)

    def resume(self, transitions: Mapping[str, Transition], registry: Registry) -> Iterator[ApplicationSource]:
        """Go on with those of which the new application is still the one known; what stands for each."""
        for name, one in transitions.items():
            if registry.sources.get(name) != one.after:
                continue
            try:
                now = extended(one)
                now.parse()
            except RepositoryError:
                continue
            self._open[name] = one
            yield now

    def replaced(self, name: str, source: ApplicationSource, registry: Registry, plan: Plan) -> ApplicationSource:
        """What stands for the application ``name`` now that ``source`` is to replace it."""
        self.forget(name)
        old, new = registry.applications.get(name), source.parse()
        if old is None or (old.inputs, old.outputs) != (new.inputs, new.outputs):
            return source  # nothing serves, or nothing that serves can answer the new queries
        kept = {one for one in in_service(name, registry.devices(), plan) if old.variant(one) is not None}
        kept -= {one.name for one in new.variants}
        if not kept:
            return source
        transition = Transition(registry.sources[name], source, frozenset(kept))
        try:
            now = extended(transition)
            now.parse()
        except RepositoryError:
            return source  # a text that cannot be added to; the old variants end at once
        self._open[name] = transition
        return now

    def forget(self, name: str) -> None:
        """The application was removed, or replaced again."""
        self._open.pop(name, None)

    def advance(self, registry: Registry, plan: Plan) -> Iterator[ApplicationSource]:
        """Applications that have come a step further."""
        for name, one in list(self._open.items()):
            if one.planned and _can_follow(one.after.parse(), registry):
                self._open[name] = replace(one, planned=False)
                yield extended(self._open[name])
            elif not one.planned and not one.kept & in_service(name, registry.devices(), plan):
                del self._open[name]
                yield one.after


def in_service(application: str, devices: Mapping[str, Device], plan: Plan) -> set[str]:
    """The application's variants that some device serves, or is to serve by the plan."""
    warm = {h.variant for one in devices.values() for h in one.report.warm if h.application == application}
    return warm.union(*(one.warm for one in plan.assignments if one.application == application))


def extended(one: Transition) -> ApplicationSource:
    """The new application with the kept variants of the old one. Raises RepositoryError."""
    old, new = one.before.parse(), one.after.parse()
    kept = [variant for variant in old.variants if variant.name in one.kept]
    accuracies = {name: each for name, each in _accuracies(one.after).items() if name not in one.kept}
    if one.planned:
        accuracies |= {name: each for name, each in _accuracies(one.before).items() if name in one.kept}
    return ApplicationSource(
        toml="\n".join([one.after.toml, *_tables(kept, {variant.version for variant in new.variants})]),
        accuracy_json=format_accuracy(accuracies),
        digests={**one.after.digests, **{variant.name: variant.digest for variant in kept}},
    )


def _tables(variants: Collection[Variant], taken: set[int]) -> Iterator[str]:
    """As application.toml has them, each under its own version if that is free, else above all."""
    for one in variants:
        version = one.version if one.version not in taken else max(taken) + 1
        taken.add(version)
        yield (
            f"[[variants]]\nname = {json.dumps(one.name)}\nversion = {version}\nmodel = {json.dumps(one.model)}\n"
            f"tolerance = {one.tolerance}\nbatch_sizes = {list(one.batch_sizes)}\n"
        )


def _accuracies(source: ApplicationSource) -> dict[str, MeasuredAccuracy]:
    return parse_accuracy(source.accuracy_json, "accuracy.json") if source.accuracy_json else {}


def _can_follow(after: Application, registry: Registry) -> bool:
    """Whether every device type has some new variant measured, so that a plan can do without the old ones."""
    types = {one.report.device_type for one in registry.serving().values()}
    able = [one for one in after.variants if one.accuracy]
    return bool(types) and all(any(measured(registry.profile, after, one, kind) for one in able) for kind in types)
