"""Options that describe demand: which applications, how much of each, with which deadlines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from tidewise.cli.options import STARTER_MODELS
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository
from tidewise.traces.mix import zipf

USUAL_DEADLINE = 0.2  # seconds, where neither an option nor a repository gives one

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--application", "applications", multiple=True, metavar="NAME[=WEIGHT]", help="Repeat for several."),
    click.option("--zipf", "alpha", type=float, metavar="ALPHA", help="Weights by rank, in the order named (1.001)."),
    click.option("--deadline-ms", "deadlines", multiple=True, metavar="[NAME=]MS", help="Default: the SLO, else 200."),
    click.option("--repository", type=click.Path(path_type=Path), metavar="DIR", help="Names and SLOs come from here."),
    click.option(
        "--cv", type=float, default=1.0, show_default=True, help="Clumping: 0 uniform, 1 Poisson, else Gamma."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same trace."),
)


@dataclass(frozen=True, slots=True)
class Demand:
    """The applications of a trace to be made: weights by name, and every deadline known, in seconds."""

    weights: Mapping[str, float]
    deadlines: Mapping[str, float]


def demand_options(function: _Decorated) -> _Decorated:
    """--application, --zipf, --deadline-ms, --repository, --cv, --seed."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read_demand(
    applications: Sequence[str], alpha: float | None, deadlines: Sequence[str], repository: Path | None
) -> Demand:
    """The demand these options describe; without names or repository, that of the starter ladders."""
    slos = _slos(repository or (None if applications else STARTER_MODELS))
    weights = _weights(applications) or dict.fromkeys(slos, 1.0)
    for name in weights:
        if repository is not None and name not in slos:
            raise InputError(f"{repository} has no application {name!r}; it has {', '.join(slos)}")
    return Demand(
        weights=weights if alpha is None else zipf(list(weights), alpha),
        deadlines=_deadlines(weights, named_numbers(deadlines, "--deadline-ms"), slos),
    )


def _slos(repository: Path | None) -> dict[str, float]:
    found = read_repository(repository) if repository is not None else {}
    return {name: application.slo for name, (_, _, application) in found.items()}


def _weights(applications: Iterable[str]) -> dict[str, float]:
    pairs = [named_numbers([one if "=" in one else f"{one}=1"], "--application") for one in applications]
    return {name: weight for pair in pairs for name, weight in pair.items()}


def _deadlines(names: Iterable[str], given: Mapping[str, float], slos: Mapping[str, float]) -> dict[str, float]:
    asked = {name: value / 1e3 for name, value in given.items()}
    usual = asked.pop("", None)
    found = {name: slos.get(name, USUAL_DEADLINE) if usual is None else usual for name in names}
    return {**found, **asked}


def named_numbers(values: Iterable[str], option: str) -> dict[str, float]:
    """NAME=NUMBER options as a table; a bare NUMBER stands under the empty name, for all. Raises InputError."""
    found: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise InputError(f"{option} takes NAME=NUMBER or a NUMBER for all, not {value!r}") from None
    return found


def named_texts(values: Iterable[str], option: str) -> dict[str, str]:
    """OLD=NEW options as a table. Raises InputError."""
    found: dict[str, str] = {}
    for value in values:
        old, _, new = value.partition("=")
        if not old or not new:
            raise InputError(f"{option} takes OLD=NEW, not {value!r}")
        found[old] = new
    return found
