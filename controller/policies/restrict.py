"""Restrictions of a planning case to some of its variants."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from tidewise.core.case import Case


def every_variant(case: Case) -> Case:
    """No restriction."""
    return case


def above_floor(case: Case) -> Case:
    """Only variants that keep their application's accuracy floor by themselves.

    Where variants are chosen batch by batch nobody can promise a mean over queries, but each answer can be.
    """
    floor = {name: one.min_accuracy for name, one in case.applications.items()}
    return _only(case, {name for name, one in case.variants.items() if one.accuracy >= floor[one.application]})


def most_accurate(case: Case) -> Case:
    """Only the most accurate variant of each application that some device can run in time (Clipper-HA)."""
    return _restricted(case, lambda name: case.variants[name].accuracy)


def least_accurate(case: Case) -> Case:
    """Only the least accurate one (Clipper-HT)."""
    return _restricted(case, lambda name: -case.variants[name].accuracy)


def _restricted(case: Case, value: Callable[[str], float]) -> Case:
    able = {
        name for kind, row in case.capacity.items() if case.device_types[kind] for name, rate in row.items() if rate > 0
    }
    chosen = set()
    for application in case.applications:
        mine = [name for name in able if case.variants[name].application == application]
        chosen.update(sorted(mine, key=lambda name: (-value(name), name))[:1])
    return _only(case, chosen)


def _only(case: Case, chosen: Collection[str]) -> Case:
    return replace(
        case,
        variants={name: one for name, one in case.variants.items() if name in chosen},
        capacity={kind: {n: rate for n, rate in row.items() if n in chosen} for kind, row in case.capacity.items()},
        current={kind: {n: count for n, count in row.items() if n in chosen} for kind, row in case.current.items()},
    )
